"""Nothing that is moved changes an answer: orders, gains and joint effects of a dozen small tables are as recorded.

    python tests/guard/test_guard.py

records them anew, which is right only where the method itself was changed.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

if __name__ == "__main__":
    from tables import TABLES, answer
else:
    from .tables import TABLES, answer

RECORDED = Path(__file__).with_name("answers.json")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TABLES)
def test_the_answer_is_the_recorded_one(name: str) -> None:
    expected = json.loads(RECORDED.read_text(encoding="utf-8"))[name]
    found = answer(TABLES[name]())
    k = expected["n_selected"]
    assert found["n_selected"] == k
    assert found["order"][:k] == expected["order"][:k]
    assert found["gains"] == pytest.approx(expected["gains"], rel=2e-3, abs=1e-6)
    assert found["together"] == expected["together"]
    if expected["p_values"] is not None:
        assert found["p_values"] == pytest.approx(expected["p_values"], rel=0.05, abs=1e-6)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    text = json.dumps({name: answer(make()) for name, make in TABLES.items()}, indent=1)
    RECORDED.write_text(text + "\n", encoding="utf-8")

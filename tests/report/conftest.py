"""Tables, reports and a real browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from easyfs import EasyFS
from easyfs.report import Report, build_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HOSTILE = [
    "<script>window.__pwned = 1</script>",
    "<img src=x onerror='window.__pwned = 2'>",
    "\"><svg onload='window.__pwned = 3'>",
    "</script><script>window.__pwned = 4</script>",
    "<!--<script>",
    "a|b`c`*d*_e_[f](javascript:window.__pwned=5)",
    "two\nlines\r\tand a tab",
    "line\u2028and\u2029paragraph",
    "مساحة السطح",
    "\u202eevil\u202c",
    "{{ 7 * 7 }}{% raw %}",
    "=1+1",
    "' onmouseover='window.__pwned = 6",
    "x" * 5000,
    " ",
    "\x00\x07",
]


@pytest.fixture(scope="session")
def cancer() -> tuple[pd.DataFrame, pd.Series]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y.rename("diagnosis")


@pytest.fixture(scope="session")
def cancer_report(cancer: tuple[pd.DataFrame, pd.Series]) -> Report:
    """A report with all that can be measured."""
    X, y = cancer
    return build_report(EasyFS(5, random_state=0).fit(X, y), X, y, stability=6, cv=3, source="cancer.csv")


@pytest.fixture(scope="session")
def mixed() -> tuple[pd.DataFrame, pd.Series]:
    """Numbers, categories, dates, text, an identifier, a constant, a copy and a leak."""
    rng = np.random.default_rng(0)
    n = 240
    size = rng.normal(size=n)
    city = rng.choice(["Rome", "Paris", "Oslo", "Bern"], n)
    sold = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D")
    words = ["good", "bad", "fine", "really", "not", "very", "so"]
    table = pd.DataFrame(
        {
            "customer_id": [f"c{i:05d}" for i in rng.permutation(n)],
            "city": city,
            "sold": sold,
            "size": size,
            "comment": [" ".join(rng.choice(words, 6)) for _ in range(n)],
            "one": 1,
            "age": np.where(rng.random(n) < 0.3, np.nan, rng.integers(18, 90, n)),
            "member": rng.random(n) < 0.4,
            "size twice": 2 * size + 3,
            "rooms": np.round(2 * size + rng.normal(size=n)),
        }
    )
    price = (
        2 * size + 1.5 * (city == "Paris") + 0.1 * sold.month + 0.02 * table["age"].fillna(50) + 0.4 * rng.normal(size=n)
    )
    table["price with tax"] = 1.2 * price + 0.01 * rng.normal(size=n)
    return table, pd.Series(price, name="price")


@pytest.fixture(scope="session")
def hostile_report() -> Report:
    """Names, classes, title and source that would do harm if they were not text."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, len(HOSTILE))), columns=HOSTILE)
    X[HOSTILE[1]] += 2 * X[HOSTILE[0]]
    X[HOSTILE[3]] = X[HOSTILE[2]]
    X["constant </td>"] = 1.0
    y = pd.Series(np.where(X.iloc[:, 0] + X.iloc[:, 2] > 0, HOSTILE[0], HOSTILE[4]), name=HOSTILE[3])
    selector = EasyFS(12, random_state=0, exclude=[HOSTILE[8]], include=[HOSTILE[6]]).fit(X, y)
    return build_report(selector, X, y, title=f"Report {HOSTILE[0]}", source=HOSTILE[2], stability=4, cv=2)


@pytest.fixture(scope="session")
def joint() -> tuple[pd.DataFrame, pd.Series]:
    """Ten columns: one tells by itself, two together, one in a curve, six nothing."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 10)), columns=[f"x{j}" for j in range(10)])
    y = X["x3"] * X["x7"] + 0.5 * X["x1"] + 0.6 * X["x2"] ** 2 + 0.3 * rng.normal(size=400)
    return X, y.rename("y")


@pytest.fixture(scope="session")
def joint_report(joint: tuple[pd.DataFrame, pd.Series]) -> Report:
    """A report with columns that matter together, and some that tell nothing."""
    return build_report(EasyFS(7, random_state=0).fit(*joint))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium; without one the tests are skipped, unless EASYFS_REQUIRE_BROWSER is set."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    if found is None or sync_playwright is None:
        lacking = "no Chromium is installed" if found is None else "playwright is not installed"
        if os.environ.get("EASYFS_REQUIRE_BROWSER"):
            pytest.fail(f"{lacking}, but EASYFS_REQUIRE_BROWSER is set.")
        pytest.skip(lacking)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield started
        started.close()


class Opened:
    """A page and all that went on in it."""

    def __init__(self, page: Any):
        self.page = page
        self.problems: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture
def opened(browser: Any, tmp_path: Any) -> Iterator[Callable[..., Opened]]:
    """Saves a report and opens it from the file."""
    contexts = []

    def open_report(report: Report, width: int = 1200, **options: Any) -> Opened:
        path = report.save(tmp_path / "report.html")
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        found = Opened(context.new_page())
        found.page.goto(path.as_uri())
        return found

    yield open_report
    for context in contexts:
        context.close()

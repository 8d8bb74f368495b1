"""The methods of the paper's tables, by the names it gives them, with the settings used here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from easyfs import make_selector


@dataclass(frozen=True)
class Method:
    """A method in the tables.

    Attributes
    ----------
    selector : str
        Name in the library.
    settings : dict
        Parameters other than the defaults.
    slow : bool
        Whether one repeat has to do, as a fit takes so long.
    published : str or None
        Column in the paper's tables.
    regression : bool
        Whether it can do regression.
    """

    selector: str
    settings: tuple[tuple[str, Any], ...] = ()
    slow: bool = False
    published: str | None = None
    regression: bool = True

    def make(self) -> Any:
        """The selector."""
        return make_selector(self.selector, **dict(self.settings))


METHODS = {
    "EasyFS": Method("easyfs"),
    "EasyFS ranking": Method("easyfs", (("compression", "ranking"),), published="EasyFS"),
    "spFSR": Method("spfsr", slow=True, published="spFSR"),
    "LassoNet": Method("lassonet", slow=True, published="LassoNet"),
    "STG": Method("stg", slow=True, published="STG"),
    "RF": Method("random_forest", published="RF"),
    "XGB": Method("xgboost", published="XGB"),
    "Lasso": Method("lasso", published="Lasso"),
    "PPMCC": Method("pearson", published="PPMCC"),
    "MI": Method("mutual_information", published="MI"),
    "ReliefF": Method("relieff", published="ReliefF"),
    "SPEC": Method("spec", published="SPEC"),
    "MCFS": Method("mcfs", published="MCFS"),
    "FisherScore": Method("fisher_score", published="FisherScore", regression=False),
    "mRMR": Method("mrmr"),
    "random": Method("random"),
}


def methods_for(task: str) -> dict[str, Method]:
    """The methods that can do a task."""
    return {name: method for name, method in METHODS.items() if method.regression or task == "classification"}

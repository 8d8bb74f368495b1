"""All selectors by name: what each can do, what it needs and where it comes from."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from easyfs.common.parameters import check_choice

if TYPE_CHECKING:
    from easyfs.base.selector import BaseSelector

BOTH = ("classification", "regression")
UNSUPERVISED = "unsupervised"


@dataclass(frozen=True)
class SelectorInfo:
    """What is known of a selector.

    Attributes
    ----------
    name : str
        Name for :func:`make_selector`.
    class_name : str
        Name of the class.
    tasks : tuple of str
        Some of "classification", "regression", "unsupervised" (works without a target).
    kind : {"model-free", "model-aware"}
        Whether a model is trained to select.
    gives : {"ranking", "set"}
        A method that gives a set says how many columns to take (``n_features_to_select="auto"``); one that gives a ranking
        leaves it to the user.
    needs : str or None
        The extra that has to be installed, as in ``pip install 'easyfs-ml[torch]'``.
    paper : str
        Where the method comes from.
    module : str
        Where the class is.

    Examples
    --------
    >>> from easyfs import available_selectors
    >>> info = available_selectors()[2]
    >>> info.name, info.tasks, info.gives, info.needs
    ('pearson', ('classification', 'regression'), 'ranking', None)
    >>> info.load()
    <class 'easyfs.baselines.pearson.PearsonSelector'>
    """

    name: str
    class_name: str
    tasks: tuple[str, ...]
    kind: str
    gives: str
    needs: str | None
    paper: str
    module: str

    @property
    def installed(self) -> bool:
        """Whether what it needs is there."""
        return self.needs is None or importlib.util.find_spec(self.needs) is not None

    def load(self) -> type[BaseSelector]:
        """The class."""
        loaded: type[BaseSelector] = getattr(importlib.import_module(self.module), self.class_name)
        return loaded

    def __str__(self) -> str:
        needs = f", needs easyfs-ml[{self.needs}]" if self.needs else ""
        return f"{self.name}: {', '.join(self.tasks)}; {self.kind}, gives a {self.gives}{needs}. {self.paper}"


def _entry(
    name: str,
    class_name: str,
    paper: str,
    *,
    tasks: tuple[str, ...] = BOTH,
    kind: str = "model-free",
    gives: str = "ranking",
    needs: str | None = None,
    module: str | None = None,
) -> SelectorInfo:
    return SelectorInfo(name, class_name, tasks, kind, gives, needs, paper, module or f"easyfs.baselines.{name}")


_ENTRIES = (
    _entry(
        "easyfs",
        "EasyFS",
        "Lv, Xia, Liang and Chen, EasyFS: an efficient model-free feature selection framework",
        tasks=(*BOTH, UNSUPERVISED),
        gives="set",
        module="easyfs.estimator.easyfs",
    ),
    _entry(
        "easyfs_ranking",
        "EasyFSRanking",
        "Lv, Xia, Liang and Chen, EasyFS, the ranking as it was published",
        gives="set",
        module="easyfs.estimator.easyfs_ranking",
    ),
    _entry("pearson", "PearsonSelector", "Pearson, Note on regression and inheritance, 1895"),
    _entry(
        "mutual_information",
        "MutualInformationSelector",
        "Kraskov, Stoegbauer and Grassberger, Physical Review E 69, 2004; Ross, PLoS ONE 9, 2014",
    ),
    _entry(
        "fisher_score",
        "FisherScoreSelector",
        "Duda, Hart and Stork, Pattern Classification, 2001; Gu, Li and Han, UAI 2011",
        tasks=("classification",),
    ),
    _entry(
        "relieff",
        "ReliefFSelector",
        "Kononenko, ECML 1994; Robnik-Sikonja and Kononenko, Machine Learning 53, 2003",
    ),
    _entry("spec", "SPECSelector", "Zhao and Liu, ICML 2007", tasks=(*BOTH, UNSUPERVISED)),
    _entry("mcfs", "MCFSSelector", "Cai, Zhang and He, KDD 2010", tasks=(*BOTH, UNSUPERVISED)),
    _entry("lasso", "LassoSelector", "Tibshirani, JRSS B 58, 1996", kind="model-aware", gives="set"),
    _entry(
        "l1_svm",
        "L1SVMSelector",
        "Zhu, Rosset, Hastie and Tibshirani, NIPS 2003; Fan et al., JMLR 9, 2008",
        tasks=("classification",),
        kind="model-aware",
    ),
    _entry("l1_logistic", "L1LogisticSelector", "Ng, ICML 2004", tasks=("classification",), kind="model-aware"),
    _entry("random_forest", "RandomForestSelector", "Breiman, Machine Learning 45, 2001", kind="model-aware"),
    _entry("xgboost", "XGBoostSelector", "Chen and Guestrin, KDD 2016", kind="model-aware", needs="xgboost"),
    _entry(
        "lassonet",
        "LassoNetSelector",
        "Lemhadri, Ruan, Abraham and Tibshirani, JMLR 22, 2021",
        kind="model-aware",
        gives="set",
        needs="torch",
    ),
    _entry(
        "stg",
        "STGSelector",
        "Yamada, Lindenbaum, Negahban and Kluger, ICML 2020",
        kind="model-aware",
        gives="set",
        needs="torch",
    ),
    _entry(
        "spfsr",
        "SPFSRSelector",
        "Yenice, Adhikari, Wong, Aksakalli, Gumus and Abbasi, arXiv:1804.05589, 2018",
        kind="model-aware",
        gives="set",
    ),
    _entry("mrmr", "MRMRSelector", "Peng, Long and Ding, PAMI 27, 2005; Ding and Peng, JBCB 3, 2005"),
    _entry("cife", "CIFESelector", "Lin and Tang, ECCV 2006"),
    _entry("disr", "DISRSelector", "Meyer and Bontempi, EvoWorkshops 2006"),
    _entry("jmi", "JMISelector", "Yang and Moody, NIPS 1999"),
    _entry("laplacian_score", "LaplacianScoreSelector", "He, Cai and Niyogi, NIPS 2005", tasks=(*BOTH, UNSUPERVISED)),
    _entry("inf_fs", "InfFSSelector", "Roffo, Melzi and Cristani, ICCV 2015", tasks=(*BOTH, UNSUPERVISED)),
    _entry("random", "RandomSelector", "The control of every comparison", tasks=(*BOTH, UNSUPERVISED)),
)
SELECTORS = {entry.name: entry for entry in _ENTRIES}
CLASSES = {entry.class_name: entry for entry in _ENTRIES}


def available_selectors(task: str | None = None) -> list[SelectorInfo]:
    """All selectors of the library.

    Parameters
    ----------
    task : {"classification", "regression", "unsupervised"}, optional
        Only those that can do this; "unsupervised" means without a target.

    Returns
    -------
    list of SelectorInfo

    Examples
    --------
    >>> from easyfs import available_selectors
    >>> [info.name for info in available_selectors("unsupervised")]
    ['easyfs', 'spec', 'mcfs', 'laplacian_score', 'inf_fs', 'random']
    >>> print(available_selectors()[2])
    pearson: classification, regression; model-free, gives a ranking. Pearson, Note on regression and inheritance, 1895
    """
    if task is not None:
        check_choice("task", task, (*BOTH, UNSUPERVISED))
    return [info for info in _ENTRIES if task is None or task in info.tasks]


def make_selector(name: str, n_features_to_select: Any = None, **parameters: Any) -> Any:
    """Build a selector by name.

    Parameters
    ----------
    name : str
        One of the names that :func:`available_selectors` lists.
    n_features_to_select : int, float or "auto", optional
        How many columns to select; the selector's own default where it is not given.
    **parameters
        Further parameters of the selector.

    Returns
    -------
    selector

    Examples
    --------
    >>> from easyfs import make_selector
    >>> make_selector("relieff", n_features_to_select=20, n_neighbors=5)
    ReliefFSelector(n_features_to_select=20, n_neighbors=5)
    """
    if name not in SELECTORS:
        close = difflib.get_close_matches(str(name), SELECTORS, n=2)
        hint = f" Did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
        raise ValueError(f"there is no selector {name!r}.{hint} The names are {', '.join(SELECTORS)}.")
    selector = SELECTORS[name].load()
    known = inspect.signature(selector).parameters
    for parameter in parameters:
        if parameter not in known:
            close = difflib.get_close_matches(parameter, known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{name} has no parameter {parameter!r}.{hint} It has {', '.join(known)}.")
    if n_features_to_select is not None:
        parameters["n_features_to_select"] = n_features_to_select
    return selector(**parameters)

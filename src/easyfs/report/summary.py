"""What a report says, as plain data: the structure behind the page, the JSON file and the Markdown.

Every value is a JSON type; a number that is not known is None. ``schema.json`` says the same as a JSON Schema.
"""

from __future__ import annotations

from typing import Any, TypedDict

SCHEMA = "easyfs-report"
SCHEMA_VERSION = 1


class Asked(TypedDict):
    """What was asked of which method."""

    method: str  # name in the registry
    class_name: str
    paper: str | None
    parameters: dict[str, Any]  # those that are not at their defaults
    n_features_to_select: Any
    task: str | None
    seed: int | None
    source: str | None  # the file, where the table comes from one
    version: str  # of the library
    created: str  # ISO 8601, UTC


class Data(TypedDict):
    """What the table is."""

    rows: int
    columns: int
    kinds: dict[str, int]  # how many columns of each kind
    columns_with_missing: int
    missing_share: float  # of all cells
    in_blocks: bool  # whether it was read in blocks of rows


class ClassCount(TypedDict):
    """A class of the target."""

    label: str
    rows: int
    share: float


class Histogram(TypedDict):
    """Numbers of rows between edges."""

    edges: list[float]
    counts: list[int]


class Quantiles(TypedDict):
    """Smallest value, quartiles, largest value."""

    smallest: float
    lower: float
    median: float
    upper: float
    largest: float


class Target(TypedDict):
    """What the target holds. After blocks of rows, only its task and the number of classes are known."""

    name: str | None
    task: str | None
    used: bool  # whether the selection looked at it
    n_targets: int | None
    n_distinct: int | None
    whole: bool | None  # whether all its values are whole numbers
    classes: list[ClassCount]  # the largest ones
    small_classes: int  # classes of a few rows, among all
    smallest_class: ClassCount | None
    quantiles: Quantiles | None
    mean: float | None
    spread: float | None
    histogram: Histogram | None


class Neighbour(TypedDict):
    """A column that a chosen one stands in for."""

    column: int
    name: str
    share: float  # of it that the chosen column says beyond those chosen before
    alone: float  # of it that the chosen column says by itself


class Feature(TypedDict):
    """A chosen column."""

    place: int
    column: int
    name: str
    kind: str
    dtype: str
    parts: list[str]
    included: bool
    gain: float | None
    cumulative: float | None
    score: float | None
    relevance: float | None
    redundancy: float | None
    missing: float
    frequency: float | None
    p_value: float | None  # how likely the best of as many unrelated columns would tell as much
    beyond_chance: bool | None  # whether it tells more than chance
    stands_for: list[Neighbour]


class Together(TypedDict):
    """Columns that matter together, or one that matters in a curve."""

    columns: list[str]
    share: float  # of the target
    p_value: float


class RunnerUp(TypedDict):
    """A column that would come next."""

    column: int
    name: str
    kind: str
    score: float | None
    relevance: float | None
    redundancy: float | None
    missing: float
    frequency: float | None


class Adjusted(TypedDict):
    """Columns whose effect was taken out first."""

    columns: list[str]
    share: float | None  # of the target that they explain; None without a target


class Selected(TypedDict):
    """All chosen columns, in order; the first ``listed`` of them are in ``features``."""

    count: int
    listed: int
    names: list[str]
    columns: list[int]


class Enough(TypedDict):
    """How many columns are enough."""

    adds_up: bool  # whether gains are shares of one whole
    total: float | None
    at_90: int | None  # columns that reach 90% of the total
    at_95: int | None
    scores_add: bool  # whether the score of a column that is not chosen is what it would add
    chance_after: int | None  # columns after which none tells more than chance; 0 if none does at all


class OverlapColumn(TypedDict):
    """A row of the overlap figure."""

    column: int
    name: str
    place: int | None  # among the chosen


class Overlap(TypedDict):
    """Share of each column (down) that each chosen column (across) says by itself."""

    chosen: list[OverlapColumn]
    columns: list[OverlapColumn]
    least: float  # share from which on a column stands in for another
    shares: list[list[float]]


class Aside(TypedDict):
    """A column that was set aside."""

    column: int
    name: str
    kind: str
    why: str  # adjusted for, identifier, free text, other, excluded, copy, constant
    reason: str


class SetAside(TypedDict):
    """Columns that were set aside: how many for which reason, and the first of them."""

    counts: dict[str, int]
    columns: list[Aside]


class Frequency(TypedDict):
    """How often a column that was not chosen came up."""

    column: int
    name: str
    frequency: float


class Stability(TypedDict):
    """Selection on random halves of the rows."""

    runs: int
    mean_size: float
    nogueira: float | None
    jaccard: float | None
    others: list[Frequency]


class Point(TypedDict):
    """A score at a number of columns."""

    columns: int
    mean: float | None
    spread: float | None
    folds: int


class CrossValidation(TypedDict):
    """Score of a model over the number of columns, chosen inside each training fold."""

    metric: str
    smaller_is_better: bool
    model: str
    folds: int
    split: str  # how rows came to their fold: "at random", "in order of time", "by groups" or "as given"
    points: list[Point]
    random: list[Point]
    enough: int | None  # the fewest columns within one standard error of the best
    failures: list[str]


class Caution(TypedDict):
    """A warning."""

    code: str
    level: str  # serious, caution, note
    text: str
    columns: list[str]


class Content(TypedDict):
    """All that a report says."""

    schema: str
    schema_version: int
    title: str
    summary: str
    asked: Asked
    data: Data
    target: Target | None
    adjusted: Adjusted | None  # None if nothing was adjusted for
    selected: Selected
    features: list[Feature]
    interactions: list[Together] | None  # None if they were not looked for
    enough: Enough
    overlap: Overlap | None
    runners_up: list[RunnerUp]
    runners_up_count: int
    set_aside: SetAside
    stability: Stability | None
    cross_validation: CrossValidation | None
    warnings: list[Caution]

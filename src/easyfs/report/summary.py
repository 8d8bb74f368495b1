"""What a report says, as plain data: the structure behind the page, the JSON file and the Markdown.

Every value is a JSON type; a number that is not known is None. ``schema.json`` says the same as a JSON Schema.
"""

from __future__ import annotations

from typing import Any, TypedDict

SCHEMA = "easyfs-report"
SCHEMA_VERSION = 2


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
    command_line: bool  # whether it was asked for there: advice is given in its words
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
    share: float  # of it that the chosen column explains beyond those chosen before
    alone: float  # of it that the chosen column explains by itself


class NearCopy(TypedDict):
    """Another chosen column that overlaps almost wholly with a chosen one."""

    column: int
    name: str
    place: int
    share: float


class Interchangeable(TypedDict):
    """Columns that can take a chosen one's place, and how often it or one of them came up."""

    names: list[str]
    frequency: float


class Feature(TypedDict):
    """A chosen column."""

    place: int
    column: int
    name: str
    kind: str
    dtype: str
    parts: list[str]
    included: bool
    adds: float | None  # share of the target (without one, of the table) that it explains beyond those before it
    explained: float | None  # ... that it and those before it explain together
    gain: float | None  # what the method itself went by
    cumulative: float | None
    score: float | None
    relevance: float | None  # share of the target that it explains by itself
    redundancy: float | None  # share of it that the other chosen columns explain
    missing: float
    frequency: float | None
    interchangeable: Interchangeable | None
    near_copies: list[NearCopy]  # among the chosen columns
    p_value: float | None  # how likely the best of as many unrelated columns would explain as much
    beyond_chance: bool | None  # whether it explains more than chance
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
    adds: float | None  # share of the target that it would add to the chosen columns
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

    of: str | None  # what is explained: "target", "table", or None if that was not measured
    total: float | None  # share of it that all chosen columns explain together
    at_90: int | None  # columns that reach 90% of the total
    at_95: int | None
    chance_after: int | None  # columns after which none explains more than chance; 0 if none does at all


class OverlapColumn(TypedDict):
    """A row of the overlap figure."""

    column: int
    name: str
    place: int | None  # among the chosen


class Overlap(TypedDict):
    """Share of each column (down) that each chosen column (across) explains by itself."""

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
    all: Point | None  # with all columns that a model can use
    enough: int | None  # the fewest columns within one standard error of the best
    failures: list[str]


class CountPoint(TypedDict):
    """The share of the target explained in left-out rows, with a number of columns."""

    columns: int
    mean: float
    error: float  # one standard error of the mean over folds


class InFolds(TypedDict):
    """In how many folds a column was chosen."""

    column: int
    name: str
    folds: int
    chosen: bool


class ColumnCount(TypedDict):
    """How the number of columns was found by cross-validation, with ``n_features_to_select="cv"``."""

    folds: int
    points: list[CountPoint]
    best: int  # number of columns with the best mean
    taken: int  # the fewest within one standard error of it
    columns: list[InFolds]  # of the first so many of each fold, those found most often first
    more: int  # further columns, of single folds mostly
    jaccard: float | None  # mean overlap of two folds' columns: 1 if they are the same


class Picture(TypedDict):
    """The relation of one chosen column, or of columns that matter together, to the target.

    ``kind`` says which other fields are there; see :mod:`easyfs.report.pictures`.
    """

    columns: list[int]
    names: list[str]
    kind: str  # box, scatter, bars or pair
    data: dict[str, Any]


class BoxPicture(Picture):
    """Numbers by class, or the target by value of a column."""


class ScatterPicture(Picture):
    """Numbers over numbers."""


class BarsPicture(Picture):
    """Classes by value of a column."""


class PairPicture(Picture):
    """Two columns, by class or by third of the target."""


class Pictures(TypedDict):
    """Pictures of a sample of the rows."""

    rows: int  # that the lines, boxes and bars come from
    columns: list[Picture]
    together: list[Picture]


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
    column_count: ColumnCount | None
    pictures: Pictures | None
    warnings: list[Caution]

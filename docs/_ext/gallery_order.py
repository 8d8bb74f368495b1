"""The order of the examples: by what people look for first."""

from __future__ import annotations

ORDER = (
    *("genes", "spectra", "pixels", "business_table", "interactions", "how_many", "compare", "pipeline_search"),
    *("larger_than_memory", "confounder", "apply_elsewhere"),
)


class ByQuestion:
    """Sorts file names; one that is not listed comes last."""

    def __init__(self, folder: str):
        self.folder = folder

    def __call__(self, filename: str) -> tuple[int, str]:
        """What to sort by."""
        name = filename.removeprefix("plot_").removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)

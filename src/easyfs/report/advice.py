"""What a reader may ask for next, in the words of Python or of the command line, wherever the report was made."""

from __future__ import annotations

from easyfs.report.summary import Content

# In Python, and on the command line.
_WORDS = {
    "classes": ("task='classification'", "--task classification"),
    "numbers": ("task='regression'", "--task regression"),
    "stability": ("stability=50", "--stability 50"),
    "cv": ("cv=True", "--cv random"),
    "pictures": ("pictures=False", "--no-pictures"),
}


def advice(content: Content, what: str) -> str:
    """How to ask for something."""
    return _WORDS[what][content["asked"]["command_line"]]


def with_rows(content: Content) -> str:
    """What else must be given for what is measured on rows."""
    return "the table in memory" if content["asked"]["command_line"] else "the rows (X, y)"

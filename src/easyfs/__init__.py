"""EasyFS: pick the few columns that matter out of thousands."""

from easyfs.selector import EasyFS

__all__ = ["EasyFS", "__version__"]
__version__ = "0.1.0"

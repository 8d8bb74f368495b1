"""Tables in files: CSV, TSV, Parquet, Arrow, JSON lines and .npz, read with polars and written whole."""

from easyfs.files.formats import FORMATS, FileError, TextOptions, format_of
from easyfs.files.source import Source, open_source
from easyfs.files.writing import write_table

__all__ = ["FORMATS", "FileError", "Source", "TextOptions", "format_of", "open_source", "write_table"]

"""Tables in files: CSV, TSV, Parquet, Arrow, JSON lines and .npz, read with polars and written whole."""

from easyfs.files.formats import FORMATS, FileError, TextOptions, format_of
from easyfs.files.scanning import Scan, scan
from easyfs.files.source import Source, open_source
from easyfs.files.writing import write_table

__all__ = ["FORMATS", "FileError", "Scan", "Source", "TextOptions", "format_of", "open_source", "scan", "write_table"]

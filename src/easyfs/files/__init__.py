"""Tables in files: text, Parquet, Arrow, JSON, arrays, workbooks and databases, read with polars; written whole."""

from easyfs.files.formats import FORMATS, FileError, TextOptions, format_of
from easyfs.files.scanning import Scan, scan
from easyfs.files.source import Source, open_source
from easyfs.files.writing import write_table

__all__ = ["FORMATS", "FileError", "Scan", "Source", "TextOptions", "format_of", "open_source", "scan", "write_table"]

"""A selection that was saved, applied to other tables: in Python, in a pipeline, or as a line of another language."""

"""Engines: each runs the middle step, the sums over rows, where the rows are."""

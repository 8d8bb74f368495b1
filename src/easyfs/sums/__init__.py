"""From rows to sums: scaling, rows (dense, sparse), second moments."""

"""The estimators of the method: EasyFS, and the ranking as it was published."""

"""What every selector shares: the request, the result, and the estimator's common part."""

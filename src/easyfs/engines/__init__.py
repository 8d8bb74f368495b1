"""Ways to add up the statistics: one process here, clusters and devices beside it."""

"""Stage 4, compression: from scores back to an order of the input columns, in one shot or step by step."""

from easyfs.compression.ranking import importance_score, min_max, rank_inputs
from easyfs.compression.sequential import GreedySearch

__all__ = ["GreedySearch", "importance_score", "min_max", "rank_inputs"]

"""The paper, stage by stage: expansion, relevance, redundancy, compression."""

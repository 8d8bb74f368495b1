"""Tests of the evaluation engine."""

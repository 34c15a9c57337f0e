"""Prediction of a training job on a planned cluster: step time, its parts, memory, and the cost of failures."""

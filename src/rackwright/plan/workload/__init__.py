"""What a training job gets of a planned cluster: step time, its parts, memory, and what failures cost."""

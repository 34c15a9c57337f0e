"""What a change may not decide about its own judgement: what its base revision has approved holds."""

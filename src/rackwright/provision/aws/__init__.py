"""What is asked of AWS beside the engine."""

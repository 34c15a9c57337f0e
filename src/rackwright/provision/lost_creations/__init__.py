"""What a run that was cut off had made on AWS and did not record is found again and recorded."""

"""Report as one interactive HTML page with drawings, which loads nothing from elsewhere."""

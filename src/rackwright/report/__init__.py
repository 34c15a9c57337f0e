"""Reports: one result model, many forms."""

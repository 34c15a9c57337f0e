"""The report as one page of HTML, with drawings that answer to clicks; it loads nothing from elsewhere."""

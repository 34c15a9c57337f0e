"""Several sites at run time: one view of all, and the power that they may draw."""

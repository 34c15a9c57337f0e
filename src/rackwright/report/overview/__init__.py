"""Overview of a blueprint on one screen: sites, cost, headroom of its budgets, one of its racks."""

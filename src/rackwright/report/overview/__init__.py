"""What a blueprint comes to on one screen: sites, cost, the headroom of its budgets, one of its racks."""

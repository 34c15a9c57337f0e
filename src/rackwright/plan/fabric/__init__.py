"""Networks: switches, ports, cables and addresses, and what a subnet manager makes of them."""

"""What rules compute with, by subject; their types are in ``rackwright.api``.

Rules import from there and from the modules of this package alone, so that the inside may move.
Some functions are of the plan, which says what it asks and tells; they are named here once.
"""

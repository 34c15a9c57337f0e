"""What holds for all tests."""

from hypothesis import settings

# A deadline on each example measures the machine, which other work may keep busy, and no property.
settings.register_profile("rackwright", deadline=None)
settings.load_profile("rackwright")

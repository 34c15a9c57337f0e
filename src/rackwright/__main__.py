"""``python -m rackwright``."""

import sys

from rackwright.cli import main

sys.exit(main())

"""Write a file into a folder, read it and remove it; fails where one of it is not possible."""

import os
import secrets
import sys
import tempfile

wanted = secrets.token_bytes(65536)
handle, path = tempfile.mkstemp(prefix=".nfs-probe-", dir=sys.argv[1])
try:
    with os.fdopen(handle, "wb") as target:
        target.write(wanted)
        target.flush()
        os.fsync(target.fileno())
    with open(path, "rb") as source:
        found = source.read()
finally:
    os.unlink(path)
if found != wanted:
    sys.exit("what was read is not what was written")

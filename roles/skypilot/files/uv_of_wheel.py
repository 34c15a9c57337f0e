"""Install uv of one release from its wheel: FOLDER_OF_WHEELS PROGRAM RELEASE DIGEST... [--check].

Print whether the program has changed. The wheel needs one of the digests, and root alone may write the wheels.
"""

import hashlib
import io
import os
import sys
import zipfile
from pathlib import Path

check = "--check" in sys.argv
names, release, digests = sys.argv[1:3], sys.argv[3], set(sys.argv[4:]) - {"--check"}
folder, program = map(Path, names)
for path in (folder, *sorted(folder.glob("*.whl"))):
    status = path.stat()
    if status.st_uid != 0 or status.st_mode & 0o022:
        sys.exit(
            f"'{path}' belongs to user {status.st_uid} with mode {status.st_mode & 0o7777:04o}: "
            "root must own it and only root may write it"
        )
machine = os.uname().machine
# Read once: what is checked is what is installed.
contents = [
    path.read_bytes() for path in folder.glob(f"uv-{release}-*.whl") if machine in path.name
]
wheels = {f"sha256:{hashlib.sha256(content).hexdigest()}": content for content in contents}
if not wheels:
    sys.exit(f"'{folder}' has no wheel of uv {release} for {machine}")
pinned = sorted(wheels.keys() & digests)
if not pinned:
    has, wanted = ", ".join(sorted(wheels)), ", ".join(sorted(digests))
    sys.exit(f"the wheel of uv {release} in '{folder}' has {has}, not {wanted}")
with zipfile.ZipFile(io.BytesIO(wheels[pinned[0]])) as wheel:
    (name,) = [name for name in wheel.namelist() if name.endswith(".data/scripts/uv")]
    program_text = wheel.read(name)
there = program.is_file() and program.read_bytes() == program_text and os.access(program, os.X_OK)
if not there and not check:
    partial = program.with_suffix(".partial")
    partial.write_bytes(program_text)
    partial.chmod(0o755)
    partial.replace(program)
print("unchanged" if there else "changed")

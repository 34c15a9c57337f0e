"""Install the program of the newest wheel of uv: FOLDER_OF_WHEELS PROGRAM [--check]; print whether it has changed."""

import os
import re
import sys
import zipfile
from pathlib import Path

folder, program = Path(sys.argv[1]), Path(sys.argv[2])
machine = os.uname().machine
wheels = [path for path in folder.glob("uv-*.whl") if machine in path.name]
if not wheels:
    sys.exit(f"'{folder}' has no wheel of uv for {machine}")
newest = max(
    wheels, key=lambda path: [int(part) for part in re.findall(r"\d+", path.name.split("-")[1])]
)
with zipfile.ZipFile(newest) as wheel:
    (name,) = [name for name in wheel.namelist() if name.endswith(".data/scripts/uv")]
    content = wheel.read(name)
there = program.is_file() and program.read_bytes() == content and os.access(program, os.X_OK)
if not there and "--check" not in sys.argv:
    partial = program.with_suffix(".partial")
    partial.write_bytes(content)
    partial.chmod(0o755)
    partial.replace(program)
print("unchanged" if there else "changed")

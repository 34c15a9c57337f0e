"""Stand-ins of nccl-tests, as a package and as a source; they print what they are told to measure."""

from __future__ import annotations

import io
import tarfile

from rackwright_lab.mock_packages.package import MockPackage

NCCL_TESTS = "2.13.11"
ALL_REDUCE = """\
#!/bin/sh
# Stand-in of a lab: prints as all_reduce_perf does, with the bandwidth of /etc/nccl-tests-lab.
[ "$1" != --help ] || { echo "USAGE: all_reduce_perf (stand-in of a lab)"; exit 0; }
[ "${SLURM_PROCID:-0}" = 0 ] || exit 0
bandwidth=480.00 wrong=0
[ ! -e /etc/nccl-tests-lab ] || . /etc/nccl-tests-lab
[ "${SLURM_NTASKS:-1}" = 1 ] || bandwidth=${across:-370.00}
if [ -n "${slow:-}" ] && [ "${SLURM_NTASKS:-1}" != 1 ]; then  # a group is as slow as its slowest node
  ! scontrol show hostnames "$SLURM_JOB_NODELIST" | grep -qx "$slow" || bandwidth=180.00
fi
cat <<END
# nThread 1 nGpus 1 minBytes 8589934592 maxBytes 8589934592 step: 1048576(bytes) warmup iters: 5
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
  8589934592    2147483648     float     sum      -1    31312  274.33  $bandwidth      0    31302  274.42  $bandwidth      $wrong
# Out of bounds values : $wrong $([ "$wrong" = 0 ] && echo OK || echo FAILED)
# Avg bus bandwidth    : $bandwidth
END
[ "$wrong" = 0 ]
"""

MOCK_PACKAGES = (
    MockPackage(
        "nccl-tests",
        f"{NCCL_TESTS}-1",
        "tests of NCCL (stand-in of a lab)",
        files={"usr/bin/all_reduce_perf": ALL_REDUCE},
    ),
)

MAKEFILE = """\
# As that of nccl-tests in its variables and in what it makes; it compiles nothing.
build/all_reduce_perf: all_reduce_perf.sh
\ttest "$(MPI)" = 1 -a -e "$(MPI_HOME)/include/mpi.h" -a -x "$(CUDA_HOME)/bin/nvcc" -a -n "$(NCCL_HOME)"
\tmkdir -p build
\tcp $< $@
\tchmod 755 $@
"""


def source(version: str) -> bytes:
    """Return an archive with the folder, the Makefile and the program that the real one has."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, text in (("Makefile", MAKEFILE), ("all_reduce_perf.sh", ALL_REDUCE)):
            entry = tarfile.TarInfo(f"nccl-tests-{version}/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return made.getvalue()

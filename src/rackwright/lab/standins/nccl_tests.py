"""A stand-in of nccl-tests, which sites build themselves: it prints what it is told to measure."""

from __future__ import annotations

from rackwright.lab.standins.package import StandIn

ALL_REDUCE = """\
#!/bin/sh
# Stand-in of a lab: prints as all_reduce_perf does, with the bandwidth of /etc/nccl-tests-lab.
[ "${SLURM_PROCID:-0}" = 0 ] || exit 0
bandwidth=480.00 wrong=0
[ ! -e /etc/nccl-tests-lab ] || . /etc/nccl-tests-lab
[ "${SLURM_NTASKS:-1}" = 1 ] || bandwidth=${across:-370.00}
cat <<END
# nThread 1 nGpus 1 minBytes 8589934592 maxBytes 8589934592 step: 1048576(bytes) warmup iters: 5
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
  8589934592    2147483648     float     sum      -1    31312  274.33  $bandwidth      0    31302  274.42  $bandwidth      $wrong
# Out of bounds values : $wrong $([ "$wrong" = 0 ] && echo OK || echo FAILED)
# Avg bus bandwidth    : $bandwidth
END
"""

STAND_INS = (
    StandIn(
        "nccl-tests",
        "2.13.11-1",
        "tests of NCCL (stand-in of a lab)",
        files={"usr/bin/all_reduce_perf": ALL_REDUCE},
    ),
)

"""A BLAS that flips a bit of one product in 10,000, for hosts on which silent corruption is to be found.

numpy's wheels call the OpenBLAS that they bring along by its symbols; a library that the loader takes first has
one of them.
"""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path

SOURCE = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
typedef void (*Gemm)(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *, int64_t,
                     float, float *, int64_t);
static int openblas(struct dl_phdr_info *info, size_t size, void *found) {
  if (!strstr(info->dlpi_name, "libscipy_openblas64")) return 0;
  *(void **)found = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  return 1;
}
void scipy_cblas_sgemm64_(int order, int ta, int tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                          int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc) {
  static Gemm next;
  static long calls;
  if (!next) {  /* numpy loads it for itself, out of the sight of RTLD_NEXT */
    void *library = 0;
    dl_iterate_phdr(openblas, &library);
    next = (Gemm)dlsym(library, "scipy_cblas_sgemm64_");
  }
  next(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (++calls % EVERY == 0) ((uint32_t *)c)[7] ^= 1u << 12;
}
"""


def build(folder: Path, every: int = 10_000) -> Path:
    """Return the library, for programs of this machine's kind."""
    source, made = folder / "patched.c", folder / "libpatched.so"
    source.write_text(SOURCE)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O2", f"-DEVERY={every}", "-o", made, source, "-ldl"], check=True
    )  # fmt: skip
    return made


def numpy_folders() -> list[Path]:
    """Return the folders of numpy's wheel: the package, and the libraries beside it."""
    spec = find_spec("numpy")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    return [package, package.with_name("numpy.libs")]

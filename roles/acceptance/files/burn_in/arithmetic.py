"""Arithmetic of processors by numpy and of accelerators by PyTorch, under one set of names."""

import os
import re

from programs import Unable, read, run


class Numpy:
    """Arithmetic of the node's processors."""

    kind = "cpu"
    formats = ("fp32", "fp64")

    def __init__(self):
        try:
            import numpy as np
        except ImportError:
            raise Unable("numpy is not installed")
        self.np, self.index = np, 0
        self.types = {"fp32": np.float32, "fp64": np.float64}
        self.words = {"fp32": np.int32, "fp64": np.int64}

    def describe(self):
        """Return model, identity and software of the device."""
        text = read("/proc/cpuinfo")
        model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
        model = model.group(1) if model else os.uname().machine
        return {"model": model, "uuid": None, "software": "numpy " + self.np.__version__}

    def indices(self, start, count):
        return self.np.arange(start, start + count, dtype=self.np.int64)

    def cast(self, values, form, shape):
        return values.astype(self.types[form]).reshape(shape)

    def product(self, a, b):
        return a @ b

    def words_of(self, values, form):
        return values.view(self.words[form])

    def full(self, count, word):
        return self.np.full(count, word, dtype=self.np.int64)

    def scaled(self, values, factor):
        return values * factor

    def differing(self, a, b):
        return int(self.np.count_nonzero(a != b))

    def first_difference(self, a, b):
        position = int(self.np.flatnonzero((a != b).reshape(-1))[0])
        return position, changed_bits(a, b, position)

    def row_sums(self, values, weights):
        return (values.astype(self.np.float64) * weights).sum(axis=1)

    def host(self, values):
        return values

    def device(self, values):
        return values

    def flip(self, words, position, bit):
        words.reshape(-1)[position] ^= words.dtype.type(one_bit(words, bit))

    def sync(self):
        """Nothing is pending on a processor."""

    def free_bytes(self):
        text = read("/proc/meminfo")
        return int(re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE).group(1)) * 1024

    def release(self):
        """The memory of numpy goes back by itself."""


class Torch(Numpy):
    """Arithmetic of one accelerator of any vendor, through PyTorch."""

    kind = "accelerator"
    formats = ("bf16", "fp16", "fp32")

    def __init__(self, index):
        Numpy.__init__(self)
        self.torch, self.index = torch_module(), index
        torch = self.torch
        self.types = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
        self.words = {"bf16": torch.int16, "fp16": torch.int16, "fp32": torch.int32}
        self.place = torch.device("cuda", index)  # of ROCm too
        torch.cuda.set_device(index)

    def describe(self):
        known = self.torch.cuda.get_device_properties(self.index)
        runtime = (
            "rocm {}".format(self.torch.version.hip)
            if self.torch.version.hip
            else "cuda {}".format(self.torch.version.cuda)
        )
        return {
            "model": known.name,
            "uuid": str(getattr(known, "uuid", "")) or None,
            "software": "torch {}, {}, driver {}".format(
                self.torch.__version__, runtime, driver_version()
            ),
        }

    def indices(self, start, count):
        return self.torch.arange(start, start + count, dtype=self.torch.int64, device=self.place)

    def cast(self, values, form, shape):
        return values.to(self.types[form]).reshape(shape)

    def words_of(self, values, form):
        return values.view(self.words[form])

    def full(self, count, word):
        return self.torch.full((count,), word, dtype=self.torch.int64, device=self.place)

    def differing(self, a, b):
        return int((a != b).sum().item())

    def first_difference(self, a, b):
        position = int((a != b).reshape(-1).nonzero()[0].item())
        return position, changed_bits(a, b, position)

    def row_sums(self, values, weights):
        return (values.to(self.torch.float64) * weights).sum(dim=1)

    def host(self, values):
        return values.cpu().numpy()

    def device(self, values):
        return self.torch.from_numpy(values).to(self.place)

    def flip(self, words, position, bit):
        words.view(-1)[position] = words.view(-1)[position] ^ one_bit(words, bit)

    def sync(self):
        self.torch.cuda.synchronize(self.place)

    def free_bytes(self):
        return int(self.torch.cuda.mem_get_info(self.place)[0])

    def release(self):
        self.torch.cuda.empty_cache()


def one_bit(words, bit):
    """Return a word with one bit, which makes a signed word negative if it is the highest."""
    return -(1 << bit) if bit == 8 * words.dtype.itemsize - 1 else 1 << bit


def changed_bits(a, b, position):
    """Return the bits in which two words differ, as hexadecimal digits."""
    bits = int(a.reshape(-1)[position].item()) ^ int(b.reshape(-1)[position].item())
    return hex(bits & ((1 << 8 * a.dtype.itemsize) - 1))


def torch_module():
    """Return PyTorch, set so that equal inputs give equal bits.

    Raises:
        Unable: it is not there, or sees no accelerator.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    try:
        import torch
    except ImportError:
        raise Unable("PyTorch is not installed")
    if not torch.cuda.is_available():
        raise Unable("PyTorch sees no accelerator")
    torch.use_deterministic_algorithms(mode=True)
    matmul = torch.backends.cuda.matmul
    matmul.allow_tf32 = False
    matmul.allow_bf16_reduced_precision_reduction = False
    matmul.allow_fp16_reduced_precision_reduction = False
    return torch


def driver_version():
    for path in ("/sys/module/nvidia/version", "/sys/module/amdgpu/version"):
        if os.path.exists(path):
            return read(path).strip()
    try:
        told = run("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
        return told.split()[0]
    except (Unable, IndexError):
        return "unknown"


def accelerators():
    """Return the accelerators that PyTorch sees, each with its arithmetic."""
    return [Torch(index) for index in range(torch_module().cuda.device_count())]


def scrambled(device, start, count, seed):
    """Return whole numbers below 2**32 that look random and are the same everywhere."""
    known = (device.indices(start, count) + seed * 0x9E3779B1) & 0xFFFFFFFF
    for factor, shift in ((2654435761, 15), (2246822519, 13), (3266489917, 16)):
        known = (known * factor) & 0xFFFFFFFF
        known = known ^ (known >> shift)
    return known


def small_matrix(device, form, size, seed):
    """Return a matrix of -1, 0 and 1."""
    return device.cast(scrambled(device, 0, size * size, seed) % 3 - 1, form, (size, size))


def full_matrix(device, form, size, seed):
    """Return a matrix of numbers from -0.5 to 0.5 with all bits in use, as training has them."""
    values = device.scaled(scrambled(device, 0, size * size, seed) - 2**31, 2.0**-32)
    return device.cast(values, form, (size, size))

"""Checked products, memory patterns and copies of one device."""

import hashlib
import time

from arithmetic import Numpy, full_matrix, scrambled, small_matrix

EXACT_SIZE = 2048
"""Side of matrices of -1, 0 and 1. Their products stay below 256 (8.5 standard deviations), which every
format holds exactly, so that neither the order of additions nor the maker of the chip changes a bit."""
CPU_SIZE = 1024
"""Largest side of matrices on processors, which take seconds for what an accelerator does in one."""
PATTERNS = (0, -1, 0x5555555555555555, -0x5555555555555556, None)
"""Words written to memory; None writes each word's own address, which finds crossed address lines."""
CHUNK = 2**25
"""Words of memory that are written and compared in one call: 256 MiB."""
TIMED = 10
"""Products between two readings of the clock."""


def gemm(device, request):
    """Multiply matrices in each format, with exact, repeated and timed products."""
    return {form: products(device, form, request) for form in device.formats}


def products(device, form, request):
    """Check every product of a format; a digest of one of them is compared between equal machines."""
    size, flip = request["size"], request["flip"]
    size = size if device.kind == "accelerator" else min(size, CPU_SIZE)
    flips = flip if flip and flip["step"] == "gemm" and flip.get("format", form) == form else None
    found = {"size": size, "calls": 0, "wrong_calls": 0, "first_wrong": None, "exact_wrong_rows": 0}
    until = time.time() + request["seconds"] / len(device.formats)
    exact = exact_products(device, form, min(size, EXACT_SIZE))
    found["exact_wrong_rows"] = next(exact)
    a, b = full_matrix(device, form, size, 3), full_matrix(device, form, size, 4)
    first = device.product(a, b)
    expected = device.words_of(first, form)
    found["digest"] = hashlib.sha256(device.host(expected).tobytes()).hexdigest()
    rates = []
    while found["calls"] < request["calls"] or time.time() < until:
        made, rate = timed_products(device, a, b, size)
        rates.append(rate)
        for one in made:
            words = device.words_of(one, form)
            if flips and flips["call"] == found["calls"]:
                device.flip(words, flips.get("position", 12345) % (size * size), flips["bit"])
            if device.differing(words, expected):
                found["wrong_calls"] += 1
                found["first_wrong"] = found["first_wrong"] or where(
                    device, words, expected, size, found["calls"]
                )
            found["calls"] += 1
        found["exact_wrong_rows"] += next(exact)
    rates.sort()
    found["tflop_s"], found["slowest_tflop_s"] = rates[len(rates) // 2], rates[0]
    return found


def exact_products(device, form, size):
    """Yield, for one product of small numbers after another, the number of rows that are wrong.

    The weighted sum of each row is worked out on the host in whole numbers: a·(b·w) = (a·b)·w. Weights
    are positive, so that one wrong value in a row cannot hide; sums in double precision are exact up to
    2**53, and keep what a flipped bit adds behind the point.
    """
    a, b = small_matrix(device, form, size, 1), small_matrix(device, form, size, 2)
    plain = Numpy()
    weights = scrambled(plain, 0, size, 5) % 65535 + 1
    own = [small_matrix(plain, "fp64", size, seed).astype(plain.np.int64) for seed in (1, 2)]
    expected = device.device((own[0] @ (own[1] @ weights)).astype(plain.np.float64))
    weights = device.device(weights.astype(plain.np.float64))
    while True:
        yield device.differing(device.row_sums(device.product(a, b), weights), expected)


def timed_products(device, a, b, size):
    """Return some products in a row, and their speed in 10^12 operations a second."""
    device.sync()
    began = time.perf_counter()
    made = [device.product(a, b) for _ in range(TIMED)]
    device.sync()
    return made, round(TIMED * 2.0 * size**3 / (time.perf_counter() - began) / 1e12, 4)


def where(device, words, expected, size, call):
    """Return the place and the changed bits of the first wrong value."""
    position, bits = device.first_difference(words, expected)
    return {
        "call": call,
        "row": position // size,
        "column": position % size,
        "bits": bits,
    }


def memory(device, request, most_bytes=None):
    """Write patterns to the memory of a device, and read all of it back before the next one."""
    device.release()
    size = int(device.free_bytes() * request["share"])
    size = size if most_bytes is None else min(size, most_bytes)
    # The comparison itself needs room for two more chunks.
    chunk = max(1, min(CHUNK, size // 256))
    chunks = [device.full(chunk, 0) for _ in range(max(1, size // (8 * chunk) - 3))]
    flip = request["flip"] if request["flip"] and request["flip"]["step"] == "memory" else None
    found = {
        "bytes": 8 * chunk * len(chunks),
        "patterns": len(PATTERNS),
        "wrong_words": 0,
        "first_wrong": None,
    }
    seconds = {"write": 0.0, "read": 0.0}
    for number, word in enumerate(PATTERNS):
        device.sync()
        began = time.perf_counter()
        for place, known in enumerate(chunks):
            known[:] = word if word is not None else device.indices(place * chunk, chunk)
        device.sync()
        seconds["write"] += time.perf_counter() - began
        if flip and flip.get("pattern", 0) == number:
            device.flip(chunks[-1], flip.get("position", 4321) % chunk, flip["bit"])
        began = time.perf_counter()
        for place, known in enumerate(chunks):
            expected = word if word is not None else device.indices(place * chunk, chunk)
            wrong = device.differing(known, expected)
            found["wrong_words"] += wrong
            if wrong and found["first_wrong"] is None:
                full = device.full(chunk, word) if word is not None else expected
                position, bits = device.first_difference(known, full)
                found["first_wrong"] = {
                    "byte": 8 * (place * chunk + position),
                    "bits": bits,
                    "pattern": number,
                }
        device.sync()
        seconds["read"] += time.perf_counter() - began
    for way, took in seconds.items():
        found[way + "_gb_s"] = round(len(PATTERNS) * found["bytes"] / max(took, 1e-9) / 1e9, 2)
    del chunks, known, expected
    device.release()
    return found


def copy(device, request):
    """Time copies between an accelerator, the host and other accelerators, in 10^9 bytes a second."""
    torch, size = device.torch, min(2**30, device.free_bytes() // 8)
    host = torch.empty(size, dtype=torch.uint8, pin_memory=True)
    own, other = (torch.empty(size, dtype=torch.uint8, device=device.place) for _ in range(2))
    found = {
        "bytes": size,
        "to_device_gb_s": copy_rate(device, own, host),
        "to_host_gb_s": copy_rate(device, host, own),
        # It is read and written.
        "on_device_gb_s": round(2 * copy_rate(device, other, own), 2),
        "to_others_gb_s": {},
    }
    for index in range(torch.cuda.device_count()):
        if index != device.index:
            there = torch.empty(size, dtype=torch.uint8, device=torch.device("cuda", index))
            found["to_others_gb_s"][str(index)] = copy_rate(device, there, own)
    del host, own, other
    device.release()
    return found


def copy_rate(device, to, source):
    """Return the median rate of five copies after one to warm up."""
    rates = []
    for _ in range(6):
        device.sync()
        began = time.perf_counter()
        to.copy_(source, non_blocking=True)
        device.sync()
        rates.append(source.numel() / (time.perf_counter() - began) / 1e9)
    return round(sorted(rates[1:])[2], 2)

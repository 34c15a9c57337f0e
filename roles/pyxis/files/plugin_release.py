"""The release of Slurm that a plugin was built against, like ``22.05``, read from its ELF file.

The plugin is not loaded: half of its symbols are in slurmd and srun only.
"""

import struct
import sys

SYMBOLS = 11  # SHT_DYNSYM


def read_release(data):
    """The release in the symbol ``plugin_version``; a message where there is none.

    Raises:
        ValueError: the file is no 64-bit little-endian ELF file, or has no such symbol.
    """
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no ELF file of this machine")
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + n * size) for n in range(count)]
    for section in sections:
        if section[1] != SYMBOLS:
            continue
        names = sections[section[6]][4]
        for place in range(section[4], section[4] + section[5], section[9]):
            name, _, _, home, value, _ = struct.unpack_from("<IBBHQQ", data, place)
            end = data.index(b"\0", names + name)
            if data[names + name : end] == b"plugin_version" and 0 < home < count:
                _, _, _, address, offset, *_ = sections[home]
                (number,) = struct.unpack_from("<I", data, offset + value - address)
                return "%d.%02d" % (number >> 16 & 0xFF, number >> 8 & 0xFF)
    raise ValueError("no plugin of Slurm: it has no plugin_version")


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        print(read_release(file.read()))

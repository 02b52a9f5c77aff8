# SPDX-License-Identifier: Apache-2.0
"""Telemetry of a balloon is read from one block of bytes; every field of every record is unpacked by its own call."""

import random
import struct

import harness

CATEGORY = "slice underutilization"
KIND = "load"
RECORD = struct.Struct("<IhhHHBB")


def flight(random_source, records):
    block = bytearray()
    height = 0
    for second in range(records):
        height = min(max(height + random_source.randrange(-3, 12), 0), 35000)
        warm = 200 - height // 50 + random_source.randrange(-5, 6)
        wind = random_source.randrange(-300, 300)
        block += RECORD.pack(second, warm, wind, 10130 - height // 4, height, 90, random_source.randrange(256))
    return bytes(block)


def summary(block):
    coldest, highest, wind_sum, flags = 1000, 0, 0, 0
    for start in range(0, len(block), RECORD.size):
        second = struct.unpack_from("<I", block, start)[0]  # waste: load
        warm = struct.unpack_from("<h", block, start + 4)[0]  # waste: load
        wind = struct.unpack_from("<h", block, start + 6)[0]  # waste: load
        pressure = struct.unpack_from("<H", block, start + 8)[0]  # waste: load
        height = struct.unpack_from("<H", block, start + 10)[0]  # waste: load
        power = struct.unpack_from("<B", block, start + 12)[0]  # waste: load
        state = struct.unpack_from("<B", block, start + 13)[0]  # waste: load
        if pressure and power > 10:
            coldest, highest = min(coldest, warm), max(highest, height)
            wind_sum += wind
            flags ^= state * second
    return coldest, highest, wind_sum, flags


def summary_fixed(block):
    coldest, highest, wind_sum, flags = 1000, 0, 0, 0
    for second, warm, wind, pressure, height, power, state in RECORD.iter_unpack(block):
        if pressure and power > 10:
            coldest, highest = min(coldest, warm), max(highest, height)
            wind_sum += wind
            flags ^= state * second
    return coldest, highest, wind_sum, flags


def work(repeats, read):
    random_source = random.Random(106)
    blocks = [flight(random_source, 10000) for _ in range(3)]
    return [read(blocks[number % 3]) for number in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, summary), lambda n: work(n, summary_fixed), repeats=540)

# SPDX-License-Identifier: Apache-2.0
"""Rows of the sliced tables of a profile, as docs/file.md says that they are packed; pieprof has no part in it."""

import math
import struct

# table: its kind, columns of the values in their order, that of the part or None, that of the squares, how many values
# are weighed
TABLES = {
    "sample": (1, ("python_ns", "native_ns", "system_ns", "samples", "runnable_ns", "wait_ns", "wait_samples", "throttled_ns"),
               "thread", "cpu_sq_ns2", 3),
    "allocated": (2, ("python_bytes", "native_bytes", "samples"), None, "sq_bytes2", 2),
    "copy": (3, ("bytes", "samples"), "estimate", "sq_bytes2", 1),
}


def take(data, at):
    """An unsigned LEB128 number, and the place behind it."""
    value = shift = 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


def expected(row, weighed):
    """What the squares are where nothing is said of them."""
    weight = sum(row[name] for name in weighed)
    return weight * weight // max(row["samples"], 1) if 0 <= weight <= 1 << 53 else 0


def leb(value):
    """An unsigned LEB128 number."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def block_of(part, node):
    return part // 4 * 262144 + node // 16384


def pack_samples(rows):
    """Rows of one block, sorted by thread and node."""
    _, names, part, squares, weighed = TABLES["sample"]
    data, next_key = bytearray([1]), 0
    for row in rows:
        key = row[part] % 4 * 16384 + row["node"] % 16384
        values = [(i, row[name]) for i, name in enumerate(names) if row[name] != int(name == "samples")]
        is_usual = row[squares] == expected(row, names[:weighed])
        flags = sum(1 << i + 1 for i, _ in values) + (0 if is_usual else 1 << len(names) + 2)
        data += leb(key - next_key) + leb(flags) + b"".join(leb(value) for _, value in values)
        data += b"" if is_usual else struct.pack("<d", row[squares])
        next_key = key + 1
    return bytes(data)


def unpack(table, block, data):
    _, names, part, squares, weighed = TABLES[table]
    assert data[0] == 1
    at, key = 1, 0
    while at < len(data):
        distance, at = take(data, at)
        flags, at = take(data, at)
        key += distance
        row = {"node": (block % 262144) * 16384 + key % 16384}
        if part:
            row[part] = block // 262144 * 4 + key // 16384
        for i, name in enumerate(names):
            row[name] = int(name == "samples")
            if flags >> i + 1 & 1:
                value, at = take(data, at)
                row[name] = value - (value >> 63 << 64)
        row[squares] = float(expected(row, names[:weighed]))
        if flags & 1:
            value, at = take(data, at)
            row[squares] = float(expected(row, names[:weighed]) + (~(value >> 1) if value & 1 else value >> 1))
        elif flags >> len(names) + 1 & 1:
            row[squares] = 0.0
        elif flags >> len(names) + 2 & 1:
            row[squares], = struct.unpack("<d", data[at:at + 8])
            at += 8
        assert math.isfinite(row[squares])
        yield row
        key += 1


def rows_of(file, table):
    """All rows of a table in an sqlite3 connection, as dicts: those that are packed, and those that are not."""
    kind = TABLES[table][0]
    plain = file.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in plain.description]
    found = [dict(zip(names, row)) for row in plain]
    for process, slice_s, block, data in file.execute("SELECT process, slice_s, block, rows FROM packed WHERE kind = ?", (kind,)):
        found.extend({"process": process, "slice_s": slice_s, **row} for row in unpack(table, block, data))
    return found

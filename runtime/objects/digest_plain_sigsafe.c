/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/digest.h"

#include "profiler/base/safe_load.h"

/* Values that lie in an object's own memory, or in bytes that it names. What the memory of other types of C means
 * nobody knows: a pointer in it leads to what may change while it does not. */

enum {
    BYTES_MAX = 48, /* of a date or a number: words, in fact, but they are as few */
    WORDS_MAX = 128,
    HASH_BYTES = sizeof(Py_hash_t), /* behind the head, and worked out when it is asked for */
    DATE_AT = sizeof(PyObject) + HASH_BYTES,
    DECIMAL_BYTES = 104,
    DECIMAL_SIGN_AND_KIND = 15, /* of its flags; the others say whose its digits are */
    DECIMAL_LEN_MAX = 1 << 20,
    ARRAY_ITEM_BYTES_MAX = 16,
};

/* As libmpdec, which _decimal is made of, has it (mpdecimal.h). */
struct decimal {
    uint8_t flags;
    int64_t exponent, digits, len, room;
    uintptr_t data;
};

/* As Modules/arraymodule.c has it. */
struct item_kind {
    char code;
    int32_t bytes;
};

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

/* --- Dates --- */

/* Has it a time zone? That is an object behind the data. */
static void add_zone(struct pie_digest *digest, uintptr_t object, size_t bytes, unsigned depth) {
    size_t zone_at = (DATE_AT + bytes + sizeof(uintptr_t) - 1) & ~(sizeof(uintptr_t) - 1);
    uint8_t has_zone;
    uintptr_t zone;

    if (!pie_safe_load_byte((const void *)(object + DATE_AT), &has_zone) ||
        (has_zone && !load(object, zone_at, &zone)))
        digest->is_broken = true;
    else if (has_zone)
        pie_digest_add_item(digest, zone, depth + 1);
}

/* Bytes that say what it is: time keeps six, datetime ten, with one before and one behind them. */
static bool add_date(struct pie_digest *digest, uintptr_t object, uintptr_t type, unsigned depth) {
    static const struct {
        const char *name;
        uint8_t bytes;
        bool may_have_zone;
    } dates[] = {{"datetime.datetime", 12, true},
                 {"datetime.date", 5, false},
                 {"datetime.timedelta", 12, false},
                 {"datetime.time", 8, true}};

    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        if (!pie_digest_is_named(type, dates[i].name))
            continue;
        pie_digest_add_bytes(digest, object + DATE_AT, dates[i].bytes, BYTES_MAX);
        digest->is_blank = false;
        if (dates[i].may_have_zone)
            add_zone(digest, object, dates[i].bytes, depth);
        return true;
    }
    return false;
}

static bool add_timezone(struct pie_digest *digest, uintptr_t object, uintptr_t type, unsigned depth) {
    uintptr_t offset;

    if (!pie_digest_is_named(type, "datetime.timezone") || !load(object, sizeof(PyObject), &offset))
        return false;
    pie_digest_add_item(digest, offset, depth + 1);
    return true;
}

/* --- Numbers --- */

/* A number of NumPy: all of it but its head. */
static bool add_scalar(struct pie_digest *digest, uintptr_t object, uintptr_t type) {
    static const struct {
        const char *name;
        uint8_t bytes, float_bytes;
    } scalars[] = {{"numpy.float64", 8, 8},  {"numpy.float32", 4, 4},     {"numpy.float16", 2, 0},
                   {"numpy.int64", 8, 0},    {"numpy.int32", 4, 0},       {"numpy.int16", 2, 0},
                   {"numpy.int8", 1, 0},     {"numpy.uint64", 8, 0},      {"numpy.uint32", 4, 0},
                   {"numpy.uint16", 2, 0},   {"numpy.uint8", 1, 0},       {"numpy.bool_", 1, 0},
                   {"numpy.bool", 1, 0},     {"numpy.complex128", 16, 8}, {"numpy.complex64", 8, 4},
                   {"numpy.longlong", 8, 0}, {"numpy.ulonglong", 8, 0}};

    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (!pie_digest_is_named(type, scalars[i].name))
            continue;
        pie_digest_add_floats(digest, object + sizeof(PyObject), scalars[i].bytes, BYTES_MAX,
                              scalars[i].float_bytes);
        return true;
    }
    return false;
}

/* One of another size has another layout. */
static bool add_decimal(struct pie_digest *digest, uintptr_t object, uintptr_t type) {
    struct decimal decimal;
    uintptr_t size;

    if (!pie_digest_is_named(type, "decimal.Decimal") ||
        !load(type, offsetof(PyTypeObject, tp_basicsize), &size) || size != DECIMAL_BYTES ||
        !pie_safe_copy(&decimal, (const void *)(object + sizeof(PyObject) + HASH_BYTES), sizeof decimal))
        return false;
    if (decimal.len < 0 || decimal.len > DECIMAL_LEN_MAX) {
        digest->is_broken = true;
        return true;
    }
    digest->is_blank = false;
    pie_digest_add_word(digest, decimal.flags & DECIMAL_SIGN_AND_KIND);
    pie_digest_add_word(digest, (uint64_t)decimal.exponent);
    pie_digest_add_bytes(digest, decimal.data, (uint64_t)decimal.len * sizeof(uintptr_t), WORDS_MAX);
    return true;
}

/* --- Bytes --- */

static bool add_array_array(struct pie_digest *digest, uintptr_t object, uintptr_t type) {
    const size_t data_at = sizeof(PyVarObject), kind_at = data_at + 2 * sizeof(uintptr_t);
    uintptr_t count, data, kind_address;
    struct item_kind kind;

    if (!pie_digest_is_named(type, "array.array") || !load(object, offsetof(PyVarObject, ob_size), &count) ||
        !load(object, data_at, &data) || !load(object, kind_at, &kind_address) ||
        !pie_safe_copy(&kind, (const void *)kind_address, sizeof kind) || kind.bytes <= 0 ||
        kind.bytes > ARRAY_ITEM_BYTES_MAX || (intptr_t)count < 0)
        return false;
    pie_digest_add_word(digest, (uint8_t)kind.code);
    pie_digest_add_bytes(digest, data, count * (uintptr_t)kind.bytes, WORDS_MAX);
    return true;
}

bool pie_digest_add_view(struct pie_digest *digest, uintptr_t view) {
    Py_buffer buffer;
    uintptr_t step;

    if (!pie_safe_copy(&buffer, (const void *)(view + offsetof(PyMemoryViewObject, view)), sizeof buffer) ||
        buffer.ndim != 1 || buffer.len < 0 || buffer.suboffsets ||
        (buffer.strides && (!load((uintptr_t)buffer.strides, 0, &step) || (intptr_t)step != buffer.itemsize)))
        return false;
    pie_digest_add_word(digest, (uint64_t)buffer.itemsize);
    pie_digest_add_bytes(digest, (uintptr_t)buffer.buf, (uint64_t)buffer.len, WORDS_MAX);
    return true;
}

bool pie_digest_add_plain(struct pie_digest *digest, uintptr_t object, uintptr_t type, unsigned depth) {
    return add_date(digest, object, type, depth) || add_timezone(digest, object, type, depth) ||
           add_scalar(digest, object, type) || add_decimal(digest, object, type) ||
           add_array_array(digest, object, type);
}

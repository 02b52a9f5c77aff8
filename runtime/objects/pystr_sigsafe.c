/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/pystr.h"

#include <string.h>

#include "profiler/base/safe_load.h"

/* Strings are kept in one of four shapes (PEP 393): compact ASCII, whose characters follow the PyASCIIObject; other
 * compact ones, whose characters follow the PyCompactUnicodeObject; and, for instances of subclasses, a PyUnicodeObject
 * with a pointer. The bit field `state` is read through a copy of the structure, because its layout differs between
 * versions. */

enum {
    REPLACEMENT = 0xfffd,
    ELLIPSIS = 0x2026,
    CHUNK_BYTES = 64,
};

/* Is the object of a type with this feature bit? */
static bool has_type_flag(uintptr_t object, unsigned long flag) {
    uintptr_t type, flags;

    return object >= 4096 && object % sizeof(uintptr_t) == 0 &&
           pie_safe_load((const void *)(object + offsetof(PyObject, ob_type)), &type) && type >= 4096 &&
           type % sizeof(uintptr_t) == 0 &&
           pie_safe_load((const void *)(type + offsetof(PyTypeObject, tp_flags)), &flags) && (flags & flag);
}

static void set_length(struct pie_pystr *string, Py_ssize_t length, uint32_t limit) {
    string->is_cut = length > (Py_ssize_t)limit;
    string->units = string->is_cut ? limit : (uint32_t)length;
}

bool pie_pystr_locate(uintptr_t object, uint32_t limit, struct pie_pystr *ret_string) {
    PyASCIIObject head;
    struct pie_pystr string = {0};

    if (!has_type_flag(object, Py_TPFLAGS_UNICODE_SUBCLASS) ||
        !pie_safe_copy(&head, (const void *)object, sizeof head) || head.length < 0)
        return false;
    string.width = (uint8_t)head.state.kind;
    string.is_ascii = head.state.ascii;
    if (string.width != 1 && string.width != 2 && string.width != 4)
        return false;
    if (!head.state.compact) {
        if (!pie_safe_load((const void *)(object + offsetof(PyUnicodeObject, data)), &string.data) ||
            !string.data)
            return false;
    } else {
        string.data = object + (head.state.ascii ? sizeof(PyASCIIObject) : sizeof(PyCompactUnicodeObject));
    }
    set_length(&string, head.length, limit);
    *ret_string = string;
    return true;
}

bool pie_pystr_locate_bytes(uintptr_t object, uint32_t limit, struct pie_pystr *ret_string) {
    struct pie_pystr string = {.data = object + offsetof(PyBytesObject, ob_sval), .width = 1};
    uintptr_t length;

    if (!has_type_flag(object, Py_TPFLAGS_BYTES_SUBCLASS) ||
        !pie_safe_load((const void *)(object + offsetof(PyVarObject, ob_size)), &length) ||
        (Py_ssize_t)length < 0)
        return false;
    set_length(&string, (Py_ssize_t)length, limit);
    *ret_string = string;
    return true;
}

bool pie_pystr_is(const struct pie_pystr *string, const char *text) {
    char found[PIE_PYSTR_IS_BYTES_MAX];
    size_t size = strlen(text);

    return string->is_ascii && string->units == size && size <= sizeof found &&
           pie_safe_copy(found, (const void *)string->data, size) && memcmp(found, text, size) == 0;
}

/* Encodes one character; returns the number of bytes. dst may be NULL. */
static size_t encode(uint32_t c, char *dst) {
    char bytes[4];
    size_t n;

    if (c == 0 || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
        c = REPLACEMENT;
    if (c < 0x80) {
        bytes[0] = (char)c;
        n = 1;
    } else if (c < 0x800) {
        bytes[0] = (char)(0xc0 | c >> 6);
        bytes[1] = (char)(0x80 | (c & 63));
        n = 2;
    } else if (c < 0x10000) {
        bytes[0] = (char)(0xe0 | c >> 12);
        bytes[1] = (char)(0x80 | (c >> 6 & 63));
        bytes[2] = (char)(0x80 | (c & 63));
        n = 3;
    } else {
        bytes[0] = (char)(0xf0 | c >> 18);
        bytes[1] = (char)(0x80 | (c >> 12 & 63));
        bytes[2] = (char)(0x80 | (c >> 6 & 63));
        bytes[3] = (char)(0x80 | (c & 63));
        n = 4;
    }
    if (dst)
        memcpy(dst, bytes, n);
    return n;
}

/* The same; nearly every character is one of ASCII. */
static inline size_t put(uint32_t c, char *dst) {
    if (c - 1 >= 0x7f)
        return encode(c, dst);
    if (dst)
        *dst = (char)c;
    return 1;
}

static uint32_t unit_at(const char *chunk, size_t i, uint8_t width) {
    uint16_t half;
    uint32_t full;

    if (width == 1)
        return (unsigned char)chunk[i];
    if (width == 2) {
        memcpy(&half, chunk + 2 * i, sizeof half);
        return half;
    }
    memcpy(&full, chunk + 4 * i, sizeof full);
    return full;
}

size_t pie_pystr_to_utf8(const struct pie_pystr *string, char *dst) {
    char chunk[CHUNK_BYTES];
    size_t per_chunk = sizeof chunk / string->width;
    size_t length = 0;

    for (size_t done = 0; done < string->units; done += per_chunk) {
        size_t part = string->units - done < per_chunk ? string->units - done : per_chunk;

        if (!pie_safe_copy(chunk, (const void *)(string->data + done * string->width), part * string->width))
            return SIZE_MAX;
        for (size_t i = 0; i < part; i++)
            length += put(unit_at(chunk, i, string->width), dst ? dst + length : NULL);
    }
    if (string->is_cut)
        length += encode(ELLIPSIS, dst ? dst + length : NULL);
    if (dst)
        dst[length] = '\0';
    return length;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25); /* the multiplier of rrmxmx (P. Evensen) */
    return hash ^ hash >> 32;
}

bool pie_pystr_hash(uint64_t *hash, uintptr_t address, size_t size) {
    uint64_t h = mix(*hash, size);

    for (size_t done = 0; done < size; done += sizeof h) {
        uint64_t word = 0;

        if (!pie_safe_copy(&word, (const void *)(address + done),
                           size - done < sizeof word ? size - done : sizeof word))
            return false;
        h = mix(h, word);
    }
    *hash = h;
    return true;
}

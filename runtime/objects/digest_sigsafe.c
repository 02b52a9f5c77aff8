/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/digest.h"

#include <string.h>

#include "profiler/base/hash.h"
#include "profiler/base/safe_load.h"
#include "runtime/objects/kind.h"
#include "runtime/objects/pystr.h"
#include "runtime/objects/value.h"

/* Types are known by their addresses, so a subclass, whose instances may have a state of their own, is never taken for
 * its base. Types of libraries are known by their names. */

enum {
    LOADS_MAX = 1024, /* of a whole digest: some microseconds with cold caches */
    DEPTH_MAX = 4,
    TEXT_WORDS_MAX = 128, /* of a str or bytes: 1 KiB is read in full */
    DATA_WORDS_MAX = 256, /* of the data of an array */
    ITEMS_MAX = 16,       /* of a tuple or list */
    POINTERS_MAX = 128,   /* of a longer list, which are compared by address */
    STATE_WORDS_MAX = 8,  /* of any other object */
    NAME_BYTES = 24,
    VARIETY_SHIFT = 58, /* a hash's six upper bits */
    DIGIT_BYTES = 4,
    INT_DIGITS_MAX = 1 << 24, /* more is hardly an int */
};

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

void pie_digest_begin(struct pie_digest *digest) {
    *digest = (struct pie_digest){.content = 1,
                                  .state = 1,
                                  .loads_left = LOADS_MAX,
                                  .data_words_max = DATA_WORDS_MAX,
                                  .is_blank = true};
}

void pie_digest_add_word(struct pie_digest *digest, uint64_t word) {
    digest->content = pie_hash_mix(digest->content, word);
}

bool pie_digest_is_all_content(const struct pie_digest *digest) {
    return digest->state == 1;
}

void pie_digest_add_state(struct pie_digest *digest, uint64_t word) {
    digest->state = pie_hash_mix(digest->state, word);
}

/* False: the budget is used up, so what is left out may differ. */
static bool take(struct pie_digest *digest) {
    if (digest->loads_left == 0) {
        digest->traits |= PIE_DIGEST_SAMPLED;
        return false;
    }
    digest->loads_left--;
    return true;
}

static void break_off(struct pie_digest *digest) {
    digest->is_broken = true;
}

static uint64_t variety_of(uint64_t word) {
    return UINT64_C(1) << (pie_hash_upper(word) >> VARIETY_SHIFT);
}

/* A word of the value itself, where the ones above may be its type or size. */
static void add_data(struct pie_digest *digest, uint64_t word) {
    digest->is_blank = digest->is_blank && word == 0;
    digest->variety |= variety_of(word);
    if (digest->float_bytes)
        pie_digest_add_float_word(digest, word);
    else
        pie_digest_add_word(digest, word);
}

/* The last bytes, fewer than a word. */
static void add_tail(struct pie_digest *digest, uintptr_t address, size_t bytes) {
    uintptr_t word = 0;

    if (bytes == 0)
        return;
    if (!pie_safe_copy(&word, (const void *)address, bytes)) {
        break_off(digest);
        return;
    }
    add_data(digest, word);
}

/* How many of these words the budget leaves. */
static uint64_t take_words(struct pie_digest *digest, uint64_t words, uint64_t words_max) {
    uint64_t seen = words < words_max ? words : words_max;

    if (seen > digest->loads_left)
        seen = digest->loads_left;
    digest->loads_left -= (uint32_t)seen;
    if (seen < words)
        digest->traits |= PIE_DIGEST_SAMPLED;
    return seen;
}

/* Words evenly spread, the i-th of `seen` at i * (words - 1) / (seen - 1), rounded down. This is most of the work for
 * an array, so the division is left out, and the digest is kept in registers. */
static void add_words(struct pie_digest *digest, uintptr_t address, uint64_t words, uint64_t seen) {
    uint64_t gaps = seen > 1 ? seen - 1 : 1, step = (words - 1) / gaps, rest = (words - 1) % gaps, carry = 0;
    uint64_t content = digest->content, variety = 0, any = 0;

    for (uint64_t i = 0; i < seen; i++) {
        uintptr_t word;
        if (!load(address, 0, &word)) {
            break_off(digest);
            return;
        }
        any |= word;
        variety |= variety_of(word);
        if (digest->float_bytes)
            pie_digest_add_float_word(digest, word);
        else
            content = pie_hash_mix(content, word);
        carry += rest;
        address += (step + (carry >= gaps)) * sizeof word;
        carry -= carry >= gaps ? gaps : 0;
    }
    if (!digest->float_bytes)
        digest->content = content;
    digest->variety |= variety;
    digest->is_blank = digest->is_blank && any == 0;
}

void pie_digest_add_bytes(struct pie_digest *digest, uintptr_t address, uint64_t bytes, uint32_t words_max) {
    uint64_t words = bytes / sizeof(uintptr_t);

    pie_digest_add_word(digest, bytes);
    if (words)
        add_words(digest, address, words, take_words(digest, words, words_max));
    add_tail(digest, address + words * sizeof(uintptr_t), bytes % sizeof(uintptr_t));
}

bool pie_digest_is_named(uintptr_t type, const char *name) {
    size_t size = strlen(name) + 1;
    char found[NAME_BYTES];
    uintptr_t at;
    uint8_t first;

    return size <= sizeof found && load(type, offsetof(PyTypeObject, tp_name), &at) && at &&
           pie_safe_load_byte((const void *)at, &first) && first == (uint8_t)name[0] &&
           pie_safe_copy(found, (const void *)at, size) && memcmp(found, name, size) == 0;
}

/* --- One value --- */

/* How many digits, of the word behind an int's head: up to 3.11 the number with the sign of the int, from 3.12 on three
 * bits of flags below it. */
static size_t digits_of(uintptr_t word) {
#if PY_VERSION_HEX >= 0x030c0000
    return word >> 3;
#else
    return (intptr_t)word < 0 ? 0 - word : word;
#endif
}

static void add_int(struct pie_digest *digest, uintptr_t object) {
    const size_t digits_at = sizeof(PyObject) + sizeof(uintptr_t);
    uintptr_t word;

    if (!load(object, sizeof(PyObject), &word) || digits_of(word) > INT_DIGITS_MAX) {
        break_off(digest);
        return;
    }
    pie_digest_add_word(digest, word);
    pie_digest_add_bytes(digest, object + digits_at, digits_of(word) * DIGIT_BYTES, TEXT_WORDS_MAX);
}

static void add_text(struct pie_digest *digest, uintptr_t object, bool is_str) {
    struct pie_pystr text;

    if (!(is_str ? pie_pystr_locate : pie_pystr_locate_bytes)(object, UINT32_MAX, &text)) {
        break_off(digest);
        return;
    }
    pie_digest_add_word(digest, text.width);
    pie_digest_add_bytes(digest, text.data, pie_pystr_size(&text), TEXT_WORDS_MAX);
    if (text.is_cut)
        digest->traits |= PIE_DIGEST_SAMPLED;
}

static void add_bytearray(struct pie_digest *digest, uintptr_t object) {
    uintptr_t size, start;

    if (!load(object, offsetof(PyVarObject, ob_size), &size) ||
        !load(object, offsetof(PyByteArrayObject, ob_start), &start) || (intptr_t)size < 0) {
        break_off(digest);
        return;
    }
    pie_digest_add_bytes(digest, start, size, TEXT_WORDS_MAX);
}

/* --- Several --- */

static void add_items(struct pie_digest *digest, uintptr_t items, uintptr_t count, unsigned depth) {
    uintptr_t seen = count < ITEMS_MAX ? count : ITEMS_MAX, item;

    pie_digest_add_word(digest, count);
    for (uintptr_t i = 0; i < seen && take(digest); i++) {
        uintptr_t at = seen < count ? i * (count - 1) / (seen - 1) : i;
        if (!load(items, at * sizeof item, &item)) {
            break_off(digest);
            return;
        }
        pie_digest_add_item(digest, item, depth + 1);
    }
    if (seen == count)
        return;
    digest->traits |= PIE_DIGEST_SAMPLED;
    for (uintptr_t i = 0; i < POINTERS_MAX && i < count && take(digest); i++) {
        uintptr_t step = count < POINTERS_MAX ? 1 : count / POINTERS_MAX;
        if (load(items, i * step * sizeof item, &item))
            pie_digest_add_state(digest, item);
    }
}

static void add_sequence(struct pie_digest *digest, uintptr_t object, bool is_tuple, unsigned depth) {
    uintptr_t count, items = object + offsetof(PyTupleObject, ob_item);

    if (!load(object, offsetof(PyVarObject, ob_size), &count) || (intptr_t)count < 0 ||
        (!is_tuple && !load(object, offsetof(PyListObject, ob_item), &items))) {
        break_off(digest);
        return;
    }
    add_items(digest, items, count, depth);
}

static void add_slice(struct pie_digest *digest, uintptr_t object, unsigned depth) {
    uintptr_t part;

    for (size_t i = 0; i < 3; i++) {
        if (!load(object, offsetof(PySliceObject, start) + i * sizeof part, &part)) {
            break_off(digest);
            return;
        }
        pie_digest_add_item(digest, part, depth + 1);
    }
}

/* --- All else --- */

static void add_state_words(struct pie_digest *digest, uintptr_t object, uintptr_t type) {
    uintptr_t size, word;

    if (!load(type, offsetof(PyTypeObject, tp_basicsize), &size))
        return;
    for (size_t i = sizeof(PyObject) / sizeof word; i < size / sizeof word; i++) {
        if (i >= sizeof(PyObject) / sizeof word + STATE_WORDS_MAX || !take(digest))
            break;
        if (load(object, i * sizeof word, &word))
            pie_digest_add_state(digest, word);
    }
}

/* Never changes, so being the same object is being the same value; another one may be equal all the same. */
static bool is_constant(uintptr_t type) {
    static const char *const names[] = {
        "re.Pattern",          "re.Match",       "zoneinfo.ZoneInfo", "operator.itemgetter",
        "operator.attrgetter", "_struct.Struct", "lxml.etree.XPath"};

    if (type == (uintptr_t)&PyCode_Type || type == (uintptr_t)&PyRange_Type)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pie_digest_is_named(type, names[i]))
            return true;
    return false;
}

static void add_opaque(struct pie_digest *digest, uintptr_t object, uintptr_t type) {
    pie_digest_add_word(digest, type);
    pie_digest_add_state(digest, object);
    digest->is_blank = false;
    digest->is_unread = true;
    if (is_constant(type))
        return;
    digest->traits |= PIE_DIGEST_OPAQUE;
    add_state_words(digest, object, type);
}

static bool is_single(uintptr_t object, uintptr_t type) {
    return object == (uintptr_t)Py_None || type == (uintptr_t)&PyEllipsis_Type ||
           object == (uintptr_t)Py_NotImplemented || type == (uintptr_t)&PyModule_Type ||
           type == (uintptr_t)&PyFunction_Type;
}

/* False: its type is none of Python's whose values can be read. */
static bool add_builtin(struct pie_digest *digest, uintptr_t object, uintptr_t type, unsigned depth) {
    if (type == (uintptr_t)&PyLong_Type || type == (uintptr_t)&PyBool_Type)
        add_int(digest, object);
    else if (type == (uintptr_t)&PyFloat_Type)
        pie_digest_add_floats(digest, object + offsetof(PyFloatObject, ob_fval), sizeof(double), 1,
                              sizeof(double));
    else if (type == (uintptr_t)&PyComplex_Type)
        pie_digest_add_floats(digest, object + offsetof(PyComplexObject, cval), sizeof(Py_complex), 2,
                              sizeof(double));
    else if (type == (uintptr_t)&PyUnicode_Type || type == (uintptr_t)&PyBytes_Type)
        add_text(digest, object, type == (uintptr_t)&PyUnicode_Type);
    else if (type == (uintptr_t)&PyByteArray_Type)
        add_bytearray(digest, object);
    else if (type == (uintptr_t)&PyTuple_Type || type == (uintptr_t)&PyList_Type)
        add_sequence(digest, object, type == (uintptr_t)&PyTuple_Type, depth);
    else if (type == (uintptr_t)&PyDict_Type)
        pie_digest_add_dict(digest, object, depth);
    else if (type == (uintptr_t)&PySet_Type || type == (uintptr_t)&PyFrozenSet_Type)
        pie_digest_add_set(digest, object, depth);
    else if (type == (uintptr_t)&PyMemoryView_Type)
        return pie_digest_add_view(digest, object);
    else if (type == (uintptr_t)&PySlice_Type)
        add_slice(digest, object, depth);
    else
        return false;
    return true;
}

/* False: its type is of no library whose values can be read. */
static bool add_of_library(struct pie_digest *digest, uintptr_t object, uintptr_t type,
                           enum pie_object_kind kind, unsigned depth) {
    uintptr_t low, high;

    if (kind == PIE_OBJECT_ARRAY)
        return pie_digest_add_array(digest, object);
    if (pie_digest_add_plain(digest, object, type, depth))
        return true;
    if (!pie_object_tensor_data(object, type, &low, &high))
        return false;
    pie_digest_add_bytes(digest, low, high - low, digest->data_words_max);
    return true;
}

/* Has it one reference, or does Python share such objects? */
static bool is_fresh(uintptr_t object, uintptr_t type) {
    return type == (uintptr_t)&PyLong_Type || type == (uintptr_t)&PyBool_Type ||
           type == (uintptr_t)&PyUnicode_Type || pie_object_is_new(object);
}

void pie_digest_add_item(struct pie_digest *digest, uintptr_t object, unsigned depth) {
    enum pie_object_kind kind = pie_object_kind_at(object);
    uintptr_t type;

    if (digest->is_broken || kind == PIE_OBJECT_NONE || !load(object, offsetof(PyObject, ob_type), &type)) {
        break_off(digest);
        return;
    }
    if (kind == PIE_OBJECT_TYPE || kind == PIE_OBJECT_DTYPE || is_single(object, type)) {
        digest->is_blank = digest->is_blank && object == (uintptr_t)Py_None;
        pie_digest_add_word(digest, object);
        return;
    }
    digest->has_kept = digest->has_kept || (depth > 0 && !is_fresh(object, type));
    if (depth > DEPTH_MAX) {
        add_opaque(digest, object, type);
        return;
    }
    pie_digest_add_word(digest, type);
    if (!add_builtin(digest, object, type, depth) && !add_of_library(digest, object, type, kind, depth))
        add_opaque(digest, object, type);
}

void pie_digest_add(struct pie_digest *digest, uintptr_t object) {
    pie_digest_add_item(digest, object, 0);
}

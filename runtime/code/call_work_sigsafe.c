/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/code/call_read.h"

#include <opcode.h>
#include <stddef.h>
#include <string.h>

#include "profiler/base/hash.h"
#include "profiler/base/safe_load.h"
#include "runtime/code/items.h"
#include "runtime/objects/digest.h"
#include "runtime/objects/kind.h"
#include "runtime/objects/pystr.h"

/* Types and modules of the interpreter's own are known by their names. Their structures have been the same from 3.11
 * on; what is read of them is checked, as all that a handler finds on an evaluation stack. */

enum {
    CHOICE_MIN = 32,
    FIRST_ITEMS = 8,
    TEXT_MIN = 256,
    ROUNDS_MIN = 16,
    SLOTS_MAX = 4, /* of the evaluation stack, that a round of a fold may use */
    NAME_BYTES = 16,
    FORMAT_UNITS = 4,
};

/* Of itertools.islice. */
struct islice {
    PyObject head;
    uintptr_t iterator;
    Py_ssize_t next, stop, step, count;
};

/* Of struct.Struct. */
struct format {
    PyObject head;
    Py_ssize_t bytes, fields;
};

/* Of a range's iterator. Only 3.11 keeps how many rounds it began with; later ones say how many are left. */
enum { SAYS_ALL_ROUNDS = PY_VERSION_HEX < 0x030c0000 };
struct range_iterator {
    PyObject head;
#if PY_VERSION_HEX < 0x030c0000
    long index;
#endif
    long start, step, rounds;
};

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

/* What is called: a function of a module, both by their names, or a method of a type. */
struct callee {
    char module[NAME_BYTES], name[NAME_BYTES]; /* "": none, or longer than any that is looked for */
    uintptr_t owner;                           /* 0: no method */
};

/* A name with its end; "" if it is longer or unreadable. */
static void read_name(uintptr_t at, char ret_name[NAME_BYTES]) {
    for (size_t i = 0; i < NAME_BYTES; i++) {
        if (!pie_safe_load_byte((const void *)(at + i), (uint8_t *)&ret_name[i]))
            break;
        if (!ret_name[i])
            return;
    }
    ret_name[0] = '\0';
}

static void read_function(uintptr_t callable, struct callee *ret_callee) {
    uintptr_t method, at, module;
    struct pie_pystr text;

    if (!load(callable, offsetof(PyCFunctionObject, m_ml), &method) ||
        !load(method, offsetof(PyMethodDef, ml_name), &at) ||
        !load(callable, offsetof(PyCFunctionObject, m_module), &module) ||
        !pie_pystr_locate(module, NAME_BYTES, &text) || text.width != 1)
        return;
    read_name(at, ret_callee->name);
    read_name(text.data, ret_callee->module);
}

static struct callee callee_of(uintptr_t callable) {
    struct callee callee = {.owner = 0};
    uintptr_t type;

    if (!pie_object_type_at(callable, &type))
        return callee;
    if (type == (uintptr_t)&PyCFunction_Type)
        read_function(callable, &callee);
    else if (type == (uintptr_t)&PyMethodDescr_Type &&
             !load(callable, offsetof(PyDescrObject, d_type), &callee.owner))
        callee.owner = 0;
    return callee;
}

static bool is_function(const struct callee *callee, const char *module, const char *name) {
    return strcmp(callee->name, name) == 0 && strcmp(callee->module, module) == 0;
}

/* A method of a type, which is known by its full name. */
static bool is_method_of(const struct callee *callee, const char *type_name) {
    return callee->owner && pie_digest_is_named(callee->owner, type_name);
}

/* --- min(), max(), sorted() of all that waits --- */

static bool find_items(uintptr_t object, struct pie_items *ret_items, uintptr_t *ret_count) {
    uintptr_t type, mask;

    if (!pie_object_type_at(object, &type))
        return false;
    if (type == (uintptr_t)&PyList_Type) {
        *ret_items = (struct pie_items){.slot_words = 1};
        return load(object, offsetof(PyVarObject, ob_size), ret_count) &&
               load(object, offsetof(PyListObject, ob_item), &ret_items->address) &&
               (ret_items->slots = *ret_count, true);
    }
    *ret_items = (struct pie_items){.slot_words = sizeof(setentry) / sizeof mask};
    return type == (uintptr_t)&PySet_Type && load(object, offsetof(PySetObject, used), ret_count) &&
           load(object, offsetof(PySetObject, mask), &mask) &&
           load(object, offsetof(PySetObject, table), &ret_items->address) &&
           (ret_items->slots = mask + 1, true);
}

/* Where some items come and go, the beginning is mostly the same. */
static bool note_items(const struct pie_items *items, struct pie_call_read *read) {
    struct pie_items_sketch sketch;
    uintptr_t item;

    for (uint64_t i = 0; i < items->slots && i < FIRST_ITEMS; i++) {
        if (!load(items->address, i * items->slot_words * sizeof item, &item))
            return false;
        read->rest = pie_hash_mix(read->rest, item);
    }
    if (!pie_items_sketch_take(items, &sketch))
        return false;
    read->beginning = sketch.least;
    read->beginning_up = sketch.sum;
    return true;
}

/* min(a, b) has two of them. */
static bool is_choice(const struct pie_call_arguments *arguments, const struct callee *callee) {
    uintptr_t type;

    if (!is_function(callee, "builtins", "min") && !is_function(callee, "builtins", "max") &&
        !is_function(callee, "builtins", "sorted"))
        return false;
    return arguments->count <= 1 || (pie_object_type_at(arguments->objects[1], &type) &&
                                     type != (uintptr_t)&PyList_Type && type != (uintptr_t)&PySet_Type);
}

/* The iterator of min() and max() has it, too. */
static bool is_kept(uintptr_t object, bool is_borrowed, const struct callee *callee) {
    uintptr_t count;

    return is_borrowed || (pie_object_references(object, &count) &&
                           count > (is_function(callee, "builtins", "sorted") ? 1u : 2u));
}

/* What only its call has is read as any argument. */
static bool note_choice(uintptr_t object, bool is_borrowed, const struct callee *callee,
                        struct pie_call_read *read) {
    struct pie_items items;
    uintptr_t count;

    if (!find_items(object, &items, &count) || !is_kept(object, is_borrowed, callee) || count < CHOICE_MIN ||
        items.slots > UINT32_MAX || !note_items(&items, read))
        return false;
    read->kind = PIE_READ_CHOICE;
    read->object = object;
    read->size = count;
    return true;
}

/* --- Patterns --- */

static bool note_pattern(const struct pie_call_arguments *arguments, struct pie_call_read *read) {
    struct pie_call_read each = {.kind = PIE_READ_NONE};

    for (uint32_t i = 1; i < arguments->count; i++)
        if (pie_read_note_value(arguments->objects[i], TEXT_MIN, &each) && each.size > read->size) {
            *read = each;
            read->kind = PIE_READ_PATTERN;
            read->object = arguments->objects[i];
            read->rest = arguments->objects[0];
        }
    return read->kind == PIE_READ_PATTERN;
}

/* --- islice() --- */

static bool ends_with(uintptr_t type, const char *end) {
    char text[40];
    uintptr_t at;

    if (!load(type, offsetof(PyTypeObject, tp_name), &at) ||
        !pie_safe_copy(text, (const void *)at, sizeof text))
        return false;
    size_t length = strnlen(text, sizeof text), bytes = strlen(end);
    return length < sizeof text && length >= bytes && memcmp(text + length - bytes, end, bytes) == 0;
}

/* Is the iterator one of a container, which nobody else goes on with? */
static bool is_made_for_it(uintptr_t iterator) {
    uintptr_t type;

    return pie_object_type_at(iterator, &type) && ends_with(type, "iterator") && pie_object_is_new(iterator);
}

static bool note_skip(uintptr_t object, struct pie_call_read *read) {
    struct islice slice;
    uintptr_t type;

    if (!pie_object_type_at(object, &type) || !pie_digest_is_named(type, "itertools.islice") ||
        !pie_safe_copy(&slice, (const void *)object, sizeof slice) || slice.next < 0 || slice.count < 0 ||
        !is_made_for_it(slice.iterator))
        return false;
    bool is_skipping = slice.count < slice.next && slice.next - slice.count > slice.step;
    *read = (struct pie_call_read){.kind = PIE_READ_SKIP,
                                   .object = slice.iterator,
                                   .size = is_skipping ? (uint64_t)slice.next : 0,
                                   .saying = is_skipping ? PIE_READ_SAYS_YES : PIE_READ_SAYS_NO};
    return true;
}

/* --- One thing at a time --- */

static bool is_one_number(const char *format, uint32_t length) {
    uint32_t at = length > 0 && strchr("@=<>!", format[0]) != NULL;

    return at + 1 == length && strchr("bBhHiIlLqQnNefd?", format[at]) != NULL;
}

/* Does a format of struct, or a Struct, have one number only? */
static bool has_one_field(uintptr_t format, bool *ret_has_one) {
    struct format known;
    struct pie_pystr text;
    char units[FORMAT_UNITS] = {0};
    uintptr_t type;

    if (!pie_object_type_at(format, &type))
        return false;
    if (pie_digest_is_named(type, "_struct.Struct") || pie_digest_is_named(type, "Struct")) {
        *ret_has_one = pie_safe_copy(&known, (const void *)format, sizeof known) && known.fields == 1;
        return true;
    }
    if (!(type == (uintptr_t)&PyUnicode_Type ? pie_pystr_locate
                                             : pie_pystr_locate_bytes)(format, FORMAT_UNITS, &text) ||
        text.width != 1 || !pie_safe_copy(units, (const void *)text.data, text.units))
        return false;
    *ret_has_one = !text.is_cut && is_one_number(units, text.units);
    return true;
}

static bool is_unpacking(const struct callee *callee) {
    return is_function(callee, "_struct", "unpack_from") || is_function(callee, "_struct", "unpack") ||
           is_method_of(callee, "_struct.Struct") || is_method_of(callee, "Struct");
}

static bool note_field(const struct pie_call_arguments *arguments, struct pie_call_read *read) {
    bool has_one;

    if (!has_one_field(arguments->objects[0], &has_one))
        return false;
    read->kind = PIE_READ_FIELD;
    read->size = 1;
    read->saying = has_one ? PIE_READ_SAYS_YES : PIE_READ_SAYS_NO;
    return true;
}

static bool note_reader(uintptr_t lines, struct pie_call_read *read) {
    uintptr_t type, count = 0;

    if (!pie_object_type_at(lines, &type))
        return false;
    bool is_sequence = type == (uintptr_t)&PyList_Type || type == (uintptr_t)&PyTuple_Type;
    if (is_sequence && !load(lines, offsetof(PyVarObject, ob_size), &count))
        return false;
    read->kind = PIE_READ_READER;
    read->size = count;
    read->saying = is_sequence && count == 1 ? PIE_READ_SAYS_YES : PIE_READ_SAYS_NO;
    return true;
}

bool pie_read_note_work(const struct pie_call_arguments *arguments, uintptr_t callable, bool is_borrowed,
                        struct pie_call_read *read) {
    const struct callee callee = callee_of(callable);

    if (is_choice(arguments, &callee))
        return note_choice(arguments->objects[0], is_borrowed, &callee, read);
    if (arguments->count >= 2 && is_method_of(&callee, "re.Pattern"))
        return note_pattern(arguments, read);
    if (arguments->count >= 2 && is_unpacking(&callee))
        return note_field(arguments, read);
    if (is_function(&callee, "_csv", "reader"))
        return note_reader(arguments->objects[0], read);
    for (uint32_t i = 0; i < arguments->count; i++)
        if (note_skip(arguments->objects[i], read))
            return true;
    return false;
}

/* --- Operators --- */

/* += of a list takes no copy. */
bool pie_read_note_join(const struct pie_call_arguments *operands, uintptr_t instr,
                        struct pie_call_read *read) {
    uintptr_t type, other;
    uint8_t argument;

    if (!pie_safe_load_byte((const void *)(instr + 1), &argument) ||
        !pie_object_type_at(operands->objects[0], &type) ||
        !pie_object_type_at(operands->objects[1], &other) || type != other ||
        !(type == (uintptr_t)&PyTuple_Type ? argument == NB_ADD || argument == NB_INPLACE_ADD
                                           : type == (uintptr_t)&PyList_Type && argument == NB_ADD) ||
        !pie_read_note_value(operands->objects[0], 2 * TEXT_MIN, read))
        return false;
    read->kind = PIE_READ_JOIN;
    read->object = operands->objects[0];
    return true;
}

/* Rounds of the range whose iterator lies below a[i]; false: there is none. */
static bool find_rounds_below(uintptr_t at, uint64_t *ret_rounds) {
    uintptr_t object, type;

    for (unsigned i = 1; i <= SLOTS_MAX; i++) {
        if (!pie_call_slot_read(at - i * sizeof at, &object))
            return false;
        if (pie_object_type_at(object, &type) && type == (uintptr_t)&PyRangeIter_Type)
            return load(object, offsetof(struct range_iterator, rounds), ret_rounds);
    }
    return false;
}

static bool has_call_for_many(uintptr_t type) {
    return type == (uintptr_t)&PyUnicode_Type || type == (uintptr_t)&PyBytes_Type ||
           type == (uintptr_t)&PyList_Type || type == (uintptr_t)&PyTuple_Type ||
           type == (uintptr_t)&PyByteArray_Type || type == (uintptr_t)&PyMemoryView_Type ||
           pie_digest_is_named(type, "array.array");
}

static bool is_number(uintptr_t type) {
    return type == (uintptr_t)&PyLong_Type || type == (uintptr_t)&PyFloat_Type;
}

void pie_read_note_fold(uintptr_t container, uintptr_t at, struct pie_call_read *read) {
    uintptr_t type;

    *read = (struct pie_call_read){.kind = PIE_READ_FOLD};
    if (!container || !pie_object_type_at(container, &type) || is_number(type))
        return; /* the element lies there already */
    read->object = container;
    read->saying = PIE_READ_SAYS_NO;
    if (!find_rounds_below(at, &read->size) || !has_call_for_many(type))
        return;
    if (read->size >= ROUNDS_MIN)
        read->saying = PIE_READ_SAYS_YES;
    else if (!SAYS_ALL_ROUNDS)
        read->saying = PIE_READ_SAYS_NOTHING; /* a long range ends like a short one */
}

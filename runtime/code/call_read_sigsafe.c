/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/code/call_read.h"

#include <string.h>

#include "profiler/base/hash.h"
#include "profiler/base/safe_load.h"
#include "runtime/code/items.h"
#include "runtime/code/pyops.h"
#include "runtime/objects/digest.h"
#include "runtime/objects/kind.h"
#include "runtime/objects/pystr.h"
#include "runtime/objects/value.h"

/* What the call at work reads: a list or tuple that is searched for an item, else its longest argument. The slots of
 * the evaluation stack hold the call's arguments until the loop goes on, those of an operator too, although it has
 * taken them. A sample at another moment of such an instruction may find what lay there before: each address is looked
 * at as if it might be anything.
 *
 * Values are not compared in full. The digest of a beginning has the first words and single ones at twice the distance
 * each, so that it costs some twenty loads, and a longer value is compared with a shorter one by what both have. */

enum {
    BYTES_MIN = 512,
    ITEMS_MIN = 32,
    FIRST_WORDS = 8,
    NAME_BYTES = 8,
};

/* Where a value's words lie: the data, or the addresses of the items. */
struct span {
    uintptr_t address;
    uint64_t bytes;
};

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

/* --- How long is it, and where? --- */

static bool span_of_items(uintptr_t object, bool is_tuple, struct span *ret_span) {
    uintptr_t count, items = object + offsetof(PyTupleObject, ob_item);

    if (!load(object, offsetof(PyVarObject, ob_size), &count) || (intptr_t)count < 0 ||
        (!is_tuple && !load(object, offsetof(PyListObject, ob_item), &items)))
        return false;
    *ret_span = (struct span){items, count * sizeof count};
    return true;
}

static bool span_of_text(uintptr_t object, bool is_str, struct span *ret_span) {
    struct pie_pystr text;

    if (!(is_str ? pie_pystr_locate : pie_pystr_locate_bytes)(object, UINT32_MAX, &text))
        return false;
    *ret_span = (struct span){text.data, pie_pystr_size(&text)};
    return true;
}

static bool span_of_bytearray(uintptr_t object, struct span *ret_span) {
    uintptr_t size, start;

    if (!load(object, offsetof(PyVarObject, ob_size), &size) || (intptr_t)size < 0 ||
        !load(object, offsetof(PyByteArrayObject, ob_start), &start))
        return false;
    *ret_span = (struct span){start, size};
    return true;
}

/* Of a view with gaps only the place would be known. */
static bool span_of_array(uintptr_t object, struct span *ret_span) {
    struct pie_array_layout layout;

    if (!pie_object_array_layout(object, &layout) || !layout.is_dense)
        return false;
    *ret_span = (struct span){layout.data, layout.count * layout.element_bytes};
    return true;
}

static bool span_of(uintptr_t object, uintptr_t type, struct span *ret_span) {
    uintptr_t low, high;

    if (type == (uintptr_t)&PyList_Type || type == (uintptr_t)&PyTuple_Type)
        return span_of_items(object, type == (uintptr_t)&PyTuple_Type, ret_span);
    if (type == (uintptr_t)&PyUnicode_Type || type == (uintptr_t)&PyBytes_Type)
        return span_of_text(object, type == (uintptr_t)&PyUnicode_Type, ret_span);
    if (type == (uintptr_t)&PyByteArray_Type)
        return span_of_bytearray(object, ret_span);
    if (pie_object_kind_at(object) == PIE_OBJECT_ARRAY)
        return span_of_array(object, ret_span);
    if (!pie_object_tensor_data(object, type, &low, &high))
        return false;
    *ret_span = (struct span){low, high - low};
    return true;
}

/* --- How does it begin? --- */

static unsigned octave_of(uint64_t words) {
    return words ? 63 - (unsigned)__builtin_clzll(words) : 0;
}

/* False: unreadable. beginning has words up to below an octave, beginning_up those up to the one below. */
static bool note_beginning(const struct span *span, struct pie_call_read *read) {
    uint64_t hash = 1;
    uintptr_t word;

    read->octave = (uint8_t)octave_of(span->bytes / sizeof word);
    for (uint64_t i = 0; i < FIRST_WORDS; i++) {
        if (!load(span->address, i * sizeof word, &word))
            return false;
        hash = pie_hash_mix(hash, word);
    }
    read->beginning_up = hash;
    for (unsigned octave = octave_of(FIRST_WORDS); octave < read->octave; octave++) {
        read->beginning_up = hash;
        if (!load(span->address, sizeof word << octave, &word))
            return false;
        hash = pie_hash_mix(hash, word);
    }
    read->beginning = hash;
    return true;
}

bool pie_read_note_value(uintptr_t object, uint64_t bytes_min, struct pie_call_read *read) {
    struct span span;
    uintptr_t type;

    if (!pie_object_type_at(object, &type) || !span_of(object, type, &span) || span.bytes < bytes_min)
        return false;
    read->size = span.bytes;
    return note_beginning(&span, read);
}

/* --- A search --- */

/* An item that cannot be in a set or a key of a dict is no matter of either. */
static bool can_be_key(uintptr_t item) {
    uintptr_t type, hash;

    return pie_object_type_at(item, &type) && load(type, offsetof(PyTypeObject, tp_hash), &hash) &&
           hash != (uintptr_t)&PyObject_HashNotImplemented;
}

/* Is a method of lists or tuples called, of this name? */
static bool is_method(uintptr_t callable, const char *name) {
    uintptr_t type, owner, method, at;
    char text[NAME_BYTES];

    return pie_object_type_at(callable, &type) && type == (uintptr_t)&PyMethodDescr_Type &&
           load(callable, offsetof(PyDescrObject, d_type), &owner) &&
           (owner == (uintptr_t)&PyList_Type || owner == (uintptr_t)&PyTuple_Type) &&
           load(callable, offsetof(PyMethodDescrObject, d_method), &method) &&
           load(method, offsetof(PyMethodDef, ml_name), &at) &&
           pie_safe_copy(text, (const void *)at, strlen(name) + 1) &&
           memcmp(text, name, strlen(name) + 1) == 0;
}

static bool is_search(uintptr_t callable) {
    return is_method(callable, "index") || is_method(callable, "count") || is_method(callable, "remove");
}

static bool note_search(uintptr_t sequence, bool is_borrowed, uintptr_t item, struct pie_call_read *read) {
    struct span span;
    uintptr_t type;

    if (!pie_object_type_at(sequence, &type) ||
        (type != (uintptr_t)&PyList_Type && type != (uintptr_t)&PyTuple_Type) || !can_be_key(item) ||
        !span_of(sequence, type, &span) || span.bytes / sizeof type < ITEMS_MIN ||
        !note_beginning(&span, read))
        return false;
    read->kind = PIE_READ_SEARCH;
    read->object = sequence;
    read->size = span.bytes / sizeof type;
    read->is_temporary = !is_borrowed && pie_object_is_new(sequence);
    return true;
}

/* --- The longest argument --- */

/* Operators on these make others of them, which is a matter of copies. */
static bool is_sequence(uintptr_t type) {
    return type == (uintptr_t)&PyList_Type || type == (uintptr_t)&PyTuple_Type ||
           type == (uintptr_t)&PyUnicode_Type || type == (uintptr_t)&PyBytes_Type ||
           type == (uintptr_t)&PyByteArray_Type;
}

static uint32_t find_longest(const struct pie_call_arguments *arguments, bool is_operator,
                             struct span *ret_span) {
    uint32_t longest = arguments->count;
    struct span span;
    uintptr_t type;

    *ret_span = (struct span){0};
    for (uint32_t i = 0; i < arguments->count; i++) {
        uintptr_t object = arguments->objects[i];
        if (!pie_object_type_at(object, &type) || (is_operator && is_sequence(type)) ||
            !span_of(object, type, &span) || span.bytes <= ret_span->bytes)
            continue;
        *ret_span = span;
        longest = i;
    }
    return ret_span->bytes >= BYTES_MIN ? longest : arguments->count;
}

/* What is called and all arguments but one; 0: something is not what it seemed to be. */
static uint64_t digest_of_rest(const struct pie_call_arguments *arguments, uint32_t but) {
    struct pie_digest digest;

    pie_digest_begin(&digest);
    pie_digest_add_word(&digest, arguments->content);
    for (uint32_t i = 0; i < arguments->count; i++) {
        pie_digest_add_word(&digest, i == but);
        if (i != but)
            pie_digest_add(&digest, arguments->objects[i]);
    }
    return digest.is_broken ? 0 : pie_hash_mix(digest.content, digest.state) | 1;
}

static bool note_argument(const struct pie_call_arguments *arguments, bool is_operator,
                          struct pie_call_read *read) {
    struct span span;
    uint32_t longest = find_longest(arguments, is_operator, &span);

    if (longest == arguments->count || !note_beginning(&span, read))
        return false;
    read->kind = PIE_READ_ARGUMENT;
    read->object = arguments->objects[longest];
    read->size = span.bytes;
    read->rest = digest_of_rest(arguments, longest);
    return read->rest != 0;
}

/* --- A sort --- */

/* The order changes with each new item, so the beginning is that item's whose hash is the least: a list that has got
 * some items more has another one seldom. Of long lists, where few items are new from one sample to the next, the first
 * items are enough. */
static bool note_items(const struct span *span, struct pie_call_read *read) {
    struct pie_items items = {span->address, span->bytes / sizeof(uintptr_t), 1};
    struct pie_items_sketch sketch = {.least = UINT64_MAX};
    bool is_long = items.slots > PIE_ITEMS_MAX;
    uintptr_t first[FIRST_WORDS];

    if (is_long ? !pie_safe_words(first, (const void *)span->address, FIRST_WORDS)
                : !pie_items_sketch_take(&items, &sketch))
        return false;
    for (uint64_t i = 0; is_long && i < FIRST_WORDS; i++)
        sketch.least = pie_hash_mix(sketch.least, first[i]);
    read->beginning = read->beginning_up = sketch.least;
    read->octave = 0;
    return true;
}

bool pie_code_sorted_read(struct pie_call_read *read) {
    struct span span;
    uintptr_t type;

    if (!pie_object_type_at(read->object, &type) || type != (uintptr_t)&PyList_Type ||
        !span_of_items(read->object, false, &span) || span.bytes < BYTES_MIN || !note_items(&span, read))
        return false;
    read->size = span.bytes;
    return true;
}

static bool note_sort(const struct pie_call_arguments *arguments, struct pie_call_read *read) {
    read->kind = PIE_READ_SORT;
    read->object = arguments->objects[0];
    read->rest = digest_of_rest(arguments, 0);
    return read->rest != 0;
}

/* What the code unit at an instruction does, and its role in a fold. */
static uint8_t operation_at(uintptr_t instr, uint8_t *ret_role) {
    uint8_t opcode, argument;

    *ret_role = PIE_PYOPS_OTHER;
    if (!pie_safe_load_byte((const void *)instr, &opcode) ||
        !pie_safe_load_byte((const void *)(instr + 1), &argument))
        return PIE_OPERATION_OTHER;
    opcode = pie_pyops_deopt[opcode];
    *ret_role = pie_pyops_role(opcode, argument);
    return pie_pyops_operation(opcode, argument);
}

/* Each instruction that may stand in a fold says how long it takes. */
static bool note_fold(uint8_t role, struct pie_call_read *read) {
    struct pie_call_site site;
    uintptr_t top, container;

    if (role == PIE_PYOPS_OTHER)
        return false;
    if (role != PIE_PYOPS_FETCH && role != PIE_PYOPS_PUT)
        pie_read_note_fold(0, 0, read);
    else if (pie_call_site_current(&site, &top) && pie_call_slot_read(top - 2 * sizeof top, &container))
        pie_read_note_fold(container, top - site.count * sizeof top, read);
    return read->kind != PIE_READ_NONE;
}

static bool note_operator(const struct pie_call_site *site, const struct pie_call_arguments *operands,
                          uint32_t borrowed, uintptr_t instr, uint8_t role, struct pie_call_read *read) {
    if (site->shape == PIE_CALL_CONTAINS &&
        note_search(operands->objects[1], borrowed & 2, operands->objects[0], read))
        return true;
    if (site->shape == PIE_CALL_OPERANDS &&
        (pie_read_note_join(operands, instr, read) || note_argument(operands, true, read)))
        return true;
    return note_fold(role, read);
}

bool pie_code_call_read(const struct pie_pyframe *frame, struct pie_call_read *ret_read) {
    struct pie_call_arguments arguments;
    struct pie_call_site site;
    uintptr_t top, callable;
    uint32_t borrowed;
    uint8_t role, operation = operation_at(frame->instr, &role);

    *ret_read = (struct pie_call_read){.kind = PIE_READ_NONE};
    if (operation != PIE_OPERATION_CALL && operation != PIE_OPERATION_OPERATOR)
        return note_fold(role, ret_read);
    if (!pie_call_site_current(&site, &top) ||
        !pie_call_arguments_find(&site, top, &arguments, &callable, &borrowed))
        return note_fold(role, ret_read);
    if (site.shape == PIE_CALL_CONTAINS || site.shape == PIE_CALL_OPERANDS)
        return note_operator(&site, &arguments, borrowed, frame->instr, role, ret_read);
    if (arguments.count >= 2 && is_search(callable))
        return note_search(arguments.objects[0], borrowed & 1, arguments.objects[1], ret_read);
    if (is_method(callable, "sort"))
        return note_sort(&arguments, ret_read);
    return pie_read_note_work(&arguments, callable, borrowed & 1, ret_read) ||
           note_argument(&arguments, false, ret_read);
}

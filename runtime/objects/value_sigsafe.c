/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/value.h"

#include <string.h>

#include "profiler/base/safe_load.h"
#include "runtime/objects/digest.h"
#include "runtime/objects/kind.h"
#include "runtime/objects/pystr.h"

/* Is what a call returned worth comparing with what it returned the time before? Only a new object is (one reference:
 * the caller's): one that is kept somewhere and handed out again was not computed again. The same holds for what lies
 * in it, but for what Python keeps itself: scipy.linalg.lapack returns arrays and a 0. Nothing but zeros is what a
 * fresh buffer looks like, and says nothing. */

enum { ARRAY_WORDS_MAX = 1024 }; /* of an array's data that are looked at, evenly spread */

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

/* The bytes of an array's own data; a view's are another's, and are not made by the call that returns it. */
static bool own_data(uintptr_t object, uintptr_t type, enum pie_object_kind kind, uintptr_t *ret_low,
                     uintptr_t *ret_high) {
    if (kind == PIE_OBJECT_ARRAY)
        return pie_object_array_owns_data(object) && pie_object_array_data(object, ret_low, ret_high);
    return kind == PIE_OBJECT_PLAIN && pie_object_tensor_data(object, type, ret_low, ret_high);
}

/* Python keeps one object for each of these, however it was come by. */
static bool is_kept_by_python(uintptr_t object, uintptr_t type) {
    struct pie_pystr text;

    if (type == (uintptr_t)&PyLong_Type || type == (uintptr_t)&PyBool_Type)
        return true;
    if (type == (uintptr_t)&PyUnicode_Type)
        return pie_pystr_locate(object, UINT32_MAX, &text) && text.units <= 1;
    return type == (uintptr_t)&PyBytes_Type && pie_pystr_locate_bytes(object, UINT32_MAX, &text) &&
           text.units <= 1;
}

static bool is_text(uintptr_t type) {
    return type == (uintptr_t)&PyUnicode_Type || type == (uintptr_t)&PyBytes_Type ||
           type == (uintptr_t)&PyByteArray_Type;
}

static bool is_number_or_text(uintptr_t type) {
    return type == (uintptr_t)&PyLong_Type || type == (uintptr_t)&PyBool_Type ||
           type == (uintptr_t)&PyFloat_Type || type == (uintptr_t)&PyUnicode_Type ||
           type == (uintptr_t)&PyBytes_Type;
}

/* What a loop goes through: an iterator is used up, and a view of a dict holds nothing. Each loop wants its own. */
static bool is_to_go_through(uintptr_t object, uintptr_t type) {
    return type == (uintptr_t)&PyDictKeys_Type || type == (uintptr_t)&PyDictValues_Type ||
           type == (uintptr_t)&PyDictItems_Type || pie_object_is_iterator(object, type);
}

static void take(struct pie_digest *digest, uintptr_t object, enum pie_object_kind kind,
                 struct pie_value_floats *floats) {
    pie_digest_begin(digest);
    digest->floats = floats;
    if (kind == PIE_OBJECT_ARRAY)
        digest->data_words_max = ARRAY_WORDS_MAX;
    pie_digest_add(digest, object);
}

void pie_object_value(uintptr_t object, struct pie_value *ret_value) {
    enum pie_object_kind kind = pie_object_kind_at(object);
    struct pie_digest digest;
    uintptr_t type;

    *ret_value = (struct pie_value){.object = object};
    if (kind == PIE_OBJECT_NONE || object == (uintptr_t)Py_None ||
        !load(object, offsetof(PyObject, ob_type), &type))
        return;
    bool is_alone = pie_object_is_new(object);
    if ((!is_alone && !is_kept_by_python(object, type)) || is_to_go_through(object, type))
        return;
    take(&digest, object, kind, NULL);
    if (digest.is_broken || (digest.is_blank && !is_number_or_text(type)))
        return;
    ret_value->content = digest.is_unread ? 0 : digest.content | 1;
    ret_value->variety = digest.variety;
    ret_value->is_made = true;
    ret_value->is_new = is_alone;
    ret_value->is_comparable = is_alone && pie_digest_is_all_content(&digest) && !digest.is_blank &&
                               !digest.has_kept &&
                               (kind != PIE_OBJECT_ARRAY || pie_object_array_owns_data(object));
    ret_value->is_read_out = is_text(type) || type == (uintptr_t)&PyList_Type ||
                             type == (uintptr_t)&PyDict_Type || type == (uintptr_t)&PySet_Type ||
                             type == (uintptr_t)&PyFrozenSet_Type;
}

void pie_object_value_floats(uintptr_t object, struct pie_value_floats *ret_floats) {
    struct pie_digest digest;

    memset(ret_floats, 0, sizeof *ret_floats);
    take(&digest, object, pie_object_kind_at(object), ret_floats);
    ret_floats->rest = digest.content;
}

void pie_object_value_words(uintptr_t object, struct pie_value_words *words) {
    uintptr_t type, low, high;

    words->count = 0;
    if (!pie_object_is_new(object) || !load(object, offsetof(PyObject, ob_type), &type) ||
        !own_data(object, type, pie_object_kind_at(object), &low, &high))
        return;
    words->bytes = high - low;
    if (!words->step_bytes)
        words->step_bytes =
            (uint32_t)(words->bytes / PIE_VALUE_WORDS_MAX / sizeof(uintptr_t) * sizeof(uintptr_t));
    if (!words->step_bytes)
        words->step_bytes = sizeof(uintptr_t);
    for (uint32_t i = 0; i < PIE_VALUE_WORDS_MAX; i++) {
        uintptr_t at = low + (uintptr_t)i * words->step_bytes;
        if (at + sizeof(uintptr_t) > high || !pie_safe_load((const void *)at, &words->words[i]))
            break;
        words->count++;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/code/arguments.h"

#include "profiler/base/hash.h"
#include "profiler/base/safe_load.h"
#include "runtime/code/registry.h"
#include "runtime/objects/digest.h"
#include "runtime/objects/kind.h"
#include "runtime/stacks/pyframe.h"

static_assert(PIE_CALL_OBJECTS <= 32, "a bit for each");

/* A call's arguments, its self, and what is called. The slots of the evaluation stack keep their references until the
 * loop goes on, so at the call's return they are still there, as the call left them. Were it otherwise, as when what
 * returns is the end of an object, one of them would be none by now, and nothing is said. */

struct call {
    struct pie_digest digest;
    struct pie_call_arguments arguments;
    uintptr_t callable;
    bool is_bare;      /* arguments are only found, and not digested */
    bool has_dict;     /* the last one is a dict of named arguments */
    bool has_values;   /* one of the arguments is no type */
    uint32_t borrowed; /* a bit for each argument whose object is counted elsewhere only */
};

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

bool pie_call_slot_read(uintptr_t at, uintptr_t *ret_object) {
    if (!load(at, 0, ret_object))
        return false;
    *ret_object &= ~pie_pyframe_stack.tag_mask;
    return true;
}

/* The first slot behind those in use of the innermost frame, which runs this code. */
static bool find_top(const struct pie_pyframe *python, uint16_t depth, uintptr_t *ret_top) {
    uintptr_t frame, code, locals;

    if (!pie_pyframe_find_first(pie_pyframe_current_tstate(), &frame) || !pie_pyframe_is_pointer(frame) ||
        !pie_call_slot_read(frame + pie_pyframe_stack.code_at, &code) || code != python->code ||
        !load(code, offsetof(PyCodeObject, co_nlocalsplus), &locals))
        return false;
    *ret_top = frame + pie_pyframe_stack.locals_at + ((uint32_t)locals + (uintptr_t)depth) * sizeof locals;
    return true;
}

bool pie_call_site_current(struct pie_call_site *ret_site, uintptr_t *ret_top) {
    struct pie_pyframe python;
    unsigned flags;

    if (pie_pyframe_walk_current(&python, 1, &flags) == 0)
        return false;
    uint32_t code_id = pie_code_registry_intern(python.code);
    *ret_site = pie_call_site_find(code_id, pie_pyframe_instr_offset(python.code, python.instr));
    return ret_site->shape != PIE_CALL_UNKNOWN && find_top(&python, ret_site->depth, ret_top);
}

/* One that keeps the results of its calls. */
static bool keeps_results(uintptr_t type) {
    return pie_digest_is_named(type, "functools._lru_cache_wrapper");
}

static void add_argument(struct call *call, uintptr_t object) {
    uintptr_t type;

    if (call->arguments.count < PIE_CALL_OBJECTS)
        call->arguments.objects[call->arguments.count] = object;
    call->arguments.count++;
    if (call->is_bare)
        return;
    enum pie_object_kind kind = pie_object_kind_at(object);
    call->has_values |= kind != PIE_OBJECT_TYPE;
    pie_digest_add(&call->digest, object);
    if (kind != PIE_OBJECT_NONE && load(object, offsetof(PyObject, ob_type), &type))
        call->arguments.has_iterator |= pie_object_is_iterator(object, type);
}

/* What is called counts by where it is; a method that was bound anew by the function and the object. False: it says
 * nothing of the call. */
static bool add_callable(struct call *call, uintptr_t callable) {
    enum pie_object_kind kind = pie_object_kind_at(callable);
    uintptr_t type, function, self;

    call->callable = callable;
    call->arguments.is_constructor = kind == PIE_OBJECT_TYPE;
    if (kind == PIE_OBJECT_NONE || !load(callable, offsetof(PyObject, ob_type), &type) || keeps_results(type))
        return false;
    bool is_bound = type == (uintptr_t)&PyMethod_Type || type == (uintptr_t)&PyCFunction_Type;
    if (!is_bound) {
        pie_digest_add_word(&call->digest, callable);
        return true;
    }
    size_t function_at = type == (uintptr_t)&PyMethod_Type ? offsetof(PyMethodObject, im_func)
                                                           : offsetof(PyCFunctionObject, m_ml);
    size_t self_at = type == (uintptr_t)&PyMethod_Type ? offsetof(PyMethodObject, im_self)
                                                       : offsetof(PyCFunctionObject, m_self);
    if (!load(callable, function_at, &function) || !load(callable, self_at, &self))
        return false;
    pie_digest_add_word(&call->digest, function);
    if (self && load(self, offsetof(PyObject, ob_type), &type) && type != (uintptr_t)&PyModule_Type)
        add_argument(call, self);
    return true;
}

static bool add_slot(struct call *call, uintptr_t at) {
    uintptr_t word;

    if (!load(at, 0, &word))
        return false;
    if ((word & pie_pyframe_stack.borrowed) && call->arguments.count < PIE_CALL_OBJECTS)
        call->borrowed |= 1u << call->arguments.count;
    add_argument(call, word & ~pie_pyframe_stack.tag_mask);
    return true;
}

/* The two slots below the arguments: up to 3.12 nothing and the callable, or the callable and its self; from 3.13 on
 * the callable, and its self or nothing. */
static bool add_called(struct call *call, uintptr_t slots) {
    uintptr_t first, second;

    if (!pie_call_slot_read(slots, &first) || !pie_call_slot_read(slots + sizeof first, &second))
        return false;
    if (first == 0)
        return add_callable(call, second);
    if (!add_callable(call, first))
        return false;
    return second == 0 || add_slot(call, slots + sizeof first);
}

static bool add_plain(struct call *call, uintptr_t top, unsigned arguments) {
    const size_t slot = sizeof(uintptr_t);
    uintptr_t first = top - arguments * slot;

    if (!add_called(call, first - 2 * slot))
        return false;
    for (unsigned i = 0; i < arguments; i++)
        if (!add_slot(call, first + i * slot))
            return false;
    return true;
}

/* Below the tuple is the callable; from 3.13 on a slot with nothing lies between. */
static bool add_tuple(struct call *call, uintptr_t top, bool has_slot) {
    const size_t slot = sizeof(uintptr_t);
    uintptr_t tuple = top - (has_slot + 1u) * slot, callable, dict = 0;

    if (has_slot && !pie_call_slot_read(top - slot, &dict))
        return false;
    call->has_dict = dict != 0;
    return pie_call_slot_read(tuple - PIE_CALL_BELOW_TUPLE, &callable) && callable &&
           add_callable(call, callable) && add_slot(call, tuple) &&
           (!call->has_dict || add_slot(call, top - slot));
}

static bool add_call(struct call *call, const struct pie_call_site *site, uintptr_t top) {
    switch (site->shape) {
    case PIE_CALL_PLAIN:
        return add_plain(call, top, site->count);
    case PIE_CALL_NAMED:
        return add_plain(call, top - sizeof(uintptr_t), site->count);
    case PIE_CALL_TUPLE:
        return add_tuple(call, top, site->count != 0);
    default:
        return false;
    }
}

static void add_operands(struct call *call, const struct pie_call_site *site, uintptr_t top) {
    for (unsigned i = 0; i < site->count; i++)
        add_slot(call, top - (site->count - i) * sizeof top);
}

/* The tuple is the one before the last, or the last if there is no dict. */
static void put_items_for_tuple(struct pie_call_arguments *arguments, bool has_dict) {
    uint32_t at = arguments->count - 1 - has_dict;
    uintptr_t tuple = arguments->objects[at], dict = arguments->objects[arguments->count - 1], type, count,
              item;

    if (pie_object_kind_at(tuple) != PIE_OBJECT_PLAIN || !load(tuple, offsetof(PyObject, ob_type), &type) ||
        type != (uintptr_t)&PyTuple_Type || !load(tuple, offsetof(PyVarObject, ob_size), &count))
        return;
    arguments->count = at;
    for (uintptr_t i = 0; i < count && arguments->count + has_dict < PIE_CALL_OBJECTS; i++)
        if (load(tuple, offsetof(PyTupleObject, ob_item) + i * sizeof item, &item))
            arguments->objects[arguments->count++] = item;
    if (has_dict)
        arguments->objects[arguments->count++] = dict;
}

bool pie_call_arguments_find(const struct pie_call_site *site, uintptr_t top,
                             struct pie_call_arguments *ret_arguments, uintptr_t *ret_callable,
                             uint32_t *ret_borrowed) {
    struct call call = {.is_bare = true};
    bool is_operator = site->shape == PIE_CALL_OPERANDS || site->shape == PIE_CALL_CONTAINS;

    pie_digest_begin(&call.digest);
    if (is_operator)
        add_operands(&call, site, top);
    else if (!add_call(&call, site, top))
        return false;
    if (call.arguments.count == 0 || call.arguments.count > PIE_CALL_OBJECTS)
        return false;
    *ret_arguments = call.arguments;
    if (site->shape == PIE_CALL_TUPLE)
        put_items_for_tuple(ret_arguments, call.has_dict);
    ret_arguments->content = call.digest.content;
    *ret_callable = call.callable;
    *ret_borrowed = call.borrowed;
    return true;
}

/* Does it say of a call that it was made again, that its arguments, and its result if that can be read, are those of an
 * earlier one? Not where it cannot be seen what the call went by, nor where all that is known is that another object of
 * a type was made. */
static bool is_telling(const struct pie_call_arguments *arguments, uint64_t result) {
    return arguments->count > 0 && (result || (!arguments->traits && !arguments->is_constructor));
}

/* Nothing of the result can be read, and of a long array among the arguments a part was looked at. A call with the same
 * ones is most likely the same. */
static bool is_likely(const struct pie_call_arguments *arguments, uint64_t result) {
    return arguments->count > 0 && !result && arguments->traits == PIE_DIGEST_SAMPLED &&
           !arguments->is_constructor;
}

/* Is the result an argument, as far as can be seen? */
static bool is_handed_back(const struct pie_call_arguments *arguments, uintptr_t result) {
    if (arguments->count > PIE_CALL_OBJECTS)
        return true;
    for (uint32_t i = 0; i < arguments->count; i++)
        if (arguments->objects[i] == result)
            return true;
    return false;
}

/* The result, if it is an object that others keep, and that the call found for its caller: no value, which any call may
 * hand out. */
static uintptr_t kept_result(const struct pie_call_arguments *arguments, uintptr_t result) {
    uintptr_t type;

    if (arguments->count == 0 || arguments->has_iterator || is_handed_back(arguments, result) ||
        pie_object_kind_at(result) != PIE_OBJECT_PLAIN || pie_object_is_new(result) ||
        !load(result, offsetof(PyObject, ob_type), &type))
        return 0;
    bool is_value = result == (uintptr_t)Py_None || result == (uintptr_t)Py_NotImplemented ||
                    type == (uintptr_t)&PyLong_Type || type == (uintptr_t)&PyBool_Type ||
                    type == (uintptr_t)&PyFloat_Type || type == (uintptr_t)&PyUnicode_Type ||
                    type == (uintptr_t)&PyBytes_Type || type == (uintptr_t)&PyTuple_Type;
    return is_value ? 0 : result;
}

bool pie_call_arguments_read(const struct pie_call_site *site, uintptr_t top,
                             struct pie_call_arguments *ret_arguments) {
    struct call call = {.arguments = {.count = 0}};

    pie_digest_begin(&call.digest);
    if (!add_call(&call, site, top) || call.digest.is_broken)
        return false;
    *ret_arguments = call.arguments;
    ret_arguments->content = call.digest.content | 1;
    ret_arguments->state = call.digest.state;
    ret_arguments->traits = call.digest.traits;
    ret_arguments->is_constructor |= !call.has_values; /* cls.__new__(cls), before the object has a value */
    return true;
}

void pie_call_arguments_digest(const struct pie_call_arguments *arguments, const struct pie_value *result,
                               struct pie_call_digest *ret_digest) {
    *ret_digest = (struct pie_call_digest){
        .content = arguments->content,
        .state = arguments->state,
        .result = result->content,
        .traits = arguments->traits,
        .is_telling = result->is_made && is_telling(arguments, result->content),
        .is_likely = result->is_new && is_likely(arguments, result->content),
        .is_new = result->is_new,
        .kept = kept_result(arguments, result->object),
    };
}

bool pie_code_arguments_digest(const struct pie_value *result, struct pie_call_digest *ret_digest) {
    struct pie_call_arguments arguments;
    struct pie_call_site site;
    uintptr_t top;

    if (!pie_call_site_current(&site, &top) || !pie_call_arguments_read(&site, top, &arguments))
        return false;
    pie_call_arguments_digest(&arguments, result, ret_digest);
    if (site.shape == PIE_CALL_TUPLE)
        ret_digest->kept = 0;
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/confirm/sites.h"

#include <stdio.h>
#include <string.h>

#include "profiler/base/hash.h"
#include "profiler/ports/windows.h"

/* How the operands of an instruction lie on the stack before it, as the interpreter's loop (Python/ceval.c of 3.11,
 * Python/bytecodes.c later) takes them. */

static const char *type_name(PyObject *object) {
    return Py_TYPE(object)->tp_name;
}

static uint64_t key_of_types(const struct pie_confirm_site *site, PyObject *left, PyObject *right) {
    uint64_t hash = pie_hash_mix(site->kind, (uintptr_t)site->operator);

    return pie_hash_mix(pie_hash_mix(hash, (uintptr_t)Py_TYPE(left)), right ? (uintptr_t)Py_TYPE(right) : 0);
}

/* The sums of a callee, which a site remembers. */
static struct pie_confirm_sums *known_sums(struct pie_confirm_site *site, uint64_t key) {
    if (!site->sums || site->key != key) {
        site->sums = pie_confirm_sums_find(site->line, key);
        site->key = key;
    }
    return site->sums;
}

static void begin_digest(struct pie_confirm_call *call, struct pie_confirm_sums *sums) {
    call->sums = sums;
    call->is_operator = false;
    call->passed = (struct pie_confirm_passed){0};
    pie_confirm_digest_begin(&call->args, pie_confirm_sums_budget(sums));
}

static struct pie_confirm_sums *callee_sums(struct pie_confirm_site *site, PyObject *callee) {
    char name[PIE_CONFIRM_CALLEE_BYTES];
    uint64_t key = pie_confirm_key(callee);

    if (!known_sums(site, key)) {
        pie_confirm_name(callee, name, sizeof name);
        site->sums = pie_confirm_sums_add(site->line, key, name, false);
    }
    return site->sums;
}

/* Up to 3.12 what is called lies directly below the arguments, or below a self that is one of them; from 3.13 on there
 * is always a place between, for a self or nothing. */
static PyObject *callee_below(PyObject **arguments, bool *ret_has_self) {
#if PY_VERSION_HEX >= 0x030d0000
    *ret_has_self = arguments[-1] != NULL;
    return arguments[-2];
#else
    *ret_has_self = arguments[-2] != NULL;
    return arguments[*ret_has_self ? -2 : -1];
#endif
}

static bool read_plain_call(struct pie_confirm_site *site, PyObject **top, PyObject *names,
                            struct pie_confirm_call *call) {
    bool has_self;
    PyObject *callee = callee_below(top - site->argument, &has_self);
    struct pie_confirm_sums *sums = callee_sums(site, callee);
    Py_ssize_t n_named = names && PyTuple_CheckExact(names) ? PyTuple_GET_SIZE(names) : 0;

    if (!sums)
        return false;
    begin_digest(call, sums);
    for (int i = site->argument + has_self; i > 0; i--)
        if (!pie_confirm_made_add(&call->args, site->line, top[-i]))
            pie_confirm_digest_add(&call->args, top[-i]);
    call->is_single = call->args.is_single;
    call->is_operator = pie_confirm_is_ufunc(callee);
    if (has_self)
        call->passed = pie_confirm_passed_method(callee, top - site->argument - 1, site->argument + 1);
    else if (site->argument > 0)
        call->passed = pie_confirm_passed_function(callee, top[-site->argument]);
    if (!has_self && site->argument - n_named == 1 && !call->passed.kind)
        call->passed = pie_confirm_passed_choice(callee, top[-site->argument]);
    if (!call->passed.kind)
        call->passed = pie_confirm_passed_arrays(callee, pie_confirm_sums_name(sums),
                                                 top - site->argument - has_self, site->argument + has_self);
    pie_confirm_digest_add_callee(&call->args, callee);
    if (names)
        pie_confirm_digest_add(&call->args, names);
    if (call->args.is_derived &&
        call->args.elements > 0) /* what is done with numbers may be left to chance */
        call->args.is_value = false;
    if (pie_confirm_runs_code(callee) && call->passed.kind != PIE_PASSED_CODE)
        call->args.is_value = false; /* code objects read what their names stand for */
    return true;
}

static bool read_call(struct pie_confirm_site *site, PyObject **top, struct pie_confirm_call *call) {
    bool are_named = site->kind == PIE_CONFIRM_CALL_NAMED;

    return read_plain_call(site, top - are_named, are_named ? top[-1] : site->names, call);
}

/* From 3.14 on there is always a place for the named ones. */
static bool read_call_star(struct pie_confirm_site *site, PyObject **top, struct pie_confirm_call *call) {
    enum { BELOW = PY_VERSION_HEX >= 0x030d0000 ? 3 : 2, HAS_PLACE = PY_VERSION_HEX >= 0x030e0000 };
    int place = HAS_PLACE || (site->argument & 1);
    PyObject *callee = top[-BELOW - place];
    struct pie_confirm_sums *sums = callee_sums(site, callee);

    if (!sums)
        return false;
    begin_digest(call, sums);
    pie_confirm_digest_add(&call->args, top[-1 - place]);
    pie_confirm_digest_add(&call->args, place ? top[-1] : NULL);
    pie_confirm_digest_add_callee(&call->args, callee);
    call->is_single = false;
    return true;
}

/* What the interpreter computes by itself is no call. */
static bool is_plain(PyObject *object) {
    return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object) ||
           object == Py_None;
}

static bool read_binary(struct pie_confirm_site *site, PyObject **top, struct pie_confirm_call *call) {
    PyObject *left = top[-2], *right = top[-1];
    char name[PIE_CONFIRM_CALLEE_BYTES];

    if (is_plain(left) && is_plain(right))
        return false;
    uint64_t key = key_of_types(site, left, right);
    if (!known_sums(site, key)) {
        snprintf(name, sizeof name, "%s %s %s", type_name(left), site->operator, type_name(right));
        site->sums = pie_confirm_sums_add(site->line, key, name, false);
    }
    if (!site->sums)
        return false;
    begin_digest(call, site->sums);
    pie_confirm_digest_add(&call->args, left);
    pie_confirm_digest_add(&call->args, right);
    call->is_single = call->args.is_single;
    call->is_operator = true;
    call->passed = pie_confirm_passed_operands(site->operator, top - 2);
    return true;
}

static bool read_unary(struct pie_confirm_site *site, PyObject **top, struct pie_confirm_call *call) {
    char name[PIE_CONFIRM_CALLEE_BYTES];

    if (is_plain(top[-1]))
        return false;
    uint64_t key = key_of_types(site, top[-1], NULL);
    if (!known_sums(site, key)) {
        snprintf(name, sizeof name, "%s %s", site->operator, type_name(top[-1]));
        site->sums = pie_confirm_sums_add(site->line, key, name, false);
    }
    if (!site->sums)
        return false;
    begin_digest(call, site->sums);
    pie_confirm_digest_add(&call->args, top[-1]);
    call->is_single = call->args.is_single;
    call->is_operator = true;
    return true;
}

/* An index of one element: a number, or a tuple of them. */
static bool is_element(PyObject *index) {
    struct pie_confirm_digest digest;

    pie_confirm_digest_begin(&digest, PIE_CONFIRM_BUDGET_SMALL_BYTES);
    if (!PyTuple_CheckExact(index))
        pie_confirm_digest_add(&digest, index);
    for (Py_ssize_t i = 0; PyTuple_CheckExact(index) && i < PyTuple_GET_SIZE(index); i++)
        pie_confirm_digest_add(&digest, PyTuple_GET_ITEM(index, i));
    return digest.is_single && digest.is_value;
}

/* The operands of an access, from the top down; NULL: it has none such. */
struct access {
    PyObject *container, *index, *end, *value; /* end: of a slice, whose begin is the index */
};

static struct access operands_of(enum pie_confirm_site_kind kind, PyObject **top) {
    switch (kind) {
    case PIE_CONFIRM_ITEM:
        return (struct access){.container = top[-2], .index = top[-1]};
    case PIE_CONFIRM_STORE:
        return (struct access){.container = top[-2], .index = top[-1], .value = top[-3]};
    case PIE_CONFIRM_SLICE:
        return (struct access){.container = top[-3], .index = top[-2], .end = top[-1]};
    case PIE_CONFIRM_STORE_SLICE:
        return (struct access){.container = top[-3], .index = top[-2], .end = top[-1], .value = top[-4]};
    default: /* from 3.15 on a number, or nothing, lies above what is iterated over */
        return (struct access){.container = top[PY_VERSION_HEX >= 0x030f0000 ? -2 : -1]};
    }
}

/* A look at all that a container holds would take longer than a look at one element of it. */
static bool read_item(struct pie_confirm_site *site, PyObject **top, struct pie_confirm_call *call) {
    struct access access = operands_of(site->kind, top);
    uint64_t key = key_of_types(site, access.container, NULL);
    char name[PIE_CONFIRM_CALLEE_BYTES];

    if (!known_sums(site, key)) {
        const char *form = site->kind == PIE_CONFIRM_NEXT ? "for x in %s"
                           : access.value                 ? "a[i] = x of %s"
                                                          : "a[i] of %s";
        snprintf(name, sizeof name, form, type_name(access.container));
        site->sums = pie_confirm_sums_add(site->line, key, name, true);
    }
    if (!site->sums)
        return false;
    begin_digest(call, site->sums);
    pie_confirm_digest_add_identity(&call->args, access.container);
    pie_confirm_digest_add(&call->args, access.index);
    if (access.end)
        pie_confirm_digest_add(&call->args, access.end);
    if (access.value)
        pie_confirm_digest_add(&call->args, access.value);
    if (site->kind == PIE_CONFIRM_SLICE ||
        (site->kind == PIE_CONFIRM_ITEM && Py_IS_TYPE(access.index, &PySlice_Type)))
        call->passed = pie_confirm_passed_slice(access.container);
    /* A row that is put into a table is no element. One that is fetched shows in the result. */
    bool is_row = access.value && call->args.elements > 1;
    call->is_single = site->kind == PIE_CONFIRM_NEXT || (!access.end && is_element(access.index) && !is_row);
    return true;
}

bool pie_confirm_site_read(struct pie_confirm_site *site, PyObject **top, struct pie_confirm_call *call) {
    pie_confirm_board->lines[site->line].was_run = true;
    switch (site->kind) {
    case PIE_CONFIRM_CALL:
    case PIE_CONFIRM_CALL_NAMED:
        return read_call(site, top, call);
    case PIE_CONFIRM_CALL_STAR:
        return read_call_star(site, top, call);
    case PIE_CONFIRM_BINARY:
        return read_binary(site, top, call);
    case PIE_CONFIRM_UNARY:
        return read_unary(site, top, call);
    default:
        return read_item(site, top, call);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <opcode.h>

#include "runtime/confirm/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/hash.h"
#include "runtime/code/pyops.h"

/* The stack before an instruction is as Python/ceval.c of 3.11 has it. */

enum { UNIT_BYTES = 2 };

/* --- Which instructions --- */

static const char *const operators[] = {"+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^"};
enum { OPERATORS = sizeof operators / sizeof *operators };

static const char *const comparisons[] = {"<", "<=", "==", "!=", ">", ">="};

static enum pie_confirm_site_kind kind_of(unsigned opcode) {
    switch (opcode) {
    case LOAD_FAST:
    case LOAD_CONST:
        return PIE_CONFIRM_IDLE;
    case CALL:
        return PIE_CONFIRM_CALL;
    case CALL_FUNCTION_EX:
        return PIE_CONFIRM_CALL_STAR;
    case BINARY_OP:
    case COMPARE_OP:
    case CONTAINS_OP:
        return PIE_CONFIRM_BINARY;
    case UNARY_NEGATIVE:
    case UNARY_INVERT:
        return PIE_CONFIRM_UNARY;
    case BINARY_SUBSCR:
        return PIE_CONFIRM_ITEM;
    case STORE_SUBSCR:
        return PIE_CONFIRM_STORE;
    case FOR_ITER:
        return PIE_CONFIRM_NEXT;
    default:
        return PIE_CONFIRM_NONE;
    }
}

static const char *operator_of(unsigned opcode, unsigned argument) {
    switch (opcode) {
    case BINARY_OP: /* += and so on follow in the same order */
        return operators[argument % OPERATORS];
    case COMPARE_OP:
        return comparisons[argument % (sizeof comparisons / sizeof *comparisons)];
    case CONTAINS_OP:
        return "in";
    case UNARY_NEGATIVE:
        return "-";
    default:
        return "~";
    }
}

static const char *text_of(PyObject *string) {
    const char *text = PyUnicode_AsUTF8(string);

    if (!text)
        PyErr_Clear();
    return text ? text : "";
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Names of one file: a profile has the absolute one. */
static bool is_same_file(const char *a, const char *b) {
    char real_a[PATH_MAX], real_b[PATH_MAX];

    if (strcmp(a, b) == 0)
        return true;
    return strcmp(base_name(a), base_name(b)) == 0 && realpath(a, real_a) && realpath(b, real_b) &&
           strcmp(real_a, real_b) == 0;
}

/* Which lines of the board lie in this file; false: none. */
static bool lines_of_file(PyCodeObject *code, bool in_file[PIE_CONFIRM_LINES_MAX]) {
    const char *file = text_of(code->co_filename);
    bool any = false;

    for (uint32_t i = 0; i < pie_confirm_board->n_lines; i++) {
        in_file[i] = is_same_file(file, pie_confirm_board->lines[i].file);
        any = any || in_file[i];
    }
    return any;
}

static int line_index(const bool in_file[PIE_CONFIRM_LINES_MAX], int line) {
    for (uint32_t i = 0; i < pie_confirm_board->n_lines; i++)
        if (in_file[i] && pie_confirm_board->lines[i].line == line)
            return (int)i;
    return -1;
}

/* An instruction with the ones before it that belong to it. */
struct cursor {
    const unsigned char *bytes;
    int unit, begin,
        units; /* begin: of the first one that extends the argument; the trace function sees only that */
    unsigned opcode, argument;
};

static bool next_instruction(struct cursor *at) {
    if (at->unit >= at->units)
        return false;
    at->begin = at->unit;
    at->argument = 0;
    for (;; at->unit++) {
        at->opcode = at->bytes[at->unit * UNIT_BYTES];
        at->argument = at->argument << 8 | at->bytes[at->unit * UNIT_BYTES + 1];
        if (at->opcode != EXTENDED_ARG || at->unit + 1 >= at->units)
            break;
    }
    at->unit += 1 + pie_pyops_caches[at->opcode];
    return true;
}

static PyObject *constant(PyCodeObject *code, unsigned index) {
    return index < (size_t)PyTuple_GET_SIZE(code->co_consts) ? PyTuple_GET_ITEM(code->co_consts, index)
                                                             : NULL;
}

/* Returns whether there is a site. */
static bool fill_sites(struct pie_confirm_code *made, PyCodeObject *code, const bool in_file[]) {
    struct cursor at = {.units = made->units};
    PyObject *bytes = PyCode_GetCode(code), *names = NULL;
    bool any = false;

    if (!bytes) {
        PyErr_Clear();
        return false;
    }
    at.bytes = (const unsigned char *)PyBytes_AS_STRING(bytes);
    while (next_instruction(&at)) {
        struct pie_confirm_site *site = &made->sites[at.begin];
        enum pie_confirm_site_kind kind = kind_of(at.opcode);
        int line = kind == PIE_CONFIRM_NONE
                       ? -1
                       : line_index(in_file, PyCode_Addr2Line(code, at.begin * UNIT_BYTES));
        if (at.opcode == KW_NAMES)
            names = constant(code, at.argument);
        if (kind == PIE_CONFIRM_IDLE)
            site->kind = PIE_CONFIRM_IDLE;
        else if (line >= 0)
            *site = (struct pie_confirm_site){.kind = (uint8_t)kind,
                                              .line = (uint16_t)line,
                                              .argument = (int)at.argument,
                                              .next_unit = at.unit,
                                              .operator= operator_of(at.opcode, at.argument),
                                              .names = kind == PIE_CONFIRM_CALL ? names : NULL};
        any = any || line >= 0;
        if (at.opcode == CALL)
            names = NULL;
    }
    Py_DECREF(bytes);
    return any;
}

struct pie_confirm_code *pie_confirm_code_make(PyCodeObject *code) {
    bool in_file[PIE_CONFIRM_LINES_MAX] = {false};

    if (!lines_of_file(code, in_file))
        return NULL;
    int units = (int)Py_SIZE(code);
    struct pie_confirm_code *made = PyMem_RawCalloc(1, sizeof *made + (size_t)units * sizeof *made->sites);
    if (!made) {
        pie_confirm_board->is_short = true;
        return NULL;
    }
    made->units = units;
    if (fill_sites(made, code, in_file))
        return made;
    PyMem_RawFree(made);
    return NULL;
}

struct pie_confirm_site *pie_confirm_site_at(struct pie_confirm_code *code, int unit) {
    bool is_site = unit >= 0 && unit < code->units && code->sites[unit].kind > PIE_CONFIRM_IDLE;

    return is_site ? &code->sites[unit] : NULL;
}

bool pie_confirm_is_idle(const struct pie_confirm_code *code, int unit) {
    return unit >= 0 && unit < code->units && code->sites[unit].kind == PIE_CONFIRM_IDLE;
}

/* --- Operands --- */

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

static bool read_call(struct pie_confirm_site *site, PyObject **top, struct pie_confirm_call *call) {
    bool is_method = top[-site->argument - 2] != NULL;
    PyObject *callee = top[-site->argument - (is_method ? 2 : 1)];
    struct pie_confirm_sums *sums = callee_sums(site, callee);

    if (!sums)
        return false;
    begin_digest(call, sums);
    for (int i = site->argument + is_method; i > 0; i--)
        pie_confirm_digest_add(&call->args, top[-i]);
    call->is_single = call->args.is_single;
    pie_confirm_digest_add_callee(&call->args, callee);
    if (site->names)
        pie_confirm_digest_add(&call->args, site->names);
    return true;
}

static bool read_call_star(struct pie_confirm_site *site, PyObject **top, struct pie_confirm_call *call) {
    int named = site->argument & 1;
    PyObject *callee = top[-2 - named];
    struct pie_confirm_sums *sums = callee_sums(site, callee);

    if (!sums)
        return false;
    begin_digest(call, sums);
    pie_confirm_digest_add(&call->args, top[-1 - named]);
    pie_confirm_digest_add(&call->args, named ? top[-1] : NULL);
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

/* A look at all that a container holds would take longer than a look at one element of it. */
static bool read_item(struct pie_confirm_site *site, PyObject **top, struct pie_confirm_call *call) {
    static const char *const forms[] = {[PIE_CONFIRM_ITEM] = "a[i] of %s",
                                        [PIE_CONFIRM_STORE] = "a[i] = x of %s",
                                        [PIE_CONFIRM_NEXT] = "for x in %s"};
    bool is_next = site->kind == PIE_CONFIRM_NEXT;
    PyObject *container = is_next ? top[-1] : top[-2], *index = is_next ? NULL : top[-1];
    uint64_t key = key_of_types(site, container, NULL);
    char name[PIE_CONFIRM_CALLEE_BYTES];

    if (!known_sums(site, key)) {
        snprintf(name, sizeof name, forms[site->kind], type_name(container));
        site->sums = pie_confirm_sums_add(site->line, key, name, true);
    }
    if (!site->sums)
        return false;
    begin_digest(call, site->sums);
    pie_confirm_digest_add_identity(&call->args, container);
    pie_confirm_digest_add(&call->args, index);
    if (site->kind == PIE_CONFIRM_STORE)
        pie_confirm_digest_add(&call->args, top[-3]);
    call->is_single = is_next || is_element(index);
    return true;
}

bool pie_confirm_site_read(struct pie_confirm_site *site, PyObject **top, struct pie_confirm_call *call) {
    pie_confirm_board->lines[site->line].was_run = true;
    switch (site->kind) {
    case PIE_CONFIRM_CALL:
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

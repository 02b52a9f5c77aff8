/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <opcode.h>

#include "runtime/confirm/sites.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/own_memory.h"
#include "runtime/code/pyops.h"

enum { UNIT_BYTES = 2 };

static _Atomic unsigned generation; /* of the board's lines */
bool pie_confirm_lines_are_of_callers;

/* --- Which instructions --- */

static const char *const operators[] = {"+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^"};
enum { OPERATORS = sizeof operators / sizeof *operators };

/* Below the number of a comparison, its argument says how it may be specialised. */
enum { COMPARISON_SHIFT = PY_VERSION_HEX >= 0x030d0000 ? 5 : PY_VERSION_HEX >= 0x030c0000 ? 4 : 0 };
static const char *const comparisons[] = {"<", "<=", "==", "!=", ">", ">="};

static enum pie_confirm_site_kind kind_of(unsigned opcode, unsigned argument) {
#ifdef NB_SUBSCR
    if (opcode == BINARY_OP && argument == NB_SUBSCR)
        return PIE_CONFIRM_ITEM;
#endif
    switch (opcode) {
    case LOAD_FAST:
    case LOAD_CONST:
#ifdef LOAD_FAST_LOAD_FAST
    case LOAD_FAST_LOAD_FAST:
#endif
#ifdef LOAD_FAST_BORROW
    case LOAD_FAST_BORROW:
    case LOAD_FAST_BORROW_LOAD_FAST_BORROW:
    case LOAD_SMALL_INT:
#endif
        return PIE_CONFIRM_IDLE;
    case CALL:
        return PIE_CONFIRM_CALL;
#ifdef CALL_KW
    case CALL_KW:
        return PIE_CONFIRM_CALL_NAMED;
#endif
    case CALL_FUNCTION_EX:
        return PIE_CONFIRM_CALL_STAR;
    case BINARY_OP:
    case COMPARE_OP:
    case CONTAINS_OP:
        return PIE_CONFIRM_BINARY;
    case UNARY_NEGATIVE:
    case UNARY_INVERT:
        return PIE_CONFIRM_UNARY;
#ifdef BINARY_SUBSCR
    case BINARY_SUBSCR:
        return PIE_CONFIRM_ITEM;
#endif
    case STORE_SUBSCR:
        return PIE_CONFIRM_STORE;
#ifdef BINARY_SLICE
    case BINARY_SLICE:
        return PIE_CONFIRM_SLICE;
    case STORE_SLICE:
        return PIE_CONFIRM_STORE_SLICE;
#endif
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
        return comparisons[(argument >> COMPARISON_SHIFT) % (sizeof comparisons / sizeof *comparisons)];
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
        struct pie_confirm_line *line = &pie_confirm_board->lines[i];
        int function_line = pie_confirm_lines_are_of_callers ? code->co_firstlineno : 0;
        in_file[i] = line->function_line == function_line && is_same_file(file, line->file);
        line->has_code = line->has_code || in_file[i];
        any = any || in_file[i];
    }
    return any;
}

static int line_index(const bool in_file[PIE_CONFIRM_LINES_MAX], int line) {
    for (uint32_t i = 0; i < pie_confirm_board->n_lines; i++)
        if (in_file[i] && pie_confirm_board->lines[i].line == line && !pie_confirm_board->lines[i].is_dropped)
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

static bool next_instruction(struct pie_confirm_code *made, struct cursor *at) {
    if (at->unit >= at->units)
        return false;
    at->begin = at->unit;
    at->argument = 0;
    for (;; at->unit++) {
        made->sites[at->unit].is_opcode = true;
        at->opcode = at->bytes[at->unit * UNIT_BYTES];
        at->argument = at->argument << 8 | at->bytes[at->unit * UNIT_BYTES + 1];
        if (at->opcode != EXTENDED_ARG || at->unit + 1 >= at->units)
            break;
    }
    at->unit += 1 + pie_pyops_caches[at->opcode];
    return true;
}

/* The names of the arguments of the next call; before: those that were known. From 3.13 on they lie on the stack. */
static PyObject *names_of(PyCodeObject *code, const struct cursor *at, PyObject *before) {
#ifdef KW_NAMES
    if (at->opcode == KW_NAMES && at->argument < (size_t)PyTuple_GET_SIZE(code->co_consts))
        return PyTuple_GET_ITEM(code->co_consts, at->argument);
#endif
    return at->opcode == CALL ? NULL : before;
}

static struct pie_confirm_site make_site(const struct cursor *at, enum pie_confirm_site_kind kind, int line,
                                         PyObject *names) {
    return (struct pie_confirm_site){.kind = (uint8_t)kind,
                                     .is_opcode = true,
                                     .line = (uint16_t)line,
                                     .argument = (int)at->argument,
                                     .next_unit = at->unit,
                                     .target_unit =
                                         kind == PIE_CONFIRM_NEXT ? at->unit + (int)at->argument : -1,
                                     .operator= operator_of(at->opcode, at->argument),
                                     .names = kind == PIE_CONFIRM_CALL ? names : NULL};
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
    while (next_instruction(made, &at)) {
        struct pie_confirm_site *site = &made->sites[at.begin];
        enum pie_confirm_site_kind kind = kind_of(at.opcode, at.argument);
        if (kind == PIE_CONFIRM_NEXT && pie_confirm_lines_are_of_callers)
            kind = PIE_CONFIRM_NONE;
        int line = kind <= PIE_CONFIRM_IDLE
                       ? -1
                       : line_index(in_file, PyCode_Addr2Line(code, at.begin * UNIT_BYTES));
        if (kind == PIE_CONFIRM_IDLE)
            *site =
                (struct pie_confirm_site){.kind = PIE_CONFIRM_IDLE, .is_opcode = true, .next_unit = at.unit};
        else if (line >= 0)
            *site = make_site(&at, kind, line, names);
        any = any || line >= 0;
        names = names_of(code, &at, names);
    }
    Py_DECREF(bytes);
    return any;
}

static struct pie_confirm_code *make_code(PyCodeObject *code) {
    bool in_file[PIE_CONFIRM_LINES_MAX] = {false};

    if (!lines_of_file(code, in_file))
        return NULL;
    int units = (int)Py_SIZE(code);
    struct pie_confirm_code *made = pie_calloc(1, sizeof *made + (size_t)units * sizeof *made->sites);
    if (!made) {
        pie_confirm_board->is_short = true;
        return NULL;
    }
    made->units = units;
    made->code = code;
    made->generation = generation;
    if (!fill_sites(made, code, in_file)) {
        pie_free(made);
        return NULL;
    }
    pie_confirm_depths_fill(made, code);
    return made;
}

/* --- What a code object is to us, kept in it --- */

#if PY_VERSION_HEX < 0x030c0000
#define PyUnstable_Code_GetExtra _PyCode_GetExtra
#define PyUnstable_Code_SetExtra _PyCode_SetExtra
#define PyUnstable_Eval_RequestCodeExtraIndex _PyEval_RequestCodeExtraIndex
#endif

struct pie_confirm_code *pie_confirm_codes;
static Py_ssize_t extra_indexes[2] = {-1,
                                      -1}; /* where a code object keeps it; of callers' lines: the second */

static Py_ssize_t extra_index(void) {
    return extra_indexes[pie_confirm_lines_are_of_callers];
}

/* None of its lines is counted: an odd word that no pointer is, with the generation. */
static void *not_counted(void) {
    return (void *)((uintptr_t)generation << 1 | 1);
}

static bool is_not_counted(const void *extra) {
    return (uintptr_t)extra & 1;
}

void pie_confirm_lines_changed(void) {
    generation++;
}

void pie_confirm_lines_choose(bool are_of_callers) {
    pie_confirm_lines_are_of_callers = are_of_callers;
}

static void link_code(struct pie_confirm_code *made) {
    made->next = pie_confirm_codes;
    made->at = &pie_confirm_codes;
    if (made->next)
        made->next->at = &made->next;
    pie_confirm_codes = made;
}

static void free_extra(void *extra) {
    struct pie_confirm_code *made = extra;

    if (!extra || is_not_counted(extra)) /* the interpreter may ask for one that was never set */
        return;
    if (made->at)
        *made->at = made->next;
    if (made->next)
        made->next->at = made->at;
    pie_free(made->kept);
    pie_free(made);
}

int pie_confirm_codes_init(void) {
    for (int i = 0; i < 2; i++)
        extra_indexes[i] = PyUnstable_Eval_RequestCodeExtraIndex(free_extra);
    return extra_indexes[0] < 0 || extra_indexes[1] < 0 ? -ENOMEM : 0;
}

static struct pie_confirm_code *keep_in(PyCodeObject *code, struct pie_confirm_code *made) {
    void *extra = made ? (void *)made : not_counted();

    if (PyUnstable_Code_SetExtra((PyObject *)code, extra_index(), extra) < 0) {
        PyErr_Clear();
        free_extra(extra);
        return NULL;
    }
    if (made)
        link_code(made);
    return made;
}

struct pie_confirm_code *pie_confirm_code_of(PyCodeObject *code) {
    void *extra = NULL;

    if (PyUnstable_Code_GetExtra((PyObject *)code, extra_index(), &extra) < 0)
        PyErr_Clear();
    if (extra == not_counted())
        return NULL;
    if (extra && !is_not_counted(extra) && ((struct pie_confirm_code *)extra)->generation == generation)
        return extra;
    return keep_in(code, make_code(code)); /* frees the old one */
}

struct pie_confirm_site *pie_confirm_site_at(struct pie_confirm_code *code, int unit) {
    bool is_site = unit >= 0 && unit < code->units && code->sites[unit].kind > PIE_CONFIRM_IDLE;

    return is_site ? &code->sites[unit] : NULL;
}

bool pie_confirm_is_idle(const struct pie_confirm_code *code, int unit) {
    return unit >= 0 && unit < code->units && code->sites[unit].kind == PIE_CONFIRM_IDLE;
}

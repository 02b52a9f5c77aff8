/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <opcode.h>

#include "runtime/trace/places.h"

#include "profiler/trace/trace.h"
#include "runtime/trace/source.h"
#include "runtime/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 400, UNIT_BYTES = 2 };

static struct place {
    const char *name;                  /* as given */
    const char *file;                  /* NULL: a function */
    int line;                          /* 0: a function */
    bool is_found;                     /* a loop of it is traced */
    bool was_run;                      /* its file was */
    char others[TEXT_BYTES];           /* the loops that its file has */
    const char *why;                   /* it could not be done, or NULL */
    const struct pie_trace_loop *loop; /* one of those that are traced */
} places[PIE_TRACE_PLACES_MAX];

static size_t n_places;

static const char *text_of(PyObject *string) {
    const char *text = pie_trace_text(string);

    return text ? text : "";
}

/* The same file, or the end of its path. */
static bool is_file(const struct place *place, const char *path) {
    size_t length = strlen(place->file), of = strlen(path);

    if (of < length || strcmp(path + of - length, place->file) != 0)
        return false;
    return of == length || path[of - length - 1] == '/' || place->file[0] == '/';
}

static bool is_function(const struct place *place, PyCodeObject *code) {
    return strcmp(place->name, text_of(code->co_qualname)) == 0 ||
           strcmp(place->name, text_of(code->co_name)) == 0;
}

static void note_other(struct place *place, int line, PyCodeObject *code) {
    size_t length = strlen(place->others);

    snprintf(place->others + length, sizeof place->others - length, "%s%d (%s)", length ? ", " : "", line,
             text_of(code->co_name));
}

/* --- Which loops --- */

struct search {
    PyCodeObject *module;
    int lines[PIE_TRACE_LINES_MAX]; /* of loops that are wanted */
    size_t n_lines;
};

static bool is_wanted(PyCodeObject *code, int line, bool is_of_module) {
    bool r = false;

    for (size_t i = 0; i < n_places; i++) {
        struct place *place = &places[i];
        bool is_here = place->file ? is_file(place, text_of(code->co_filename)) : is_function(place, code);
        if (!is_here)
            continue;
        place->was_run = true;
        bool is_this = !place->file || place->line == line;
        if (!is_this)
            note_other(place, line, code);
        else if (is_of_module)
            place->why = "the loop is at the level of the module: name it by pieprof.loop() in the program";
        else if (!place->is_found) {
            place->is_found = true;
            place->loop = pie_trace_open(text_of(code->co_filename), line, text_of(code->co_qualname));
        }
        r = r || (is_this && !is_of_module);
    }
    return r;
}

/* GET_ITER and at once FOR_ITER. From 3.15 on the first has an inline cache. Returns where FOR_ITER is, or 0. */
static Py_ssize_t loop_at(const unsigned char *bytes, Py_ssize_t unit, Py_ssize_t units) {
    Py_ssize_t next = unit + 1;

    while (next < units && (bytes[next * UNIT_BYTES] == EXTENDED_ARG || bytes[next * UNIT_BYTES] == CACHE))
        next++;
    return bytes[unit * UNIT_BYTES] == GET_ITER && next < units && bytes[next * UNIT_BYTES] == FOR_ITER ? next
                                                                                                        : 0;
}

#if PY_VERSION_HEX >= 0x030C0000
enum { LOOP_ITEMS = PY_VERSION_HEX >= 0x030F0000 ? 2 : 1 }; /* that a running loop has on the stack */

/* Over how many loops of a comprehension this instruction reaches, to the list that it adds to. */
static int loops_of_append(const unsigned char *instruction) {
    switch (instruction[0]) {
    case LIST_APPEND:
    case SET_ADD:
    case MAP_ADD:
    case LIST_EXTEND: /* of what is unpacked in a comprehension, since 3.15 */
    case SET_UPDATE:
    case DICT_UPDATE:
        return (instruction[1] - 1) / LOOP_ITEMS;
    default:
        return 0;
    }
}

/* Comprehensions stand in the function since 3.12. A loop is one of theirs if what adds to the result lies in it and
 * reaches over it: a comprehension in the body of a for statement reaches over its own loops only. */
static bool is_comprehension(const unsigned char *bytes, Py_ssize_t loop, Py_ssize_t units) {
    int depth = 1;

    for (Py_ssize_t i = loop + 1; i < units && depth > 0; i++) {
        const unsigned char *instruction = bytes + i * UNIT_BYTES;
        if (loops_of_append(instruction) >= depth)
            return true;
        depth += instruction[0] == FOR_ITER;
        depth -= instruction[0] == END_FOR;
    }
    return false;
}
#else
static bool is_comprehension(const unsigned char *bytes, Py_ssize_t loop, Py_ssize_t units) {
    (void)bytes, (void)loop, (void)units;
    return false;
}
#endif

/* A for statement begins here. Comprehensions and generators that have code of their own have none. */
static bool is_statement(PyCodeObject *code, const unsigned char *bytes, Py_ssize_t unit, Py_ssize_t units) {
    const char *name = text_of(code->co_name);
    Py_ssize_t loop = loop_at(bytes, unit, units);

    return loop > 0 && (name[0] != '<' || strcmp(name, "<module>") == 0) &&
           !is_comprehension(bytes, loop, units);
}

static void search_code(struct search *search, PyCodeObject *code) {
    PyObject *plain = PyCode_GetCode(code);

    if (!plain) {
        PyErr_Clear();
        return;
    }
    const unsigned char *bytes = (const unsigned char *)PyBytes_AS_STRING(plain);
    Py_ssize_t units = PyBytes_GET_SIZE(plain) / UNIT_BYTES;
    for (Py_ssize_t i = 0; i < units; i++) {
        int line = is_statement(code, bytes, i, units) ? PyCode_Addr2Line(code, (int)(i * UNIT_BYTES)) : 0;
        if (line > 0 && is_wanted(code, line, code == search->module) &&
            search->n_lines < PIE_TRACE_LINES_MAX)
            search->lines[search->n_lines++] = line;
    }
    Py_DECREF(plain);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++)
        if (PyCode_Check(PyTuple_GET_ITEM(code->co_consts, i)))
            search_code(search, (PyCodeObject *)PyTuple_GET_ITEM(code->co_consts, i));
}

/* --- New code in the place of the old --- */

static PyCodeObject *next_code(PyCodeObject *of, Py_ssize_t *at) {
    for (; *at < PyTuple_GET_SIZE(of->co_consts); (*at)++)
        if (PyCode_Check(PyTuple_GET_ITEM(of->co_consts, *at)))
            return (PyCodeObject *)PyTuple_GET_ITEM(of->co_consts, *at);
    return NULL;
}

static bool is_alike(PyCodeObject *a, PyCodeObject *b) {
    return a && b && a->co_firstlineno == b->co_firstlineno &&
           strcmp(text_of(a->co_qualname), text_of(b->co_qualname)) == 0;
}

/* Functions of the module, with all that is in them, and the methods of its classes. Code comes in the same order in
 * both. */
static bool exchange(PyCodeObject *old, PyCodeObject *new) {
    Py_ssize_t i = 0, k = 0;

    for (;; i++, k++) {
        PyCodeObject *a = next_code(old, &i), *b = next_code(new, &k);
        if (!a && !b)
            return true;
        if (!is_alike(a, b))
            return false;
        if (a->co_flags & CO_NEWLOCALS) { /* a function; the body of a class is run as it is */
            PyTuple_SET_ITEM(old->co_consts, i, Py_NewRef((PyObject *)b));
            Py_DECREF(a);
        } else if (!exchange(a, b)) {
            return false;
        }
    }
}

static void refuse(const char *why) {
    for (size_t i = 0; i < n_places; i++)
        if (places[i].is_found && !places[i].why)
            places[i].why = why;
}

static void handle(PyCodeObject *module) {
    struct search search = {.module = module};
    const char *why = NULL;

    search_code(&search, module);
    if (!search.n_lines)
        return;
    PyObject *made = pie_trace_compile(module, search.lines, search.n_lines, &why);
    if (!made)
        refuse(why);
    else if (!exchange(module, (PyCodeObject *)made))
        refuse("its source is not what was compiled");
    Py_XDECREF(made);
}

/* A module's code has no function around it; what else is executed (a class, a template) is not looked at. */
static int audit(const char *event, PyObject *args, void *unused) {
    if (strcmp(event, "exec") != 0 || !PyTuple_Check(args) || PyTuple_GET_SIZE(args) != 1 ||
        !PyCode_Check(PyTuple_GET_ITEM(args, 0)))
        return 0;
    PyCodeObject *code = (PyCodeObject *)PyTuple_GET_ITEM(args, 0);
    if (strcmp(text_of(code->co_name), "<module>") == 0)
        handle(code);
    return 0;
}

/* --- Places --- */

static void read_place(struct place *place, const char *name) {
    const char *colon = strrchr(name, ':');
    char *end = NULL;
    long line = colon ? strtol(colon + 1, &end, 10) : 0;

    *place = (struct place){.name = name};
    if (line <= 0 || *end)
        return;
    place->file = strndup(name, (size_t)(colon - name));
    place->line = (int)line;
}

int pie_trace_places_install(const char *const *names) {
    for (; names && *names && n_places < PIE_TRACE_PLACES_MAX; names++)
        read_place(&places[n_places++], *names);
    return n_places ? PySys_AddAuditHook(audit, NULL) : 0;
}

void pie_trace_places_tell(size_t index, char *text, size_t size) {
    const struct place *place = &places[index];

    *text = '\0';
    if (index >= n_places) /* none was asked for */
        return;
    if (place->why)
        snprintf(text, size, "%s", place->why);
    else if (place->is_found && pie_trace_entries(place->loop) == 0)
        snprintf(text, size, "the loop was never entered");
    else if (!place->is_found && !place->was_run)
        snprintf(text, size,
                 place->file ? "this file was not run" : "no function of this name with a loop was run");
    else if (!place->is_found)
        snprintf(text, size, "no loop begins there; loops of this file: %s", place->others);
}

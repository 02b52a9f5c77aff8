/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct pie_confirm_board;

/* Running Python as `target` would run it (cpython.md: the faithful drop-in). */
struct pie_embed {
    int argc;                 /* Python's own command line: argv[0] and the arguments after our options */
    char **argv;              /* argv[0] becomes sys.orig_argv[0] */
    const char *program_name; /* path of the interpreter to impersonate (argv[0] for getpath.py), or NULL */
    const char *const *trace_places; /* see runtime/trace/places.h; NULL: none */
    struct pie_confirm_board *board; /* the calls to count (runtime/confirm/confirm.h), or NULL */
    /* Takes one line for people where parts of this Python cannot be read; NULL: nobody gets it. */
    void (*warn)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

/* Initialises Python and runs the command line. Returns the exit status of Py_RunMain; does not return where CPython
 * itself would exit (-h, -V, errors, sys.exit). Context: launcher. */
int pie_embed_run(const struct pie_embed *embed);

/* Does this program embed a Python? Context: any. */
extern const bool pie_embed_has_python;
/* "3.11.2": the Python of this process. */
const char *pie_embed_python_version(void);
/* "main, Apr 28 2025, 14:11:48": which build of it. */
const char *pie_embed_python_build(void);
/* "static" or "shared": how libpython is linked in; "none": only the core was built. */
const char *pie_embed_linkage(void);

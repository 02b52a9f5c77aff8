/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/trace/source.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A for statement is the first thing on its line: "for TARGET in ITERABLE:", where neither a target nor an iterable has
 * `in` or a colon outside of brackets and strings. (A lambda could, but is no iterable.) What was made of it is
 * compiled, so a mistake here is found there. Two brackets, since the iterable may be a tuple without any. */

static const char before[] = " __import__(\"pieprof\").loop((", after[] = "))";
enum { SOURCE_MAX_BYTES = 16 << 20 };

/* NULL: unreadable, or no text. To be freed. */
static char *read_source(const char *path, size_t *ret_bytes) {
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(SOURCE_MAX_BYTES) : NULL;

    *ret_bytes = text ? fread(text, 1, SOURCE_MAX_BYTES - 1, file) : 0;
    if (file)
        fclose(file);
    if (text)
        text[*ret_bytes] = '\0';
    if (text && strlen(text) == *ret_bytes)
        return text;
    free(text);
    return NULL;
}

static char *line_of(char *text, int line) {
    while (text && --line > 0) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text;
}

/* Behind a string that begins with the quote at `at`; at the end of the text if it does not end. */
static const char *skip_string(const char *at) {
    bool is_long = strncmp(at, "\"\"\"", 3) == 0 || strncmp(at, "'''", 3) == 0;
    size_t length = is_long ? 3 : 1;
    char quote[3];

    memcpy(quote, at, length);
    for (at += length; *at; at += *at == '\\' && at[1] ? 2 : 1)
        if (strncmp(at, quote, length) == 0)
            return at + length;
    return at;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Does this word stand here, and nothing that goes on with it? */
static bool is_keyword(const char *at, const char *word) {
    size_t length = strlen(word);

    return strncmp(at, word, length) == 0 && !is_word(at[length]);
}

/* The first one of the mark, a keyword or a character, outside of brackets, strings and comments; NULL: none. */
static const char *find_outside(const char *at, const char *mark) {
    int depth = 0;
    bool in_word = false;

    while (*at) {
        if (depth == 0 && (isalpha((unsigned char)*mark) ? !in_word && is_keyword(at, mark) : *at == *mark))
            return at;
        in_word = is_word(*at);
        if (*at == '"' || *at == '\'') {
            at = skip_string(at);
            continue;
        }
        if (*at == '#')
            at += strcspn(at, "\n");
        depth += strchr("([{", *at) != NULL && *at;
        depth -= strchr(")]}", *at) != NULL && *at;
        at += *at != '\0';
    }
    return NULL;
}

/* There is room for it. */
static void insert(char *at, const char *what) {
    size_t length = strlen(what);

    memmove(at + length, at, strlen(at) + 1);
    memcpy(at, what, length);
}

static bool wrap(char *line) {
    char *at = line ? line + strspn(line, " \t\f") : NULL;
    const char *in = at && is_keyword(at, "for") ? find_outside(at, "in") : NULL;
    const char *colon = in ? find_outside(in + 2, ":") : NULL;

    if (!colon)
        return false;
    insert(line + (colon - line), after);
    insert(line + (in + 2 - line), before);
    return true;
}

static int later_first(const void *a, const void *b) {
    return *(const int *)b - *(const int *)a;
}

/* NULL: a line has no such statement, or no memory. To be freed. */
static char *wrapped(const char *source, size_t bytes, int *lines, size_t count) {
    char *text = malloc(bytes + count * (sizeof before + sizeof after) + 1);

    if (!text)
        return NULL;
    memcpy(text, source, bytes + 1);
    qsort(lines, count, sizeof *lines, later_first);
    for (size_t i = 0; i < count; i++) {
        if (wrap(line_of(text, lines[i])))
            continue;
        free(text);
        return NULL;
    }
    return text;
}

PyObject *pie_trace_compile(PyCodeObject *module, int *lines, size_t count, const char **ret_why) {
    const char *path = PyUnicode_AsUTF8(module->co_filename);
    size_t bytes = 0;
    char *source = path ? read_source(path, &bytes) : NULL;
    char *text = source ? wrapped(source, bytes, lines, count) : NULL;
    PyCompilerFlags flags = {.cf_flags = module->co_flags & PyCF_MASK,
                             .cf_feature_version = PY_MINOR_VERSION};

    *ret_why = source ? "its source is not what was compiled" : "its source cannot be read";
    PyObject *made = text ? Py_CompileStringExFlags(text, path, Py_file_input, &flags, -1) : NULL;
    free(text);
    free(source);
    PyErr_Clear();
    return made;
}

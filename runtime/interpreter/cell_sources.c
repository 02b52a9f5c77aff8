/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/interpreter/cell_sources.h"

#include "profiler/base/counters.h"
#include "profiler/collect/engine.h"
#include "runtime/interpreter/methods.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef PIE_CELL_LOOK
#define PIE_CELL_LOOK() ((void)0) /* tests count the entries that are looked at */
#endif

/* Entries lie one behind the other in an arena of address space of which only what is written takes memory. Room is
 * taken by compare-and-swap, an entry is filled, then published at the head of its chain. Nothing is ever freed: when
 * the arena is full, later texts have no source in the profile, as if they were not known; they are counted. */

enum { ARENA_BYTES = 8 << 20, TEXT_BYTES_MAX = 512 << 10, NAME_BYTES_MAX = 4096, ALIGN = 8 };
enum { CHAINS = 1 << 14 }; /* a power of two: some entries each when the arena is full of short texts */

struct entry {
    uint32_t next; /* the one before it in its chain, as in `newest` */
    uint32_t name_size, text_size;
    uint32_t hash; /* of the name */
    char data[];   /* the name and the text, each with a 0 */
};

typedef PyObject *(*fast_function)(PyObject *module, PyObject *const *arguments, Py_ssize_t positional,
                                   PyObject *names);

/* Set once, before code of the user's runs. Fork child: a copy. */
static char *arena;
static PyCFunction own_compile;
static _Atomic uint32_t used;
/* By the name's hash: 1 + where the last entry lies, 0: none. Release in keep(), acquire in pie_cell_sources_find().
 * Fork child: a copy, whole at any time. */
static _Atomic uint32_t newest[CHAINS];

/* FNV-1a */
static uint32_t hash_of(const char *name, size_t size) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash;
}

static size_t entry_bytes(size_t name_size, size_t text_size) {
    return (sizeof(struct entry) + name_size + text_size + 2 + ALIGN - 1) / ALIGN * ALIGN;
}

/* A template that is compiled again and again takes its room once. */
static bool is_kept(const char *name, const char *text, size_t text_size) {
    size_t size = 0;
    const char *kept = pie_cell_sources_find(name, &size);
    return kept && size == text_size && memcmp(kept, text, size) == 0;
}

/* The name ends with a 0. */
static void keep(const char *name, size_t name_size, const char *text, size_t text_size) {
    if (is_kept(name, text, text_size))
        return;
    uint32_t size = (uint32_t)entry_bytes(name_size, text_size);
    uint32_t at = atomic_load_explicit(&used, memory_order_relaxed);

    do
        if (size > ARENA_BYTES - at) {
            pie_counter_add(PIE_COUNTER_CELL_SOURCES_DROPPED, 1);
            return;
        }
    while (!atomic_compare_exchange_weak_explicit(&used, &at, at + size, memory_order_relaxed,
                                                  memory_order_relaxed));
    struct entry *entry = (struct entry *)(arena + at);
    entry->name_size = (uint32_t)name_size;
    entry->text_size = (uint32_t)text_size;
    memcpy(entry->data, name, name_size);
    memcpy(entry->data + name_size + 1, text, text_size);
    entry->hash = hash_of(name, name_size);

    _Atomic uint32_t *chain = &newest[entry->hash % CHAINS];
    uint32_t before = atomic_load_explicit(chain, memory_order_relaxed);
    do
        entry->next = before;
    while (!atomic_compare_exchange_weak_explicit(chain, &before, at + 1, memory_order_release,
                                                  memory_order_relaxed));
}

const char *pie_cell_sources_find(const char *name, size_t *ret_size) {
    if (atomic_load_explicit(&used, memory_order_relaxed) == 0) /* no page of the chains is touched */
        return NULL;
    size_t size = strlen(name);
    uint32_t hash = hash_of(name, size);
    uint32_t at = atomic_load_explicit(&newest[hash % CHAINS], memory_order_acquire);

    while (at > 0) {
        const struct entry *entry = (const struct entry *)(arena + at - 1);
        PIE_CELL_LOOK();
        if (entry->hash == hash && entry->name_size == size && memcmp(entry->data, name, size) == 0) {
            *ret_size = entry->text_size;
            return entry->data + size + 1;
        }
        at = entry->next;
    }
    return NULL;
}

/* Names that many texts share say nothing of which one it was. */
static bool is_shared(const char *name) {
    static const char *const names[] = {"<string>", "<stdin>",  "<unknown>",
                                        "<frozen",  "<module>", "<fstring>"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* A file that is there is read when its lines are wanted. */
static bool is_wanted(const char *name, size_t size) {
    if (size == 0 || size > NAME_BYTES_MAX || strlen(name) != size || is_shared(name))
        return false;
    return name[0] == '<' || (name[0] == '/' && access(name, F_OK) != 0);
}

/* A text of bytes is kept as it is, whatever its encoding; a syntax tree is none. */
static const char *text_of(PyObject *source, Py_ssize_t *ret_size) {
    if (PyUnicode_Check(source))
        return PyUnicode_AsUTF8AndSize(source, ret_size);
    *ret_size = PyBytes_Check(source) ? PyBytes_GET_SIZE(source) : 0;
    return *ret_size > 0 ? PyBytes_AS_STRING(source) : NULL;
}

static void note(PyObject *source, PyObject *filename) {
    Py_ssize_t name_size = 0, size = 0;

    if (!PyUnicode_Check(filename))
        return;
    const char *name = PyUnicode_AsUTF8AndSize(filename, &name_size);
    const char *text = name && is_wanted(name, (size_t)name_size) ? text_of(source, &size) : NULL;
    if (!text)
        return;
    if (size > TEXT_BYTES_MAX)
        pie_counter_add(PIE_COUNTER_CELL_SOURCES_DROPPED, 1);
    else
        keep(name, (size_t)name_size, text, (size_t)size);
}

/* compile(source, filename, ...), both also by name. Borrowed reference or NULL. */
static PyObject *argument_of(PyObject *const *arguments, Py_ssize_t positional, PyObject *names,
                             Py_ssize_t number, const char *name) {
    if (number < positional)
        return arguments[number];
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) == 0)
            return arguments[positional + i];
    return NULL;
}

static PyObject *compile(PyObject *module, PyObject *const *arguments, Py_ssize_t positional,
                         PyObject *names) {
    PyObject *made = ((fast_function)(void (*)(void))own_compile)(module, arguments, positional, names);

    if (!made || !pie_engine_is_running())
        return made;
    int error = errno;
    PyObject *source = argument_of(arguments, positional, names, 0, "source"),
             *filename = argument_of(arguments, positional, names, 1, "filename");
    if (source && filename)
        note(source, filename);
    PyErr_Clear(); /* a name that is no UTF-8 */
    errno = error;
    return made;
}

static bool get_arena(void) {
    void *memory =
        mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    arena = memory == MAP_FAILED ? NULL : memory;
    return arena;
}

void pie_cell_sources_install(void) {
    PyObject *function = PyDict_GetItemString(PyEval_GetBuiltins(), "compile");

    if (!arena && get_arena())
        own_compile = pie_function_exchange(function, "compile", METH_FASTCALL | METH_KEYWORDS,
                                            (PyCFunction)(void (*)(void))compile);
}

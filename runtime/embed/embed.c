/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/embed/embed.h"

#include "profiler/collect/engine.h"
#include "profiler/heap/engine.h"
#include "profiler/stacks/hybrid.h"
#include "runtime/confirm/confirm.h"
#include "runtime/confirm/windows.h"
#include "runtime/embed/install.h"
#include "runtime/interpreter/allocator_lock.h"
#include "runtime/interpreter/cell_sources.h"
#include "runtime/interpreter/lock_methods.h"
#include "runtime/interpreter/target.h"
#include "runtime/interpreter/thread_names.h"
#include "runtime/memory/pymem.h"
#include "runtime/memory/pymem_answers.h"
#include "runtime/retention/retention.h"
#include "runtime/objects/tasks.h"
#include "runtime/stacks/gil.h"
#include "runtime/stacks/verify.h"
#include "runtime/trace/places.h"
#include "runtime/trace/trace.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The steps of Py_BytesMain (CPython, Modules/main.c: pymain_init, pymain_main) by its public parts, with two
 * differences: program_name and base_executable may be set, so that getpath.py computes sys.executable, the venv and
 * the prefixes from the interpreter we stand for and not from the file we are.
 *
 * Everything else stays Python's own: flags, environment, the argv it parses and the texts it prints.
 * Isolated configuration, Py_SetPath, Py_SetPythonHome and module_search_paths must not be used: each
 * switches off a part of getpath.py. */

/* In an environment whose interpreter `pieprof install` has replaced, links lead to us and not to the interpreter it
 * was made with. */
static PyStatus set_base_executable(PyConfig *config, const struct pie_embed *embed) {
    char path[PATH_MAX];
    const char *name = embed->program_name ? embed->program_name : embed->argv[0];
    if (!name || !pie_target_base_executable(name, path))
        return PyStatus_Ok();
    return PyConfig_SetBytesString(config, &config->base_executable, path);
}

static PyStatus initialize(PyConfig *config, const struct pie_embed *embed) {
    PyStatus status = PyConfig_SetBytesArgv(config, embed->argc, embed->argv);
    if (PyStatus_Exception(status))
        return status;
    if (embed->program_name) {
        status = PyConfig_SetBytesString(config, &config->program_name, embed->program_name);
        if (PyStatus_Exception(status))
            return status;
    }
    status = set_base_executable(config, embed);
    if (PyStatus_Exception(status))
        return status;
    return Py_InitializeFromConfig(config);
}

static bool counts_memory(void) {
    return pie_engine_is_running() && pie_heap_settings() && pie_heap_settings()->has_memory &&
           pie_python_has_allocator_lock();
}

static void install_places(const struct pie_embed *embed) {
    bool has_places = embed->trace_places && embed->trace_places[0];
    if (has_places && !pie_gil_is_there && embed->warn)
        embed->warn("--learn: loops are not traced in a Python without the GIL");
    pie_trace_places_install(pie_gil_is_there ? embed->trace_places : NULL);
}

/* What must be there before Python's first allocation, thread or code. */
static void install_before_python(const struct pie_embed *embed) {
    pie_hybrid_set_starting(true);
    pie_thread_names_install();
    pie_trace_module_install();
    install_places(embed);
    if (counts_memory())
        pie_pymem_install();
    if (pie_gil_is_there)
        pie_asyncio_install();
}

/* Is this Python one that can be read? It may be another release than that of the headers. */
static void verify(const struct pie_embed *embed) {
    const char *what = "no Python lines", *why = pie_runtime_pystack_refusal();
    if (!why) {
        why = "this Python keeps its threads elsewhere than the release that pieprof was built with";
        what = pie_stacks_verify((uintptr_t)PyThreadState_Get(), (int32_t)syscall(SYS_gettid));
    }
    if (what && embed->warn)
        embed->warn("%s: %s", what, why);
}

/* What is exchanged in its modules. */
static void install_in_python(void) {
    pie_cell_sources_install();
    pie_lock_methods_install();
    pie_windows_install();
    if (counts_memory()) {
        pie_retention_install();
        pie_pymem_measure();
    }
}

int pie_embed_run(const struct pie_embed *embed) {
    PyPreConfig preconfig;
    PyPreConfig_InitPythonConfig(&preconfig);
    PyStatus status = Py_PreInitializeFromBytesArgs(&preconfig, embed->argc, embed->argv);
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
    if (pie_engine_is_running())
        install_before_python(embed);

    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    status = initialize(&config, embed);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) /* -h and -V end here too, with status 0 */
        Py_ExitStatusException(status);
    pie_pymem_answers_in_sys();
    if (pie_engine_is_running()) {
        install_in_python();
        verify(embed);
    }
    if (embed->board)
        (void)pie_confirm_install(embed->board); /* the board says whether it counts */
    pie_hybrid_set_starting(false);
    return Py_RunMain();
}

const bool pie_embed_has_python = true;

/* That of the interpreter, of which a guest knows the minor version only: "3.11.2 (main, …) [GCC …]" begins with it. */
const char *pie_embed_python_version(void) {
    static char version[32];
    const char *text = Py_GetVersion();
    snprintf(version, sizeof version, "%.*s", (int)strcspn(text, " "), text);
    return version;
}

const char *pie_embed_python_build(void) {
    return Py_GetBuildInfo();
}

const char *pie_embed_linkage(void) {
    return PIE_PYTHON_LINKAGE;
}

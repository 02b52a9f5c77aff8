/* SPDX-License-Identifier: Apache-2.0 */

/* The core's entry. An interpreter's _start calls __libc_start_main(), which the core exports: so it is there before
 * main() and after the loader. What main() of an interpreter does, Py_BytesMain(), is done by its public parts
 * (runtime/embed/embed.c), with everything installed between them as in pieprof itself. */

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "launcher/command/command.h"
#include "launcher/guest/environment.h"
#include "launcher/options/options.h"
#include "launcher/session/child_env.h"
#include "launcher/session/session.h"
#include "launcher/text/messages.h"
#include "profiler/collect/engine.h"
#include "runtime/embed/embed.h"
#include "runtime/libc/export.h"

typedef int (*main_function)(int argc, char **argv, char **environment);
typedef int (*start_function)(main_function main, int argc, char **argv, void (*init)(void),
                              void (*fini)(void), void (*loader_fini)(void), void *stack_end);

PIE_EXPORT int __libc_start_main(main_function main, int argc, char **argv, void (*init)(void),
                                 void (*fini)(void), void (*loader_fini)(void), void *stack_end);

/* Everything lives until the process ends: the profiler and Python borrow from it. */
static main_function interpreter_main;
static struct pie_options options;
static struct pie_child_env child;
static struct pie_confirm_board *board; /* where a second run counts; NULL: this is none */
static char *preload, core_path[PATH_MAX];

/* Where the loader found us: the first of the libraries. */
static void find_core(void) {
    const char *path = strchr(preload, '=') + 1;
    snprintf(core_path, sizeof core_path, "%.*s", (int)strcspn(path, ":"), path);
}

/* The first process of a run says what is wrong, as pieprof itself does. Returns 0 where the program is to run. */
static int judge(int started) {
    int r = pie_engine_write_error();
    if (!child.is_root)
        return 0;
    if (started < 0)
        pie_message_warning("cannot profile: %s; running unprofiled", strerror(-started));
    if (r == 0)
        return 0;
    pie_message_error("cannot write the profile to %s: %s; choose another file with -o",
                      pie_session_output(&options), strerror(-r));
    return PIE_EXIT_USAGE;
}

/* As the interpreter was called: for a script the kernel has put it before the arguments. */
static const char *executable(char **argv) {
    return argv[0] && strchr(argv[0], '/') ? argv[0] : (const char *)getauxval(AT_EXECFN);
}

static int start(char **argv) {
    if (!child.is_profiled || pie_child_env_apply(&child, &options) < 0)
        return 0;
    if (child.is_root)
        pie_messages_set_verbose(options.config.is_verbose);
    find_core();
    struct pie_session session = {
        .options = &options,
        .self = core_path,
        .preload = preload,
        .executable = executable(argv),
        .children = child.target,
        .argv = argv[0] ? argv + 1 : argv,
        .summary_pid = child.summary_pid,
    };
    return judge(pie_session_start(&session));
}

static int guest_main(int argc, char **argv, char **environment) {
    if (!pie_guest_take(argc, argv, &child, &board, &preload) || !preload)
        return interpreter_main(argc, argv, environment);
    int status = start(argv);
    if (status != 0)
        return status;
    bool has_places = child.is_root && child.is_profiled && options.config.has_traced_loops;
    struct pie_embed embed = {
        .argc = argc,
        .argv = argv,
        .trace_places = has_places ? options.config.trace_places : NULL,
        .board = board,
        .warn = child.is_root ? pie_message_warning : NULL,
    };
    return pie_embed_run(&embed);
}

int __libc_start_main(main_function main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack_end) {
    start_function libc = (start_function)dlsym(RTLD_NEXT, "__libc_start_main");
    interpreter_main = main;
    return libc(guest_main, argc, argv, init, fini, loader_fini, stack_end);
}

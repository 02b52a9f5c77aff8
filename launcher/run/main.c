/* SPDX-License-Identifier: Apache-2.0 */

/* The program's two faces. Called as pieprof it has options and commands of its own and stands for an interpreter;
 * called as python, or started by a profiled process in place of the interpreter, it is Python to the letter. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "launcher/answers/profile.h"
#include "launcher/options/options.h"
#include "launcher/session/child_env.h"
#include "launcher/run/as_guest.h"
#include "launcher/run/command_line.h"
#include "launcher/run/commands.h"
#include "launcher/run/deadly_filter.h"
#include "launcher/run/help.h"
#include "launcher/run/python_name.h"
#include "launcher/session/board.h"
#include "launcher/session/preload.h"
#include "launcher/run/script_word.h"
#include "launcher/session/session.h"
#include "launcher/text/messages.h"
#include "profiler/collect/engine.h"
#include "runtime/embed/aging.h"
#include "runtime/embed/embed.h"
#include "runtime/interpreter/target.h"

/* Everything lives until the process ends: the profiler and Python borrow from it. */
static struct pie_options options;
static struct pie_target target;
static char self[PATH_MAX];

/* The process's name in ps and top is that of the interpreter too. Threads inherit it. */
static void take_name_of(const char *interpreter) {
    const char *slash = strrchr(interpreter, '/');
    prctl(PR_SET_NAME, slash ? slash + 1 : interpreter);
}

static int run_plain_python(int argc, char **argv, const struct pie_child_env *child) {
    struct pie_embed embed = {
        .argc = argc, .argv = argv, .warn = child->is_child ? NULL : pie_message_warning};
    return pie_embed_run(&embed);
}

/* A process of a run that another process began. It says nothing: the root of the run has said it. */
static void start_as_child(struct pie_child_env *child, char **argv) {
    if (!child->is_profiled || pie_target_self(self) < 0)
        return;
    if (pie_child_env_apply(child, &options) < 0)
        return;
    /* where it cannot be had the parent has said so */
    (void)pie_preload_allocator(options.config.allocator, argv, pie_child_env_restore, child);
    pie_target_from_name(argv[0], self, &target);
    struct pie_session session = {
        .options = &options,
        .self = self,
        .executable = target.path,
        .children = child->target,
        .argv = argv[0] ? argv + 1 : argv,
        .summary_pid = child->summary_pid,
    };
    pie_session_start(&session);
}

#define NO_JEMALLOC "jemalloc cannot serve malloc()"

/* Once for a run. */
static void say_if_aged(void) {
    char text[PATH_MAX + 256];
    if (pie_aging_describe(text, sizeof text))
        pie_message_warning("%s", text);
}

/* Called as python with profiling wanted. Whatever is in the way costs one line, never the program. */
static void start_under_python_name(char **argv) {
    /* A process that another profiled one has started needs no trial: it is under the filter of that one, or was not
     * started in place of an interpreter (runtime/libc/exec.c). */
    if (pie_filter_is_deadly())
        return;
    pie_options_init(&options);
    if (pie_options_from_environment(&options) < 0 || pie_options_complete(&options) < 0) {
        pie_message_warning("%s; running unprofiled", options.error);
        return;
    }
    options.config.is_quiet = true;
    if (pie_preload_allocator(options.config.allocator, argv, NULL, NULL) < 0)
        pie_message_warning(NO_JEMALLOC "; running with the system's");
    if (pie_target_self(self) < 0) {
        pie_message_warning("cannot find out where this program is, without /proc; running unprofiled");
        return;
    }
    pie_target_from_name(argv[0], self, &target);
    struct pie_session session = {
        .options = &options,
        .self = self,
        .executable = target.path,
        .children = target.children,
        .argv = argv[0] ? argv + 1 : argv,
    };
    char *why = NULL;
    int r = pie_session_check(&options, &why);
    if (r == 0 && (r = pie_session_start(&session)) == 0)
        r = pie_engine_write_error();
    if (r == 0)
        say_if_aged();
    if (r < 0)
        pie_message_warning("%s%s; running unprofiled",
                            why ? "" : "cannot profile: ", why ? why : strerror(-r));
}

static int run_as_python(int argc, char **argv, struct pie_child_env *child) {
    bool is_trusted = !getauxval(AT_SECURE);
    if (child->is_child)
        take_name_of(argv[0]);
    if (child->is_child && is_trusted)
        start_as_child(child, argv);
    else if (is_trusted && pie_python_name_wants_profile())
        start_under_python_name(argv);
    return run_plain_python(argc, argv, child);
}

/* The second run of pieprof confirm: no profile, only the counts. */
static int run_counted(int argc, char **argv, struct pie_confirm_board *board) {
    take_name_of(argv[0]);
    struct pie_embed embed = {.argc = argc, .argv = argv, .program_name = argv[0], .board = board};
    return pie_embed_run(&embed);
}

static void say_if_foreign(void) {
    if (target.foreign_venv[0])
        pie_message_warning(
            "the active virtual environment %s is for another interpreter than %s, which this pieprof "
            "was built with; it is not used",
            target.foreign_venv, PIE_PYTHON);
}

static void say_what_starts(void) {
    pie_message_detail("%s (Python %s, %s libpython) into %s", target.path, pie_embed_python_version(),
                       pie_embed_linkage(), options.config.output);
    say_if_foreign();
}

/* Returns 0 where the program is to run, with a profile or without, or else the exit status. */
static int start_profile(char **argv) {
    char *why = NULL;
    int r = pie_session_check(&options, &why);
    if (r < 0) {
        pie_message_error("%s", why ? why : strerror(-r));
        return PIE_EXIT_USAGE;
    }
    if ((r = pie_preload_allocator(options.config.allocator, argv, NULL, NULL)) < 0) {
        pie_message_error(NO_JEMALLOC ": %s; install libjemalloc2, or take --allocator=system",
                          r == -ENOENT ? "it is not installed" : strerror(-r));
        return PIE_EXIT_USAGE;
    }
    say_what_starts();
    say_if_aged();
    take_name_of(target.path);
    struct pie_session session = {
        .options = &options,
        .self = self,
        .executable = target.path,
        .children = target.children,
        .argv = options.python_argv + 1,
        .summary_pid = getpid(),
        .late_hint = pie_script_word_late(),
    };
    if ((r = pie_session_start(&session)) < 0)
        pie_message_warning("cannot profile: %s; running unprofiled", strerror(-r));
    if ((r = pie_engine_write_error()) < 0) {
        pie_message_error("cannot write the profile to %s: %s; choose another file with -o",
                          pie_session_output(&options), strerror(-r));
        return PIE_EXIT_USAGE;
    }
    return 0;
}

/* Returns whether this program can stand for the interpreter that is wanted, and target is that one. */
static bool find_target(void) {
    const char *name = options.config.python;
    if (!name)
        pie_target_find(self, &target);
    return !name || pie_target_find_named(name, self, &target);
}

/* The command line is understood: finds the interpreter to stand for, and runs the program as that one, or with that
 * one. */
static int run_profiled(char **argv) {
    bool is_deadly = pie_filter_is_deadly();
    int r = pie_target_self(self);
    if (r < 0) {
        pie_message_error("cannot find out where this program is: %s; is /proc mounted?", strerror(-r));
        return PIE_EXIT_USAGE;
    }
    bool is_ours = find_target();
    if (options.config.is_guest || !is_ours) {
        say_if_foreign();
        return pie_run_as_guest(is_ours ? target.path : options.config.python, self, &options, !is_deadly);
    }
    if (!is_deadly && (r = start_profile(argv)) != 0)
        return r;
    options.python_argv[0] = target.path;
    struct pie_embed embed = {
        .argc = options.python_argc,
        .argv = options.python_argv,
        .program_name = target.path,
        .trace_places = options.config.has_traced_loops && !is_deadly ? options.config.trace_places : NULL,
        .warn = pie_message_warning,
    };
    return pie_embed_run(&embed);
}

static int run_as_pieprof(char **argv) {
    int status;
    return pie_command_line_ends(argv, &options, &status) ? status : run_profiled(argv);
}

int main(int argc, char **argv) {
    struct pie_child_env child;
    pie_preload_clean();
    pie_child_env_take(&child);
    struct pie_confirm_board *board = pie_confirm_board_take();
    if (board && argc > 0)
        return run_counted(argc, argv, board);
    if (child.is_child || pie_python_name_is_called(argv[0]))
        return run_as_python(argc, argv, &child);
    const struct pie_command *command = argc > 1 ? pie_command_find(argv[1]) : NULL;
    if (command && pie_command_is_help_wanted(argc - 1, argv + 1))
        return pie_help_print_command(command, stdout), 0;
    return command ? pie_command_run(command, argc - 1, argv + 1) : run_as_pieprof(argv);
}

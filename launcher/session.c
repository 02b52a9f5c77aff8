/* SPDX-License-Identifier: Apache-2.0 */

/* A process can end in four ways that leave us time: exit() (also sys.exit() and the end of main, after Python has
 * finished), _exit(), an exec in place, and Python killing itself by SIGINT after an unhandled KeyboardInterrupt. Exec is
 * runtime/exec.c's; the others come here. A signal without a core leaves half a second (runtime/death.h), and no summary. What
 * ends by any other keeps what was flushed before. */

#include "launcher/session.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/child_env.h"
#include "launcher/messages.h"
#include "launcher/options.h"
#include "launcher/output_path.h"
#include "launcher/summary.h"
#include "profiler/engine.h"
#include "profiler/watch_setup.h"
#include "runtime/death.h"
#include "runtime/embed.h"
#include "runtime/exec.h"
#include "runtime/exit.h"
#include "runtime/install.h"
#include "runtime/interrupt.h"
#include "runtime/learn_places.h"
#include "runtime/memory_facts.h"
#include "runtime/signals.h"
#include "storage/writer.h"

/* A forked child keeps it; summary_pid tells it that it is not the one to speak. */
static struct pie_session current;
static struct pie_process_facts facts;

/* The file: of all processes, or of this one. Where the processes cannot lock the common file against each other, each
 * gets its own, as if --per-process had been given; a forked child inherits the decision. Written by the collection
 * thread while the engine starts, which waits for it. */
static char path[PATH_MAX];
static _Atomic bool is_alone;

const char *pie_session_output(const struct pie_options *options) {
    return path[0] ? path : options->config.output;
}

int pie_session_check(const struct pie_options *options, char **ret_why) {
    char own[PATH_MAX];
    if (!options->config.per_process)
        return pie_writer_check(options->config.output, ret_why);
    int r = pie_output_expand(options->config.output, own, sizeof own);
    return r < 0 ? r : pie_writer_check(own, ret_why);
}

static int open_own(const struct pie_config *config, struct pie_sink **ret_sink) {
    struct pie_config alone = *config;
    alone.per_process = true;
    int r = pie_output_expand(config->output, path, sizeof path);
    return r < 0 ? r : pie_writer_open(path, &alone, ret_sink);
}

static int open_sink(const struct pie_config *config, struct pie_sink **ret_sink) {
    if (config->per_process || is_alone)
        return open_own(config, ret_sink);
    int r = pie_writer_open(config->output, config, ret_sink);
    if (r != -ENOLCK && r != -EBUSY)
        return r;
    r = open_own(config, ret_sink);
    is_alone = r == 0;
    return r;
}

/* Once, by the process that speaks for the run. */
static void tell_alone(const struct pie_config *config) {
    if (is_alone && getpid() == current.summary_pid)
        pie_message_warning(
            "%s cannot be locked there, or is held by another program: each process writes its own "
            "file, this one %s; pieprof merge joins them",
            config->output, path);
}

/* Writing may wait for a disk or another process: a Ctrl-C from here on ends the process. Python has already given up
 * its handler, except under os._exit(). Ignored stays ignored, as in a background job. */
static void let_interrupt_abort(void) {
    struct sigaction action;
    if (sigaction(SIGINT, NULL, &action) < 0 || action.sa_handler == SIG_IGN)
        return;
    action = (struct sigaction){.sa_handler = SIG_DFL};
    sigaction(SIGINT, &action, NULL);
}

/* What we read and say here may be refused by a signal: a file that may not grow (SQLite's index of the log), a reader of
 * stderr who has gone. The program may have given these their own meaning again, which is death. The thread ends with
 * them waiting. */
static void heed_no_refusals(void) {
    sigset_t refusals;
    sigemptyset(&refusals);
    sigaddset(&refusals, SIGXFSZ);
    sigaddset(&refusals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &refusals, NULL);
}

static void tell_error(int error) {
    const char *output = pie_session_output(current.options);
    if (error == -ENOENT)
        pie_message_error(
            "the profile %s is not there any more (moved, removed, or outside of the program's new root); "
            "what came after that is lost",
            output);
    else
        pie_message_error("the profile in %s is incomplete: %s; what was written before that is kept", output,
                          strerror(-error));
}

/* Of loops that were asked for by --learn. */
static void tell_places(void) {
    const char *const *places = current.options->config.learn_places;
    char text[512];

    for (size_t i = 0; places[i]; i++) {
        pie_learn_places_tell(i, text, sizeof text);
        if (*text)
            pie_message_warning("--learn %s: %s", places[i], text);
    }
}

static void end(const char *cause, int status) {
    if (!pie_engine_is_running())
        return;
    let_interrupt_abort();
    int64_t run_id = pie_engine_run_id();
    pie_engine_finish(cause, status);
    if (getpid() != current.summary_pid)
        return;
    heed_no_refusals();
    int error = pie_engine_write_error();
    if (error < 0)
        tell_error(error);
    tell_places();
    if (error < 0 && access(pie_session_output(current.options), R_OK) < 0)
        return; /* it has been said */
    if (!current.options->config.quiet)
        pie_summary_print(pie_session_output(current.options), run_id > 0 ? run_id : pie_engine_run_id());
}

static void at_exit(int status, void *unused) {
    end("exit", status & 0xff);
    pie_death_await();
}

static void at_fast_exit(int status) {
    end("_exit", status & 0xff);
}

static void at_interrupt(int signal_number) {
    end("signal", 128 + signal_number);
}

/* Children find their way to us, or are told to stay away from the profile. */
static int prepare_children(const struct pie_session *session) {
    if (!session->options->config.children) {
        pie_exec_set_target(NULL, session->self);
        pie_exec_set_child_variable(PIE_CHILD_ENV_OFF);
        return 0;
    }
    struct pie_options options = *session->options;
    options.config.per_process = options.config.per_process || is_alone;
    char *variable =
        pie_child_env_make(&options, session->children, session->summary_pid, pie_watch_price_known());
    if (!variable)
        return -ENOMEM;
    pie_exec_set_target(session->children, session->self);
    pie_exec_set_child_variable(variable);
    return 0;
}

int pie_session_start(const struct pie_session *session) {
    current = *session;
    facts = (struct pie_process_facts){
        .argv = (const char *const *)current.argv,
        .executable = current.executable,
        .python_version = pie_embed_python_version(),
        .take_signal = pie_signals_take,
        .memory = pie_memory_facts(),
    };
    int r = pie_runtime_install();
    if (r < 0)
        return r;
    r = pie_engine_start(&current.options->config, pie_runtime_pystack_ops(), &facts, open_sink);
    if (r < 0)
        return r;
    if (pie_engine_write_error() < 0)
        return 0; /* the caller says so, or goes on without a profile */
    tell_alone(&current.options->config);
    on_exit(at_exit, NULL); /* before Python's own: runs after them */
    pie_exit_set_hook(at_fast_exit);
    pie_interrupt_set_hook(at_interrupt);
    return prepare_children(&current);
}

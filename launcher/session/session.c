/* SPDX-License-Identifier: Apache-2.0 */

/* A process can end in four ways that leave us time: exit() (also sys.exit() and the end of main, after Python has
 * finished), _exit(), an exec in place, and Python killing itself by SIGINT after an unhandled KeyboardInterrupt. Exec
 * is runtime/libc/exec.c's; the others come here. A signal without a core leaves half a second (runtime/libc/death.h),
 * and no summary. What ends by any other keeps what was flushed before. */

#include "launcher/session/session.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/summary/summary.h"
#include "launcher/options/options.h"
#include "launcher/options/output_path.h"
#include "launcher/progress/progress.h"
#include "launcher/session/child_env.h"
#include "launcher/text/messages.h"
#include "profiler/collect/engine.h"
#include "profiler/ports/facts.h"
#include "profiler/watch/setup.h"
#include "runtime/embed/embed.h"
#include "runtime/embed/install.h"
#include "runtime/embed/interrupt.h"
#include "runtime/interpreter/cell_sources.h"
#include "runtime/libc/death.h"
#include "runtime/libc/exec.h"
#include "runtime/libc/exit.h"
#include "runtime/libc/filter.h"
#include "runtime/libc/signals.h"
#include "runtime/memory/facts.h"
#include "runtime/trace/places.h"
#include "storage/write/writer.h"

/* A forked child keeps it; summary_pid shows it that the summary is not its own. */
static struct pie_session current;
static struct pie_process_facts facts;

/* The file: of all processes, or of this one. Where the processes cannot lock the common file against each other, each
 * gets its own, as if --per-process had been given; a forked child inherits the decision. Written by the collection
 * thread while the engine starts, which waits for it. */
static char path[PATH_MAX];
static _Atomic bool is_alone;

/* What stands under the name that was asked for is no profile, or was made by an enemy (storage/file/schema_check.h):
 * it is left as it is, and the run goes into a file beside it, which the next run finds too. */
enum { BESIDE_MAX = 9 };
static _Atomic int refusal; /* -errno: why */
static _Atomic bool is_choosing;
static _Atomic bool is_followed; /* children are started under pieprof */

const char *pie_session_output(const struct pie_options *options) {
    return path[0] ? path : options->config.output;
}

/* Opens `name`, or the first beside it that will do; `path` is its name. Children of the run take what their parent
 * took. */
static int open_one(const char *name, const struct pie_config *config, struct pie_sink **ret_sink) {
    int r = pie_writer_open(name, config, ret_sink), why = r;
    if (name != path)
        snprintf(path, sizeof path, "%s", name);
    for (int n = 2;
         n <= BESIDE_MAX && (!config->is_child || config->is_per_process) && pie_writer_is_refusal(r); n++) {
        refusal = why;
        r = pie_output_beside(name, n, path, sizeof path);
        if (r == 0)
            r = pie_writer_open(path, config, ret_sink);
    }
    return r;
}

static int open_own(const struct pie_config *config, struct pie_sink **ret_sink) {
    char own[PATH_MAX];
    struct pie_config alone = *config;
    alone.is_per_process = true;
    int r = pie_output_expand(config->output, own, sizeof own);
    return r < 0 ? r : open_one(own, &alone, ret_sink);
}

static int open_shared(const struct pie_config *config, struct pie_sink **ret_sink) {
    int r = open_one(config->is_child && path[0] ? path : config->output, config, ret_sink);
    if (r != -ENOLCK && r != -EBUSY)
        return r;
    r = open_own(config, ret_sink);
    is_alone = r == 0;
    return r;
}

static const char *why_refused(int error) {
    switch (error) {
    case -EEXIST:
        return "is another program's database";
    case -EPROTO:
        return "was made by another version of pieprof";
    case -EISDIR:
    case -EINVAL:
    case -ELOOP:
        return "is no regular file, or what stands beside it is none";
    default:
        return "is damaged, or was changed by another program";
    }
}

/* Once, by the first process of the run. */
static void tell_beside(const struct pie_options *options) {
    char name[PATH_MAX];
    int why = atomic_exchange(&refusal, 0);
    if (!why || options->config.is_child || is_choosing)
        return;
    if (!options->config.is_per_process || pie_output_expand(options->config.output, name, sizeof name) < 0)
        snprintf(name, sizeof name, "%s", options->config.output);
    pie_message_warning("%s %s, and is left alone; this run goes into %s", name, why_refused(why), path);
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

/* What we read and say here may be refused by a signal: a file that may not grow (SQLite's index of the log), a reader
 * of stderr who has gone. The program may have given these their own meaning again, which is death. The thread ends
 * with them waiting. */
static void block_refusal_signals(void) {
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
    const char *const *places = current.options->config.trace_places;
    char text[512];

    for (size_t i = 0; places[i]; i++) {
        pie_trace_places_tell(i, text, sizeof text);
        if (*text)
            pie_message_warning("--learn %s: %s", places[i], text);
    }
}

static void finish(const char *cause, int status) {
    int64_t run_id = pie_engine_run_id();
    pie_engine_finish(cause, status);
    if (getpid() != current.summary_pid)
        return;
    pie_progress_end();
    block_refusal_signals();
    tell_beside(current.options);
    int error = pie_engine_write_error();
    if (error < 0)
        tell_error(error);
    tell_places();
    if (error < 0 && access(pie_session_output(current.options), R_OK) < 0)
        return; /* it has been said */
    if (!current.options->config.is_quiet)
        pie_summary_print(pie_session_output(current.options), run_id > 0 ? run_id : pie_engine_run_id(),
                          pie_engine_unwritten_ns);
    if (current.late_hint)
        pie_message_warning("%s", current.late_hint);
}

static void end(const char *cause, int status) {
    if (!pie_engine_is_running())
        return;
    let_interrupt_abort();
    finish(cause, status);
}

/* The program goes on under a seccomp filter of its own, in which nothing more can be written. Refusals that finish()
 * met are ours, and are taken before the mask is the program's again. */
static void at_filter(void) {
    sigset_t before, refusals, was_waiting;

    if (getpid() == current.summary_pid)
        pie_message_warning("the program is about to set a seccomp filter; what comes after is not profiled");
    sigpending(&was_waiting);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    finish("seccomp", -1);
    sigemptyset(&refusals);
    if (!sigismember(&before, SIGXFSZ) && !sigismember(&was_waiting, SIGXFSZ))
        sigaddset(&refusals, SIGXFSZ);
    if (!sigismember(&before, SIGPIPE) && !sigismember(&was_waiting, SIGPIPE))
        sigaddset(&refusals, SIGPIPE);
    while (sigtimedwait(&refusals, NULL, &(struct timespec){0}) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
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

/* Children join the run in the file that was chosen. */
static int tell_children(void) {
    struct pie_options options = *current.options;
    options.config.is_per_process = options.config.is_per_process || is_alone;
    if (!options.config.is_per_process && path[0])
        options.config.output = path;
    char *variable = pie_child_env_make(&options, current.children, current.summary_pid,
                                        pie_watch_price_known(), pie_clock_price_known());
    if (!variable)
        return -ENOMEM;
    pie_exec_set_child_variable(variable);
    return 0;
}

/* Children find their way to us, or get the order not to profile. Without one, those of a guest are not
 * ours. */
static int prepare_children(const struct pie_session *session) {
    pie_exec_set_target(session->options->config.has_children ? session->children : NULL, session->self);
    pie_exec_set_preload(session->preload);
    is_followed = session->options->config.has_children;
    if (is_followed)
        return tell_children();
    pie_exec_set_child_variable(session->preload ? NULL : PIE_CHILD_ENV_OFF);
    return 0;
}

/* A file that is slow to open may be chosen after the program has begun. A child that is started before waits for the
 * run's number (runtime/libc/exec.c), which comes after this. */
static int open_sink(const struct pie_config *config, struct pie_sink **ret_sink) {
    is_choosing = true;
    int r = (config->is_per_process || is_alone ? open_own : open_shared)(config, ret_sink);
    is_choosing = false;
    if (r == 0 && is_followed && !config->is_child)
        (void)tell_children();
    if (r == 0 && !config->is_child)
        pie_progress_watch(*ret_sink);
    return r;
}

int pie_session_start(const struct pie_session *session) {
    current = *session;
    facts = (struct pie_process_facts){
        .argv = (const char *const *)current.argv,
        .executable = current.executable,
        .python_version = pie_embed_python_version(),
        .take_signal = pie_signals_take,
        .made_source = pie_cell_sources_find,
        .memory = pie_memory_facts(),
    };
    if (!current.options->config.is_child)
        pie_progress_prepare(current.options->config.has_progress, current.options->config.is_verbose);
    int r = pie_runtime_install();
    if (r < 0)
        return r;
    r = pie_engine_start(&current.options->config, pie_runtime_pystack_ops(), &facts, open_sink);
    if (r < 0)
        return r;
    if (pie_engine_write_error() < 0)
        return 0; /* the caller says so, or goes on without a profile */
    tell_alone(&current.options->config);
    tell_beside(current.options);
    on_exit(at_exit, NULL); /* before Python's own: runs after them */
    pie_exit_set_hook(at_fast_exit);
    pie_interrupt_set_hook(at_interrupt);
    pie_filter_set_hook(at_filter);
    return prepare_children(&current);
}

/* SPDX-License-Identifier: Apache-2.0 */

/* How a process ended is known from what its parent got when it waited (runtime/libc/children.c); from waitid() with
 * WNOWAIT, which looks and leaves the child to the program, where it has not waited yet; or not at all: then all that
 * can be said is that the process is gone. The entries of children are their parent's; when that is gone, anybody's who
 * shares the table. */

#include "profiler/process/ends.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/proc_file.h"
#include "profiler/ports/config.h"
#include "profiler/ports/facts.h"
#include "profiler/ports/sink.h"
#include "profiler/process/table.h"
#include "profiler/thread/ending.h"

enum { ARGV_WORDS_MAX = PIE_PROCESS_ARGV_BYTES + 1 };

/* Of what /proc says about times: ticks, and clocks that are read one after the other. */
static const int64_t START_SLACK_NS = 2000000000;

/* A child whose id nobody has told for so long was never made. */
static const int64_t UNKNOWN_PID_NS = 10000000000;

static int64_t boot_ns(void) {
    return pie_realtime_ns() - (int64_t)pie_clock_ns(CLOCK_BOOTTIME);
}

/* proc(5): the state is the third field of stat, the start in ticks the 22nd; the second one is in parentheses and may
 * contain anything. */
static bool is_other_or_dead(const char *stat, int64_t started_ns) {
    const char *at = strrchr(stat, ')');
    unsigned long long ticks;
    char state;

    if (!at ||
        sscanf(at + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &state, &ticks) != 2)
        return false;
    if (state == 'Z' || state == 'X')
        return true;
    int64_t began_ns = boot_ns() + (int64_t)(ticks * (1000000000u / (unsigned long)sysconf(_SC_CLK_TCK)));
    return began_ns > started_ns + START_SLACK_NS;
}

bool pie_process_is_gone(int32_t pid, int64_t started_ns) {
    char path[64], stat[1024];

    if (pid <= 0)
        return false;
    if (syscall(SYS_kill, pid, 0) < 0 && errno == ESRCH)
        return true;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    return pie_proc_read(path, stat, sizeof stat) > 0 && is_other_or_dead(stat, started_ns);
}

/* Notes how a child of this process has ended that nobody has waited for. False: it is no child any more. */
static bool peek(int32_t pid) {
    siginfo_t info = {0};

    if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT, NULL) < 0)
        return false;
    if (info.si_pid == pid)
        pie_process_ended(pid, info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : info.si_status);
    return true;
}

/* Entries of one parent mostly stand together. */
struct parent {
    int32_t pid;
    bool is_gone;
};

static bool is_orphan(const struct pie_process_entry *entry, struct parent *last) {
    if (last->pid != entry->parent_pid) {
        last->pid = entry->parent_pid;
        last->is_gone = pie_process_is_gone(entry->parent_pid, entry->started_ns);
    }
    return last->is_gone;
}

struct end {
    const char *cause;
    int exit_status;
    int64_t ended_ns;
};

/* A thread may have its status from the kernel already and be about to note it: it has until the next look. */
static bool is_missed_again(struct pie_process_entry *entry) {
    uint32_t before = atomic_fetch_or_explicit(&entry->flags, PIE_PROCESS_MISSED, memory_order_relaxed);

    return (before & PIE_PROCESS_MISSED) || pie_ending_is_asked();
}

/* False: it goes on, or is not for us to judge. */
static bool look_at(struct pie_process_entry *entry, struct parent *last_parent, struct end *end) {
    int32_t pid = atomic_load_explicit(&entry->pid, memory_order_acquire), self = getpid();
    bool is_child = entry->parent_pid == self;

    if (!is_child && !is_orphan(entry, last_parent))
        return false;
    if (pid == 0)
        return pie_realtime_ns() - entry->started_ns > UNKNOWN_PID_NS;
    if (pid == self || atomic_load_explicit(&entry->own_pid, memory_order_relaxed) == self)
        return false;
    bool is_there = is_child && peek(pid);
    end->ended_ns = atomic_load_explicit(&entry->ended_ns, memory_order_acquire);
    if (end->ended_ns == 0) {
        end->cause = "gone";
        end->exit_status = -1;
        return !is_there && pie_process_is_gone(pid, entry->started_ns) && is_missed_again(entry);
    }
    int status = atomic_load_explicit(&entry->wait_status, memory_order_relaxed);
    end->cause = WIFSIGNALED(status) ? "killed" : "exit";
    end->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

static const char *const *argv_of(struct pie_process_entry *entry, const struct pie_process_facts *facts,
                                  const char *words[ARGV_WORDS_MAX]) {
    const char *at = entry->argv;

    if (!(atomic_load_explicit(&entry->flags, memory_order_acquire) & PIE_PROCESS_EXECED))
        return facts->argv;
    for (uint32_t i = 0; i < entry->argv_words; i++, at += strlen(at) + 1)
        words[i] = at;
    words[entry->argv_words] = NULL;
    return words;
}

static int write_end(struct pie_process_entry *entry, const struct end *end, struct pie_sink *sink,
                     const struct pie_config *config, const struct pie_process_facts *facts) {
    const char *words[ARGV_WORDS_MAX];
    uint32_t flags = atomic_load_explicit(&entry->flags, memory_order_acquire);
    int32_t own_pid = atomic_load_explicit(&entry->own_pid, memory_order_relaxed);
    struct pie_process_end_row row = {
        .pid = own_pid ? own_pid : atomic_load_explicit(&entry->pid, memory_order_relaxed),
        .parent_pid = entry->parent_pid,
        .started_ns = entry->started_ns,
        .ended_ns = end->ended_ns,
        .cause = end->cause,
        .exit_status = end->exit_status,
        .write_error = atomic_load_explicit(&entry->write_error, memory_order_relaxed),
        .lost_counter = pie_counter_name(PIE_COUNTER_SINK_ERRORS),
        .may_have_own_file = (flags & (PIE_PROCESS_EXECED | PIE_PROCESS_HAS_ROW)) != 0,
        .argv = config->has_argv ? argv_of(entry, facts, words) : NULL,
        .executable = facts->executable,
    };

    return flags & PIE_PROCESS_DONE ? 0 : sink->ops->put_process_end(sink, &row);
}

int pie_process_ends_write(struct pie_sink *sink, const struct pie_config *config,
                           const struct pie_process_facts *facts) {
    struct pie_process_entry *entry;
    struct parent last_parent = {0};
    size_t index = 0;
    int r = 0;

    while (r == 0 && (entry = pie_process_next(&index)) != NULL) {
        struct end end = {0};
        if (!look_at(entry, &last_parent, &end) || !pie_process_take(entry))
            continue;
        if (end.cause)
            r = write_end(entry, &end, sink, config, facts);
        pie_process_release(entry);
    }
    return r;
}

int pie_process_ends_last(struct pie_sink *sink, bool is_first, int32_t parent_pid, int64_t started_ns) {
    if (!is_first && !pie_process_is_gone(parent_pid, started_ns))
        return 0;
    return sink->ops->complete_run(sink, pie_process_is_gone);
}

/* SPDX-License-Identifier: Apache-2.0 */

/* The amounts are exact. Time off the CPU is wall time minus CPU time. Of it, the kernel says how much a thread was
 * runnable and waited for a processor (/proc/self/task/TID/schedstat, second figure), and machine/throttle.c how much
 * of that was its CPU quota's doing; the rest is waiting. The kernel books a delay when it ends. So the time since a
 * thread last ran is recorded only when it is found asleep, on the CPU, or has run again; until then it is kept apart
 * (undecided_ns). A thread that is asleep between two looks waits; if it turns out that it was woken and got no
 * processor, that much is taken back.
 *
 * The places of waiting are sampled: the time since the last tick goes to the context in which the thread is found
 * blocked now; while it is found running, it is kept in a pool for the next time. What is surely the end of the last
 * wait goes there (book_end()). Those of delays come from the clock's samples: where wall time between two samples of a
 * thread is longer than the CPU time between them, the thread was off the CPU there, and it was so because of a delay
 * that the kernel has booked by then.
 *
 * The Python frames of another thread may only be believed if it did not run while they were read. Its CPU clock says
 * so: equal before and after means that it did not execute one instruction between. A thread whose clock stands where
 * it stood at the last tick is still in the same place, and nothing is read at all. What it waits for is read at the
 * same look, under the same proof (wait_reason.c). */

#include "profiler/time/wait.h"

#include "profiler/base/clocks.h"
#include "profiler/machine/throttle.h"
#include "profiler/ports/pystack.h"
#include "profiler/ports/sink.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"
#include "profiler/time/aggregate.h"
#include "profiler/time/pools.h"
#include "profiler/time/sample_ring.h"
#include "profiler/time/wait_awaits.h"

/* Between two samples: the handler's own time, which is in neither, and the clocks' differences. */
static const uint64_t GAP_MIN_NS = 50000;

/* A holder that none of these looks finds has no place. */
enum { PEER_LOOKS_MAX = 8 };

/* Samples of the thread that is being looked at before which it was off the CPU. Collection thread only. */
static struct {
    struct {
        struct pie_cct_id node;
        uint64_t ns;
    } gaps[PIE_RING_RECORDS];
    size_t count;
    uint64_t total_ns;
} seen;

/* The context of a stopped thread: its Python frames; 0 if it has none or ran meanwhile. Also why it waits, and, if it
 * is an event loop that has nothing to do, where its tasks are suspended. */
static struct pie_cct_id blocked_context(struct pie_wait *wait, struct pie_thread *thread,
                                         const struct pie_pystack_ops *ops, uint64_t cpu_ns) {
    static struct pie_pyframe frames[PIE_FRAMES_MAX]; /* collection thread only */
    static uint64_t keys[PIE_FRAMES_MAX];
    uintptr_t tstate = atomic_load_explicit(&thread->tstate, memory_order_relaxed);
    unsigned flags = 0;
    struct pie_cct_id node = pie_cct_root();
    const struct pie_cct_id none = {0};

    if (!tstate && !(tstate = ops->find_tstate(thread->tid)))
        return none;
    size_t n = ops->walk_thread(tstate, frames, PIE_FRAMES_MAX, &flags);
    if (n == 0 || (flags & PIE_PYSTACK_INVALID))
        return none;
    for (size_t i = 0; i < n; i++) {
        uint32_t id = ops->intern_by_content(frames[i].code, tstate);
        keys[i] = id ? pie_cct_python_key(id, ops->instr_offset(frames[i].code, frames[i].instr)) : 0;
    }
    pie_wait_reason_find(thread, tstate, ops, &wait->reason, &wait->holder);
    wait->n_awaits = pie_wait_awaits_find(ops, tstate, wait->reason.cause, keys, n, wait->awaits);
    if (pie_thread_cpu_of(thread->tid) != cpu_ns)
        return none;
    while (n-- > 0)
        if (keys[n])
            node = pie_cct_child(node, keys[n]);
    return pie_cct_is_root(node) ? none : node;
}

/* ns < 0: takes back. */
static void book(struct pie_wait *wait, const struct pie_thread *thread, struct pie_aggregate *aggregate,
                 int64_t ns) {
    int64_t left_ns = ns;

    wait->booked_ns += (uint64_t)ns;
    for (uint32_t i = wait->n_awaits; i > 0; i--) {
        const struct pie_wait_await *await = &wait->awaits[i - 1];
        const struct pie_wait_reason reason = {
            .cause = await->cause, .coroutine = await->coroutine, .task = await->task};
        int64_t share_ns = left_ns / (int64_t)i;
        pie_aggregate_add_wait(aggregate, thread->id, await->node, &reason, share_ns);
        left_ns -= share_ns;
    }
    if (wait->n_awaits == 0)
        pie_aggregate_add_wait(aggregate, thread->id, wait->blocked_node, &wait->reason, ns);
    if (wait->reason.is_for_native && ns > 0)
        pie_pools_wait(thread, wait->blocked_node, (uint64_t)ns);
}

/* What was booked as waiting and was none. */
static void take_back(struct pie_wait *wait, const struct pie_thread *thread,
                      struct pie_aggregate *aggregate) {
    uint64_t ns = wait->wait_pool_ns < 0 ? (uint64_t)-wait->wait_pool_ns : 0;

    if (ns > wait->booked_ns)
        ns = wait->booked_ns;
    if (ns == 0)
        return;
    book(wait, thread, aggregate, -(int64_t)ns);
    wait->wait_pool_ns += (int64_t)ns;
}

static uint64_t part(uint64_t ns, uint64_t of_ns, uint64_t whole_ns) {
    return (uint64_t)((unsigned __int128)ns * of_ns / whole_ns);
}

/* Puts ns out of the pools, in which there is that much, where the thread was. */
static void place(struct pie_wait *wait, const struct pie_thread *thread, struct pie_aggregate *aggregate,
                  struct pie_cct_id node, uint64_t ns) {
    uint64_t pool_ns = wait->runnable_pool_ns + wait->throttled_pool_ns;
    uint64_t throttled_ns = pool_ns ? part(ns, wait->throttled_pool_ns, pool_ns) : 0;

    if (ns - throttled_ns > wait->runnable_pool_ns)
        throttled_ns = ns - wait->runnable_pool_ns;
    wait->throttled_pool_ns -= throttled_ns;
    wait->runnable_pool_ns -= ns - throttled_ns;
    if (ns)
        pie_aggregate_add_delay(aggregate, thread->id, node, ns - throttled_ns, throttled_ns);
}

/* Delays that are known by now go to the samples that came after them, no more to each than it was off the CPU. */
static void place_at_samples(struct pie_wait *wait, const struct pie_thread *thread,
                             struct pie_aggregate *aggregate) {
    uint64_t pool_ns = wait->runnable_pool_ns + wait->throttled_pool_ns;
    uint64_t left_ns = pool_ns < seen.total_ns ? pool_ns : seen.total_ns, gaps_ns = seen.total_ns;

    for (size_t i = 0; i < seen.count && gaps_ns > 0; i++) {
        uint64_t ns = part(left_ns, seen.gaps[i].ns, gaps_ns);
        place(wait, thread, aggregate, seen.gaps[i].node, ns);
        left_ns -= ns;
        gaps_ns -= seen.gaps[i].ns;
    }
    seen.count = 0;
    seen.total_ns = 0;
}

/* Delays since the last sample, of a thread that has gone to sleep: they were where it was before, a thread that
 * computes in the last sample's place, one that mostly sleeps where it slept, since it is late after each wake. */
static void place_rest(struct pie_wait *wait, const struct pie_thread *thread,
                       struct pie_aggregate *aggregate) {
    if (wait->known_node.value)
        place(wait, thread, aggregate, wait->known_node, wait->runnable_pool_ns + wait->throttled_pool_ns);
}

/* Its first sight. What a living thread waited until then has no place: nobody looked. A thread's delay counts from its
 * creation, the main thread's from that of the process; of it that much is ours as the thread was off the CPU. */
static void start_over(struct pie_wait *wait, const struct pie_thread *thread) {
    uint64_t now_ns = pie_monotonic_ns(), cpu_ns = pie_thread_cpu_of(thread->tid), delay_ns = 0;
    uint64_t slices = 0;

    pie_wait_files_close(&wait->files);
    pie_wait_files_delay(&wait->files, thread->tid, &delay_ns, &slices);
    uint64_t wall_ns = now_ns - thread->started_ns, ran_ns = cpu_ns - thread->started_cpu_ns;
    uint64_t off_ns = wall_ns > ran_ns ? wall_ns - ran_ns : 0,
             ours_ns = delay_ns < off_ns ? delay_ns : off_ns;
    *wait = (struct pie_wait){
        .thread_id = thread->id,
        .files = wait->files,
        .last_ns = thread->started_ns,
        .last_cpu_ns = thread->started_cpu_ns,
        .last_delay_ns = delay_ns - ours_ns,
        .sample_ns = thread->started_ns,
        .slices = slices,
        .slices_before = slices,
        .slices_charged = slices,
        .slices_ns = now_ns,
    };
    if (cpu_ns == 0 || pie_thread_state(thread) == PIE_THREAD_ENDED)
        return;
    if (thread->is_main)
        ours_ns = 0; /* it has waited for its clock; the delays were before */
    wait->last_ns = wait->sample_ns = now_ns;
    wait->last_cpu_ns = cpu_ns;
    wait->last_delay_ns = delay_ns;
    wait->wait_ns = (int64_t)(wall_ns - ran_ns - ours_ns);
    wait->runnable_ns = ours_ns;
}

uint64_t pie_wait_switching_permille(struct pie_wait *wait, uint64_t switch_ns, uint64_t now_ns) {
    uint64_t slices = wait->slices - wait->slices_before, elapsed_ns = now_ns - wait->slices_ns;

    wait->slices_before = wait->slices;
    wait->slices_ns = now_ns;
    return elapsed_ns ? slices * switch_ns * 1000 / elapsed_ns : 0;
}

uint64_t pie_wait_switches_of_late(const struct pie_wait *wait) {
    return wait->slices - wait->slices_before;
}

uint64_t pie_wait_switches(struct pie_wait *wait) {
    uint64_t switches = wait->slices - wait->slices_charged;

    wait->slices_charged = wait->slices;
    return switches;
}

void pie_wait_meet(struct pie_wait *wait, const struct pie_thread *thread) {
    if (wait->thread_id != thread->id)
        start_over(wait, thread);
    seen.count = 0;
    seen.total_ns = 0;
}

void pie_wait_sample(struct pie_wait *wait, const struct pie_record *record) {
    uint64_t wall_ns = record->time_ns > wait->sample_ns ? record->time_ns - wait->sample_ns : 0;
    uint64_t cpu_ns = record->user_ns + record->system_ns;

    wait->sample_ns = record->time_ns;
    wait->known_node = record->node;
    if (wall_ns < cpu_ns + GAP_MIN_NS || seen.count == PIE_RING_RECORDS)
        return;
    seen.gaps[seen.count].node = record->node;
    seen.gaps[seen.count++].ns = wall_ns - cpu_ns;
    seen.total_ns += wall_ns - cpu_ns;
}

/* Time that was spent and not run, and what the kernel has booked of it as a delay. */
static void add_off(struct pie_wait *wait, struct pie_throttle *throttle, int64_t off_ns, uint64_t delay_ns) {
    uint64_t throttled_ns = pie_throttle_share(throttle, wait->last_ns, delay_ns, &wait->throttle_seen);

    wait->undecided_ns += off_ns - (int64_t)delay_ns;
    wait->throttled_ns += throttled_ns;
    wait->throttled_pool_ns += throttled_ns;
    wait->runnable_ns += delay_ns - throttled_ns;
    wait->runnable_pool_ns += delay_ns - throttled_ns;
}

/* Undecided time beyond keep_ns was waiting. */
static void tell(struct pie_wait *wait, int64_t keep_ns) {
    int64_t wait_ns = wait->undecided_ns - keep_ns;

    wait->wait_ns += wait_ns;
    wait->wait_pool_ns += wait_ns;
    wait->undecided_ns = keep_ns;
}

/* How much of the undecided time may be a delay that still lasts: none if the thread is asleep or runs now, else at
 * most what it has been off the CPU since it was known to run. */
static int64_t may_be_delay(const struct pie_wait *wait, char state, bool runs_now, uint64_t ran_ns,
                            int64_t off_ns) {
    if (state != 'R' || runs_now || wait->undecided_ns <= 0)
        return 0;
    return ran_ns > 0 && off_ns < wait->undecided_ns ? (off_ns > 0 ? off_ns : 0) : wait->undecided_ns;
}

/* Where the lock's holder is now. It may be a thread that nobody has seen yet. Only what is booked from now on can be
 * taken back from there. */
static void find_peer(struct pie_wait *wait, pie_wait_peer_fn peer) {
    struct pie_wait_holder *holder = &wait->holder;

    if (!wait->blocked_node.value || !(holder->tstate || holder->tid || holder->id_bits) ||
        (!holder->slot && wait->peer_looks == PEER_LOOKS_MAX))
        return;
    wait->peer_looks += !holder->slot;
    struct pie_cct_id node = peer(holder);
    if (node.value && node.value != wait->reason.peer.value) {
        wait->reason.peer = node;
        wait->booked_ns = 0;
    }
}

/* A part of the pool. */
static void book_pool(struct pie_wait *wait, const struct pie_thread *thread, struct pie_aggregate *aggregate,
                      int64_t part_ns) {
    if (wait->blocked_node.value && part_ns > 0) {
        book(wait, thread, aggregate, part_ns);
        wait->wait_pool_ns -= part_ns;
    }
}

/* The thread was found blocked at the last tick, and has been given a processor since then. If that was once and it
 * still has it, it has not waited elsewhere. Else nobody knows when the wait ended: it has half of the time, and where
 * the thread is found next has the other half. Without that half, a thread's last wait would be too long by half the
 * time between two looks: its end is known, and its beginning would be at the look before it. */
static void book_end(struct pie_wait *wait, const struct pie_thread *thread, struct pie_aggregate *aggregate,
                     char state, uint64_t slices) {
    bool is_all = state == 'R' && slices == 1;

    book_pool(wait, thread, aggregate, is_all ? wait->wait_pool_ns : wait->wait_pool_ns / 2);
}

static void book_standing(struct pie_wait *wait, const struct pie_thread *thread, pie_wait_peer_fn peer,
                          struct pie_aggregate *aggregate, uint64_t wall_ns) {
    wait->undecided_ns += (int64_t)wall_ns;
    tell(wait, 0);
    find_peer(wait, peer);
    book_pool(wait, thread, aggregate, wait->wait_pool_ns);
}

void pie_wait_stood(struct pie_wait *wait, const struct pie_thread *thread, pie_wait_peer_fn peer,
                    struct pie_aggregate *aggregate, uint64_t until_ns) {
    if (!wait->is_still || wait->thread_id != thread->id || until_ns <= wait->last_ns)
        return;
    book_standing(wait, thread, peer, aggregate, until_ns - wait->last_ns);
    wait->last_ns = until_ns;
}

/* Where is it now, if it is asleep? */
static void look(struct pie_wait *wait, struct pie_thread *thread, const struct pie_pystack_ops *ops,
                 pie_wait_peer_fn peer, struct pie_aggregate *aggregate, char state) {
    take_back(wait, thread, aggregate);
    wait->is_still = state == 'S' || state == 'D';
    wait->blocked_node =
        wait->is_still ? blocked_context(wait, thread, ops, wait->last_cpu_ns) : (struct pie_cct_id){0};
    wait->peer_looks = 0;
    wait->booked_ns = 0;
    if (wait->is_still)
        place_rest(wait, thread, aggregate);
    if (!wait->blocked_node.value)
        return;
    find_peer(wait, peer);
    wait->known_node = wait->blocked_node;
    place_rest(wait, thread, aggregate);
    book_pool(wait, thread, aggregate, wait->wait_pool_ns);
}

/* It runs now, as it has nearly all the time since a look that read files: what little it was off the CPU stays
 * undecided, and no file is read. A sleep that has just begun is no such case: the thread's clock stands. */
static bool runs_through(struct pie_wait *wait, bool runs_now, int64_t off_ns) {
    if (!runs_now || wait->is_still || wait->blocked_node.value ||
        wait->undecided_ns + off_ns >= (int64_t)GAP_MIN_NS)
        return false;
    wait->undecided_ns += off_ns;
    return true;
}

void pie_wait_tick(struct pie_wait *wait, struct pie_thread *thread, const struct pie_pystack_ops *ops,
                   pie_wait_peer_fn peer, struct pie_throttle *throttle, struct pie_aggregate *aggregate) {
    uint64_t now_ns = pie_monotonic_ns(), cpu_ns = pie_thread_cpu_of(thread->tid);
    uint64_t wall_ns = now_ns - wait->last_ns, ran_ns = cpu_ns - wait->last_cpu_ns, delay_ns;
    uint64_t slices = wait->slices;

    wait->samples = atomic_load_explicit(&thread->samples, memory_order_relaxed);
    if (cpu_ns == 0)
        return; /* it is gone */
    wait->last_ns = now_ns;
    wait->last_cpu_ns = cpu_ns;
    if (ran_ns == 0 && wait->is_still) {
        book_standing(wait, thread, peer, aggregate, wall_ns);
        return;
    }
    int64_t off_ns = (int64_t)(wall_ns - ran_ns);
    bool runs_now = ran_ns > 0 && pie_thread_cpu_of(thread->tid) != cpu_ns;
    if (runs_through(wait, runs_now, off_ns))
        return;
    if (!pie_wait_files_delay(&wait->files, thread->tid, &delay_ns, &wait->slices))
        delay_ns = wait->last_delay_ns;
    add_off(wait, throttle, off_ns, delay_ns - wait->last_delay_ns);
    wait->last_delay_ns = delay_ns;
    char state = runs_now ? 'R' : pie_wait_files_state(&wait->files, thread->tid);
    tell(wait, may_be_delay(wait, state, runs_now, ran_ns, off_ns));
    place_at_samples(wait, thread, aggregate);
    if (wait->is_still && wait->slices > slices)
        book_end(wait, thread, aggregate, state, wait->slices - slices);
    look(wait, thread, ops, peer, aggregate, state);
}

/* Its last delays are known as long as the kernel knows the thread, which goes on to die; then it has waited, unless it
 * was found ready to run. */
void pie_wait_end(struct pie_wait *wait, const struct pie_thread *thread, struct pie_throttle *throttle,
                  struct pie_aggregate *aggregate) {
    uint64_t wall_ns = thread->ended_ns - wait->last_ns, ran_ns = thread->ended_cpu_ns - wait->last_cpu_ns;
    uint64_t delay_ns = wait->last_delay_ns;
    bool is_known = pie_wait_files_delay(&wait->files, thread->tid, &delay_ns, &wait->slices);

    pie_wait_files_close(&wait->files);
    wait->last_ns = thread->ended_ns;
    wait->last_cpu_ns = thread->ended_cpu_ns;
    int64_t off_ns = (int64_t)(wall_ns - ran_ns), most_ns = wait->undecided_ns + off_ns;
    uint64_t delayed_ns = delay_ns - wait->last_delay_ns;
    if (!is_known && !wait->is_still && wait->samples > 0 && most_ns > 0)
        delayed_ns = (uint64_t)most_ns;
    if (delayed_ns > 0 && (int64_t)delayed_ns > most_ns && wait->booked_ns == 0)
        delayed_ns = most_ns > 0 ? (uint64_t)most_ns : 0; /* the end of its life is later than its slot's */
    add_off(wait, throttle, off_ns, delayed_ns);
    tell(wait, 0);
    place_at_samples(wait, thread, aggregate);
    place_rest(wait, thread, aggregate);
    take_back(wait, thread, aggregate);
    if (wait->blocked_node.value && wait->wait_pool_ns > 0)
        book(wait, thread, aggregate, wait->wait_pool_ns);
    wait->wait_pool_ns = 0;
}

void pie_wait_move(struct pie_wait *wait, pie_moved_fn moved, void *data) {
    if (wait->blocked_node.value)
        wait->blocked_node = moved(data, wait->blocked_node);
    if (wait->known_node.value)
        wait->known_node = moved(data, wait->known_node);
    if (wait->reason.peer.value)
        wait->reason.peer = moved(data, wait->reason.peer);
    for (uint32_t i = 0; i < wait->n_awaits; i++) {
        wait->awaits[i].node = moved(data, wait->awaits[i].node);
        wait->awaits[i].coroutine = moved(data, wait->awaits[i].coroutine);
    }
}

void pie_wait_totals(const struct pie_wait *wait, const struct pie_thread *thread,
                     struct pie_thread_row *row) {
    if (wait->thread_id != thread->id)
        return;
    int64_t wait_ns = wait->wait_ns, runnable_ns = (int64_t)wait->runnable_ns + wait->undecided_ns;
    uint64_t wall_ns = wait->last_ns - thread->started_ns,
             ran_ns = wait->last_cpu_ns - thread->started_cpu_ns;

    /* it has stood still since the last look, which may have been some time ago */
    if (wait->is_still && row->cpu_ns == ran_ns && row->wall_ns > wall_ns) {
        wait_ns += (int64_t)(row->wall_ns - wall_ns);
        wall_ns = row->wall_ns;
    }
    row->has_off_times = true;
    row->wall_ns = wall_ns;
    row->cpu_ns = ran_ns;
    row->throttled_ns = wait->throttled_ns;
    /* the clocks are read one after the other */
    row->wait_ns = wait_ns > 0 ? (uint64_t)wait_ns : 0;
    runnable_ns += wait_ns < 0 ? wait_ns : 0;
    row->runnable_ns = runnable_ns > 0 ? (uint64_t)runnable_ns : 0;
}

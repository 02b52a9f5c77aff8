/* SPDX-License-Identifier: Apache-2.0 */

/* The memory collector's slow path. A newcomer's map of an allocation:
 *
 *   runtime/memory/allocator.c, pymem.c  the exported malloc(), Python's hooks: count (heap.h)
 *   here                          a counter reached its limit: sample it? has the footprint crossed the threshold?
 *   profiler/stacks/call_path_sigsafe.c  both stacks as a node of the calling context tree
 *   profiler/heap/table_sigsafe.c the sampled block is tracked until it is freed
 *   profiler/heap/drain.c         live memory by context, peak, curves, leak scores
 *
 * The limit of a counter is the nearer one of the next sample and the place where |allocated - freed| of the domain
 * has changed by its part of the threshold since the thread last gave it to the process's total. The other counter may
 * have moved since, so a limit may be reached early. Then a change of half of the part is given to the total, and the
 * limit is far again. A smaller one only sets the limit anew, by the slack at least. A crossing is a change by the part
 * since the last crossing, or a new peak. */

#include "profiler/heap/engine.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/hash.h"
#include "profiler/base/random.h"
#include "profiler/heap/pauses.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/call_path.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/watch.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* A prime just above 10 MiB (Scalene §3.2): no multiple of what a program may allocate in a loop. */
static const uint64_t THRESHOLD_BYTES = 10485767, THRESHOLD_MIN_BYTES = 65537;
enum {
    FOOTPRINT_PART = 64, /* the threshold is this part of the footprint, … */
    SLACK_PART = 64,     /* … the slack this part of the threshold */
    SHARING_MAX = 8,     /* threads that share it */
    COST_PART = 100,     /* of the time that each kind of sample, and crossings, may take at first */
    QUIET_MAX = 16,      /* crossings in a row that do not read the clock */
};
static const uint64_t LARGE_MIN_BYTES = 1 << 20; /* and the threshold: such a block comes to the slow path */
static const uint64_t RETRY_BYTES = 65536;       /* the profiler is at work on this thread: later */
static const uint64_t UNDISTURBED_NS = 30000, SPENT_MAX_NS = 2000000;
static const uint64_t CROSSING_GAP_NS = 1000000; /* at least, between crossings that are no new peak */
static const uint64_t FOLLOW_GAP_NS = 5000000;   /* at least, between copies of a thread that are followed */
enum { FOLLOW_PART = 100 };                      /* of the time that comparing them may take */

__thread struct pie_heap_thread *pie_heap_self __attribute__((tls_model("initial-exec")));
__thread int64_t pie_copy_left __attribute__((tls_model("initial-exec")));

/* Reset by pie_heap_forget() in a forked child. */
static const struct pie_heap_settings *_Atomic settings; /* release in pie_heap_set(), acquire where read */
/* Relaxed: sums that order nothing. */
static _Atomic int64_t heap_bytes[PIE_HEAP_DOMAINS]; /* what threads have folded in */
static _Atomic int64_t peak_bytes, peak_parts[PIE_HEAP_DOMAINS];
static _Atomic uint64_t threshold_bytes;
static _Atomic int32_t counted_threads;
static _Atomic uint32_t memory_part, copies_part; /* pie_heap_allow() */
static struct pie_heap_thread own;                /* of the collection thread */

const struct pie_heap_settings *pie_heap_settings(void) {
    return atomic_load_explicit(&settings, memory_order_acquire);
}

void pie_heap_set(const struct pie_heap_settings *wanted) {
    uint64_t most = wanted && wanted->threshold_bytes ? wanted->threshold_bytes : THRESHOLD_BYTES;

    if (wanted)
        atomic_store_explicit(&threshold_bytes, wanted->is_fixed ? most : THRESHOLD_MIN_BYTES,
                              memory_order_relaxed);
    atomic_store_explicit(&settings, wanted, memory_order_release);
}

void pie_heap_forget(void) {
    pie_heap_self = NULL;
    pie_copy_left = 0;
    pie_copy_ends_forget();
    pie_heap_pauses_forget();
    pie_heap_allow(0, 0);
    memset(&own, 0, sizeof own);
    for (int i = 0; i < PIE_HEAP_DOMAINS; i++) {
        atomic_store_explicit(&heap_bytes[i], 0, memory_order_relaxed);
        atomic_store_explicit(&peak_parts[i], 0, memory_order_relaxed);
    }
    atomic_store_explicit(&peak_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&counted_threads, 0, memory_order_relaxed);
    pie_heap_set(pie_heap_settings());
}

void pie_heap_allow(uint32_t new_memory_part, uint32_t new_copies_part) {
    atomic_store_explicit(&memory_part, new_memory_part, memory_order_relaxed);
    atomic_store_explicit(&copies_part, new_copies_part, memory_order_relaxed);
}

static uint64_t part_of(const _Atomic uint32_t *allowed) {
    uint32_t part = atomic_load_explicit(allowed, memory_order_relaxed);

    return part ? part : COST_PART;
}

uint64_t pie_heap_threshold(void) {
    return atomic_load_explicit(&threshold_bytes, memory_order_relaxed);
}

int64_t pie_heap_peak(int64_t ret_bytes[PIE_HEAP_DOMAINS]) {
    for (int i = 0; i < PIE_HEAP_DOMAINS; i++)
        ret_bytes[i] = atomic_load_explicit(&peak_parts[i], memory_order_relaxed);
    return atomic_load_explicit(&peak_bytes, memory_order_relaxed);
}

/* --- Limits and the footprint --- */

static int64_t net(const struct pie_heap_count *count) {
    return (int64_t)(count->allocated_bytes - count->freed_bytes);
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Threads that share the threshold and the rate of samples. */
static uint64_t sharing_threads(void) {
    int32_t threads = atomic_load_explicit(&counted_threads, memory_order_relaxed);

    return threads < 1 ? 1 : threads > SHARING_MAX ? SHARING_MAX : (uint64_t)threads;
}

/* How far one domain of one thread may move before the process hears of it: all of them together not further than the
 * threshold, while there are not too many. */
static uint64_t part_of_threshold(void) {
    return pie_heap_threshold() / (PIE_HEAP_DOMAINS * sharing_threads());
}

static void set_limits(struct pie_heap_state *state, int domain) {
    struct pie_heap_count *count = &state->counts.counts[domain];
    uint64_t part = part_of_threshold(), slack = part / SLACK_PART;
    int64_t moved = net(count) - state->folded_bytes[domain]; /* less than that part, either way */
    int64_t room_up = (int64_t)part - moved, room_down = (int64_t)part + moved;
    uint64_t up = later(room_up > 0 ? (uint64_t)room_up : 0, slack);
    uint64_t down = later(room_down > 0 ? (uint64_t)room_down : 0, slack);

    count->allocated_limit = count->allocated_bytes + up;
    if (state->rates[domain].next_bytes < count->allocated_limit)
        count->allocated_limit = state->rates[domain].next_bytes;
    count->freed_limit = count->freed_bytes + down;
}

/* Gives what changed to the process's total; returns that, by domain. */
static int64_t fold(struct pie_heap_state *state, int64_t ret_heap[PIE_HEAP_DOMAINS]) {
    int64_t total = 0;

    for (int i = 0; i < PIE_HEAP_DOMAINS; i++) {
        int64_t now = net(&state->counts.counts[i]), moved = now - state->folded_bytes[i];
        ret_heap[i] = atomic_fetch_add_explicit(&heap_bytes[i], moved, memory_order_relaxed) + moved;
        state->folded_bytes[i] = now;
        total += ret_heap[i];
    }
    return total;
}

/* Small programs are looked at more finely. */
static void set_threshold(int64_t total) {
    const struct pie_heap_settings *set = pie_heap_settings();

    if (!set || set->is_fixed)
        return;
    uint64_t most = set->threshold_bytes ? set->threshold_bytes : THRESHOLD_BYTES;
    uint64_t wanted = (total > 0 ? (uint64_t)total : 0) / FOOTPRINT_PART | 1;
    wanted = wanted > most ? most : later(wanted, THRESHOLD_MIN_BYTES);
    atomic_store_explicit(&threshold_bytes, wanted, memory_order_relaxed);
}

/* True: it is one. */
static bool note_peak(int64_t total, const int64_t heap[PIE_HEAP_DOMAINS]) {
    int64_t peak = atomic_load_explicit(&peak_bytes, memory_order_relaxed);

    while (total > peak)
        if (atomic_compare_exchange_weak_explicit(&peak_bytes, &peak, total, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            for (int i = 0; i < PIE_HEAP_DOMAINS; i++)
                atomic_store_explicit(&peak_parts[i], heap[i], memory_order_relaxed);
            return true;
        }
    return false;
}

static uint64_t distance(int64_t a, int64_t b) {
    return a > b ? (uint64_t)(a - b) : (uint64_t)(b - a);
}

/* Has the footprint moved far, either way, since the process's total got it? */
static bool is_far(const struct pie_heap_state *state, int domain) {
    return distance(net(&state->counts.counts[domain]), state->folded_bytes[domain]) >=
           part_of_threshold() / 2;
}

static int64_t above_peak(const struct pie_heap_state *state) {
    int64_t total = 0;

    for (int i = 0; i < PIE_HEAP_DOMAINS; i++)
        total += atomic_load_explicit(&heap_bytes[i], memory_order_relaxed) + net(&state->counts.counts[i]) -
                 state->folded_bytes[i];
    return total - atomic_load_explicit(&peak_bytes, memory_order_relaxed);
}

/* A new peak is noted at half of the way: a program that stays near its peak would have near limits else. */
static bool has_crossed(const struct pie_heap_state *state, int domain) {
    uint64_t moved = distance(net(&state->counts.counts[domain]), state->crossed_bytes[domain]);

    return moved >= part_of_threshold() || (is_far(state, domain) && above_peak(state) > 0);
}

static void pass_crossing(struct pie_heap_state *state) {
    for (int i = 0; i < PIE_HEAP_DOMAINS; i++)
        state->crossed_bytes[i] = net(&state->counts.counts[i]);
}

/* --- Events --- */

/* The calling thread's state, guarded; NULL: not now. */
static struct pie_thread *enter(void) {
    struct pie_thread *thread = pie_thread_self();

    if (!thread || thread->inside || !pie_heap_settings())
        return NULL;
    pie_thread_enter(thread, PIE_INSIDE_HOOK);
    return thread;
}

/* Returns what it cost. None of it is the program's time. Longer than it takes as a rule, another thread may have run
 * meanwhile; then the thread's own clock says how much it can have been. */
static uint64_t leave(struct pie_thread *thread, _Atomic uint64_t *spent, uint64_t since_ns) {
    uint64_t spent_ns = pie_monotonic_ns() - since_ns;

    if (spent_ns > UNDISTURBED_NS) {
        uint64_t cpu_ns = pie_thread_cpu_ns();
        uint64_t most_ns = cpu_ns > thread->cpu_last_ns ? cpu_ns - thread->cpu_last_ns : 0;
        spent_ns = spent_ns < most_ns ? spent_ns : most_ns;
        spent_ns = spent_ns < SPENT_MAX_NS ? spent_ns : SPENT_MAX_NS;
    }
    atomic_fetch_add_explicit(spent, spent_ns, memory_order_relaxed);
    thread->cpu_last_ns += spent_ns;
    pie_thread_leave(thread);
    return spent_ns;
}

static struct pie_cct_id node_of(struct pie_thread *thread, const void *caller) {
    struct pie_call_path taken;

    pie_call_path_take_at_call(pie_heap_settings()->ops, thread, caller, &taken);
    atomic_store_explicit(&thread->tstate, pie_heap_settings()->ops->current_tstate(), memory_order_relaxed);
    return taken.node;
}

static bool push(struct pie_thread *thread, const struct pie_heap_record *record) {
    if (pie_heap_ring_push(&pie_heap_of(thread)->ring, record))
        return true;
    pie_counter_add(PIE_COUNTER_HEAP_RING_FULL, 1);
    return false;
}

/* The record goes before the block is tracked: the collection thread hears of a block before it hears of its end. */
static void track(struct pie_thread *thread, struct pie_heap_record *record) {
    pie_heap_record_handled(record, pie_monotonic_ns());
    record->ticket = (uint16_t)pie_heap_table_reserve();
    if (!record->ticket)
        pie_counter_add(PIE_COUNTER_HEAP_UNTRACKED, 1);
    bool is_pushed = push(thread, record);
    if (!record->ticket)
        return;
    if (!is_pushed) {
        pie_heap_table_lose(record->ticket);
        return;
    }
    if (!pie_heap_table_put(record->ticket, (const void *)record->block))
        pie_counter_add(PIE_COUNTER_HEAP_UNTRACKED, 1);
}

static void sample(struct pie_thread *thread, int domain, const void *block, size_t bytes, const void *caller,
                   uint64_t now_ns, struct pie_cct_id *ret_node) {
    struct pie_heap_state *state = pie_heap_of(thread);
    struct pie_heap_record record = {
        .time_ns = now_ns,
        .block_bytes = bytes,
        .block = (uintptr_t)block,
        .event = PIE_HEAP_ALLOCATED,
        .domain = (uint8_t)domain,
    };
    bool is_exact;
    pie_heap_rate_share(&state->rates[domain], sharing_threads(), part_of(&memory_part));
    if (domain == PIE_HEAP_PYTHON)
        pie_heap_pauses_pass(&state->rates[domain], &state->paused_ns, now_ns);
    pie_heap_rate_look_at_large(&state->rates[domain], later(LARGE_MIN_BYTES, pie_heap_threshold()));
    uint64_t weight = pie_heap_rate_take(&state->rates[domain], state->counts.counts[domain].allocated_bytes,
                                         bytes, now_ns, &state->random, &is_exact);

    if (!weight)
        return;
    record.weight_bytes = weight;
    record.is_exact = is_exact;
    pie_heap_pauses_share(block, &record.share, &record.slice);
    record.node = *ret_node = node_of(thread, caller);
    track(thread, &record);
}

/* Crossings that come faster than they may be noted do not read the clock, up to half of the time until then. */
static void set_pace(struct pie_heap_state *state, uint64_t now_ns, uint64_t until_ns) {
    uint64_t each_ns = (now_ns - state->looked_ns) / (state->quiet_crossings + 1);
    uint64_t quiet = (until_ns - now_ns) / 2 / (each_ns + 1);

    state->looked_ns = now_ns;
    state->quiet_crossings = quiet < QUIET_MAX ? (uint32_t)quiet : QUIET_MAX;
    state->quiet_left = state->quiet_crossings;
}

/* CLOCK_MONOTONIC from which on a crossing that is no peak is noted. */
static uint64_t next_crossing_ns(const struct pie_heap_state *state) {
    return state->crossed_ns + later(CROSSING_GAP_NS, part_of(&memory_part) * state->crossing_cost_ns);
}

/* A line that makes peak after peak must not take the room of samples, which sums are made of. The height of the peak
 * that is left out is known all the same. */
static void push_crossing(struct pie_thread *thread, const struct pie_heap_record *record) {
    if (pie_heap_ring_fill(&pie_heap_of(thread)->ring) < PIE_HEAP_RING_RECORDS / 2)
        push(thread, record);
}

/* node: of this moment where it is known already, else 0. */
static void cross(struct pie_thread *thread, const void *caller, uint64_t now_ns, struct pie_cct_id node) {
    struct pie_heap_state *state = pie_heap_of(thread);
    struct pie_heap_record record = {.time_ns = now_ns, .event = PIE_HEAP_CROSSED};
    pass_crossing(state);
    int64_t total = fold(state, record.heap_bytes);
    bool is_peak = note_peak(total, record.heap_bytes);

    set_threshold(total);
    if (pie_heap_settings()->is_finalizing())
        return; /* the program is over */
    if (is_peak || now_ns >= next_crossing_ns(state)) {
        state->crossed_ns = now_ns;
        record.node = node.value ? node : node_of(thread, caller);
        push_crossing(thread, &record);
        state->crossing_cost_ns = pie_monotonic_ns() - now_ns;
    }
    set_pace(state, now_ns, next_crossing_ns(state));
}

/* The state around what pie_heap_self points to; not for the collection thread's. */
static struct pie_heap_state *state_of(struct pie_heap_thread *heap) {
    return (struct pie_heap_state *)heap;
}
static_assert(offsetof(struct pie_heap_state, counts) == 0, "state_of()");

static bool is_sample_due(const struct pie_heap_state *state, int domain, size_t bytes) {
    return state->counts.counts[domain].allocated_bytes >= state->rates[domain].next_bytes ||
           pie_heap_rate_is_large(&state->rates[domain], bytes) ||
           atomic_load_explicit(&state->is_late[domain], memory_order_relaxed);
}

/* False: the profiler is at work on this thread. */
static bool fold_quietly(struct pie_heap_state *state) {
    struct pie_thread *thread = enter();
    int64_t heap[PIE_HEAP_DOMAINS];

    if (!thread)
        return false;
    set_threshold(fold(state, heap));
    pie_thread_leave(thread);
    return true;
}

/* A program that allocates and frees as much reaches its limits without anything to note: only they are set anew. What
 * has moved by half of its part goes to the process's total then, or the limits would be near. False: there is
 * something to note, a new peak or a crossing that is due. */
static bool passes_quietly(struct pie_heap_state *state, int domain) {
    if (has_crossed(state, domain)) {
        int64_t above = above_peak(state);
        if (above > 0 ? !pie_heap_peak_waits(state, above, part_of(&memory_part)) : state->quiet_left == 0)
            return false;
        state->quiet_left -= above <= 0;
        pass_crossing(state);
    }
    if (is_far(state, domain) && !fold_quietly(state))
        return false;
    set_limits(state, domain);
    atomic_store_explicit(&state->quiet_visits,
                          atomic_load_explicit(&state->quiet_visits, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    return true;
}

/* What a sample takes longer than the fastest it loads what the program had driven out of the caches (5 us became 27),
 * and each line that it loads drives out one of the program's. */
static void count_evictions(struct pie_thread *thread, uint64_t spent_ns) {
    struct pie_heap_state *state = pie_heap_of(thread);

    if (!state->fastest_ns || spent_ns < state->fastest_ns)
        state->fastest_ns = spent_ns;
    atomic_fetch_add_explicit(&thread->caches_ns, spent_ns - state->fastest_ns, memory_order_relaxed);
}

void pie_heap_allocated_slowly(struct pie_heap_thread *heap, enum pie_heap_domain domain, void *block,
                               size_t bytes, const void *caller) {
    if (!is_sample_due(state_of(heap), domain, bytes) && passes_quietly(state_of(heap), domain))
        return;
    int error = errno;
    struct pie_thread *thread = enter();
    struct pie_cct_id node = {0};

    if (!thread) {
        heap->counts[domain].allocated_limit = heap->counts[domain].allocated_bytes + RETRY_BYTES;
        errno = error;
        return;
    }
    uint64_t now_ns = pie_monotonic_ns();
    if (atomic_exchange_explicit(&pie_heap_of(thread)->is_late[domain], false, memory_order_relaxed))
        pie_heap_rate_shorten(&pie_heap_of(thread)->rates[domain],
                              heap->counts[domain].allocated_bytes - bytes, now_ns,
                              &pie_heap_of(thread)->random);
    sample(thread, domain, block, bytes, caller, now_ns, &node);
    if (has_crossed(pie_heap_of(thread), domain))
        cross(thread, caller, now_ns, node);
    set_limits(pie_heap_of(thread), domain);
    uint64_t spent_ns = leave(thread, &pie_heap_of(thread)->memory_ns, now_ns);
    pie_heap_of(thread)->rates[domain].cost_ns = spent_ns;
    if (node.value)
        count_evictions(thread, spent_ns);
    errno = error;
}

static void free_ticket(uint32_t ticket) {
    const struct pie_heap_settings *set = pie_heap_settings();

    if (ticket && set && !set->is_finalizing())
        pie_heap_table_free(ticket, pie_monotonic_ns());
}

/* The counter of what was freed has reached its limit. */
static void freed_much(struct pie_heap_thread *heap, int domain) {
    if (heap == &own)
        return;
    if (passes_quietly(state_of(heap), domain))
        return;
    struct pie_thread *thread = enter();
    if (!thread) {
        heap->counts[domain].freed_limit = heap->counts[domain].freed_bytes + RETRY_BYTES;
        return;
    }
    uint64_t now_ns = pie_monotonic_ns();
    cross(thread, NULL, now_ns, (struct pie_cct_id){0});
    set_limits(pie_heap_of(thread), domain);
    leave(thread, &pie_heap_of(thread)->memory_ns, now_ns);
}

static void look_at_copies(const void *block, size_t bytes,
                           void (*look)(struct pie_thread *, const void *, size_t)) {
    const struct pie_heap_settings *set = pie_heap_settings();
    struct pie_thread *thread = set && !set->is_finalizing() ? enter() : NULL;

    if (!thread)
        return; /* if that was one, another block's bytes there will not be the same */
    uint64_t start_ns = pie_monotonic_ns();
    look(thread, block, bytes);
    uint64_t end_ns = pie_monotonic_ns(), spent_ns = leave(thread, &pie_heap_of(thread)->copies_ns, start_ns);
    uint64_t next_ns = end_ns + spent_ns * FOLLOW_PART;
    if (pie_heap_of(thread)->follow_ns < next_ns)
        pie_heap_of(thread)->follow_ns = next_ns;
}

void pie_heap_resizing_copy(void *block, size_t bytes) {
    int error = errno;

    look_at_copies(block, bytes, pie_copy_ends_resizing);
    errno = error;
}

void pie_heap_freeing_slowly(struct pie_heap_thread *heap, enum pie_heap_domain domain, void *block,
                             size_t bytes) {
    int error = errno;

    if (pie_copy_ends_may_hold(bytes))
        look_at_copies(block, bytes, pie_copy_ends_freeing);
    if (pie_heap_may_be_tracked(block))
        free_ticket(pie_heap_table_remove(block));
    if (heap->counts[domain].freed_bytes >= heap->counts[domain].freed_limit)
        freed_much(heap, domain);
    errno = error;
}

uint32_t pie_heap_resizing(void *block) {
    return block && pie_heap_may_be_tracked(block) ? pie_heap_table_remove(block) : 0;
}

void pie_heap_resized(struct pie_heap_thread *heap, enum pie_heap_domain domain, uint32_t token, void *block,
                      size_t old_bytes, size_t bytes, const void *caller) {
    struct pie_heap_count *count = &heap->counts[domain];

    if (token && !pie_heap_table_move(token, block))
        pie_counter_add(PIE_COUNTER_HEAP_UNTRACKED, 1);
    if (bytes > old_bytes) {
        pie_heap_allocated(heap, domain, block, bytes - old_bytes, caller);
    } else {
        count->freed_bytes += old_bytes - bytes;
        if (count->freed_bytes >= count->freed_limit) {
            int error = errno;
            freed_much(heap, domain);
            errno = error;
        }
    }
}

void pie_heap_sample_soon(struct pie_thread *thread) {
    for (int i = 0; i < PIE_HEAP_DOMAINS; i++) {
        atomic_store_explicit(&pie_heap_of(thread)->is_late[i], true, memory_order_relaxed);
        __atomic_store_n(&pie_heap_of(thread)->counts.counts[i].allocated_limit, 0, __ATOMIC_RELAXED);
    }
}

void pie_heap_moved(enum pie_heap_domain domain, int64_t bytes) {
    atomic_fetch_add_explicit(&heap_bytes[domain], bytes, memory_order_relaxed);
}

/* --- Copies --- */

static void copy_distance(struct pie_heap_state *state, uint64_t count_bytes) {
    state->copy_distance_bytes = (int64_t)(state->copies.next_bytes - count_bytes);
    pie_copy_left = state->copy_distance_bytes;
}

static uint64_t copied_so_far(const struct pie_heap_state *state) {
    return state->copies.next_bytes - (uint64_t)pie_copy_left; /* the distance counts down */
}

/* At random distances of time, so that it does not fall in step with a loop. Ends of blocks are only heard of where
 * memory is profiled. */
static uint32_t follow(struct pie_thread *thread, const void *to, const void *from, size_t bytes,
                       uint64_t now_ns) {
    struct pie_heap_state *state = pie_heap_of(thread);

    if (now_ns < state->follow_ns || !pie_heap_self || !pie_watch_is_on() ||
        !pie_copy_ends_can_follow(to, from, bytes))
        return 0;
    uint64_t drawn = pie_random_next(&state->random) >> 16;
    state->follow_ns = now_ns + FOLLOW_GAP_NS + drawn % FOLLOW_GAP_NS;
    return pie_copy_ends_begin(thread, to, from, bytes, pie_random_next(&state->random) >> 8);
}

/* The record goes first, as for tracked blocks. */
static void push_copy(struct pie_thread *thread, const struct pie_heap_record *record) {
    bool is_pushed = push(thread, record);

    if (record->copy_end && is_pushed)
        pie_copy_ends_start(record->copy_end);
    else if (record->copy_end)
        pie_copy_ends_give_up(thread, record->copy_end);
}

static void take_copy(struct pie_thread *thread, const void *to, const void *from, size_t bytes,
                      const void *caller, uint64_t now_ns) {
    struct pie_heap_state *state = pie_heap_of(thread);
    struct pie_heap_record record = {
        .time_ns = now_ns, .event = PIE_HEAP_COPIED, .is_shift = pie_copy_is_shift(to, from, bytes)};
    uint64_t count_bytes = copied_so_far(state);
    bool is_exact;

    pie_heap_rate_share(&state->copies, sharing_threads(), part_of(&copies_part));
    /* Short threads in a row share a slot's ring, and each begins with the first distance. Where the collection thread
     * has no turn, longer distances leave room: what is not sampled is in the next weight, but not what is lost. */
    pie_heap_rate_leave_room(&state->copies, pie_heap_ring_fill(&state->ring) >= PIE_HEAP_RING_RECORDS / 2);
    record.weight_bytes =
        pie_heap_rate_take(&state->copies, count_bytes, bytes, now_ns, &state->random, &is_exact);
    copy_distance(state, count_bytes);
    if (!record.weight_bytes)
        return;
    record.is_exact = is_exact;
    record.node = node_of(thread, caller);
    if (!is_exact) {
        __atomic_store_n(&state->copied_node.value, record.node.value, __ATOMIC_RELAXED);
        state->was_shift = record.is_shift;
    }
    record.copy_end = (uint8_t)follow(thread, to, from, bytes, now_ns);
    push_copy(thread, &record);
}

/* Copies behind the last point belong to the place of that point: which of two neighbouring points has the bytes
 * between them is all the same, as the points know nothing of the program. A copy that stands for itself alone is no
 * such place. */
static void take_rest(struct pie_thread *thread) {
    struct pie_heap_state *state = pie_heap_of(thread);
    struct pie_heap_record record = {
        .time_ns = pie_monotonic_ns(), .event = PIE_HEAP_COPIED, .is_shift = state->was_shift};

    record.node.value = __atomic_load_n(&state->copied_node.value, __ATOMIC_RELAXED);
    if (!state->copy_distance_bytes || !record.node.value)
        return;
    record.weight_bytes = pie_heap_rate_take_rest(&state->copies, copied_so_far(state));
    if (record.weight_bytes)
        push(thread, &record);
}

void pie_heap_take_rest(void) {
    const struct pie_heap_settings *set = pie_heap_settings();
    struct pie_thread *thread = pie_thread_self();

    if (!set || !set->has_copies || !thread || thread->inside)
        return;
    pie_thread_enter(thread, PIE_INSIDE_HOOK);
    take_rest(thread);
    pie_thread_leave(thread);
}

void pie_copy_slowly(const void *to, const void *from, size_t bytes, const void *caller) {
    const struct pie_heap_settings *set = pie_heap_settings();
    struct pie_thread *thread = pie_thread_self();
    int error = errno;

    if (!set || !set->has_copies || !thread) { /* enter_thread() starts it */
        pie_copy_left = INT64_MAX;
        return;
    }
    if (thread->inside) /* counted on, below zero, and taken when it is done */
        return;
    pie_thread_enter(thread, PIE_INSIDE_HOOK);
    uint64_t now_ns = pie_monotonic_ns();
    if (pie_heap_of(thread)->copy_distance_bytes == 0) {
        pie_heap_rate_begin_first(&pie_heap_of(thread)->copies, now_ns, &pie_heap_of(thread)->random);
        copy_distance(pie_heap_of(thread), 0);
    } else {
        take_copy(thread, to, from, bytes, caller, now_ns);
    }
    pie_heap_of(thread)->copies.cost_ns = leave(thread, &pie_heap_of(thread)->copies_ns, now_ns);
    errno = error;
}

/* --- Threads --- */

static void enter_thread(struct pie_thread *thread) {
    const struct pie_heap_settings *set = pie_heap_settings();
    struct pie_heap_state *state = pie_heap_of(thread);
    uint64_t now_ns = pie_monotonic_ns();

    state->copy_distance_bytes = 0;
    state->copied_node = (struct pie_cct_id){0};
    state->follow_ns = 0;
    state->crossed_ns = state->crossing_cost_ns = state->looked_ns = 0;
    state->paused_ns = pie_heap_pauses_ns(now_ns);
    state->quiet_crossings = state->quiet_left = 0;
    state->random = now_ns ^ pie_hash_upper((uintptr_t)thread) ^ UINT64_C(0x2545f4914f6cdd1d);
    for (int i = 0; i < PIE_HEAP_DOMAINS; i++) {
        if (!state->rates[i].interval_bytes)
            pie_heap_rate_begin_first(&state->rates[i], now_ns, &state->random);
        set_limits(state, i);
    }
    pie_copy_left = 0;
    if (set && set->has_memory) {
        pie_heap_self = &state->counts;
        atomic_fetch_add_explicit(&counted_threads, 1, memory_order_relaxed);
    }
}

static void leave_thread(struct pie_thread *thread) {
    int64_t heap[PIE_HEAP_DOMAINS];

    pie_heap_take_rest();
    if (pie_heap_self) {
        note_peak(fold(pie_heap_of(thread), heap), heap);
        atomic_fetch_sub_explicit(&counted_threads, 1, memory_order_relaxed);
    }
    pie_heap_self = NULL;
    pie_copy_left = INT64_MAX;
}

static void lose_thread(struct pie_thread *thread) {
    const struct pie_heap_settings *set = pie_heap_settings();
    int64_t heap[PIE_HEAP_DOMAINS];

    if (!set || !set->has_memory)
        return;
    note_peak(fold(pie_heap_of(thread), heap), heap);
    atomic_fetch_sub_explicit(&counted_threads, 1, memory_order_relaxed);
}

struct pie_thread_part pie_heap_part = {
    .bytes = sizeof(struct pie_heap_state),
    .enter = enter_thread,
    .leave = leave_thread,
    .gone = lose_thread,
};

void pie_heap_own_thread(void) {
    for (int i = 0; i < PIE_HEAP_DOMAINS; i++)
        own.counts[i].allocated_limit = own.counts[i].freed_limit = UINT64_MAX;
    pie_heap_self = &own;
    pie_copy_left = INT64_MAX;
}

int64_t pie_heap_own_bytes(void) {
    return net(&own.counts[PIE_HEAP_NATIVE]);
}

/* SPDX-License-Identifier: Apache-2.0 */

/* Bytes of a sample: the CPU time that it stands for, times the speed of its loop. The speed is measured while the
 * program runs, for each place in Python and each function that copies: when two samples in a row of one thread fall
 * into the same native call, the move of the destination between them is the number of bytes. Time between the two that
 * fell elsewhere (the loop over the outer dimensions) does not matter: what was copied in all of it is held against the
 * samples that fell on copies.
 *
 * Is it the same native call? Memory is handed out again, so the next call may write to the same addresses:
 *   - as long as the thread has allocated nothing it is the same call (where allocations are counted);
 *   - else, calls that are longer than the distance of samples show as a pointer that mostly goes forward. It goes
 *     back once a call. With short calls it is found anywhere, and goes back every other time: then nothing is
 * believed. A speed that no processor reaches, or thrice the usual, is a jump to another array.
 *
 * Where no two samples fall into one call (arrays that are copied within a sampling period) the loop's speed is the
 * processor's: the loop is held against one that is timed at the start, with data in its caches, by what a round
 * consists of (copies/loop.c), and only time in the loop counts. */

#include "profiler/copies/loop_drain.h"

#include "profiler/base/clocks.h"
#include "profiler/base/hash.h"
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/u64map.h"
#include "profiler/code/decode.h"
#include "profiler/copies/loop.h"
#include "profiler/stacks/cct.h"
#include "profiler/symbols/naming.h"
#include "profiler/thread/thread.h"
#include "profiler/time/thread.h"

#include <errno.h>
#include <string.h>

enum {
    RECENT = 8,
    PAIRS_MIN = 3,
    FRESH_MIN = 20,
    NEAR_PAIRS = 20,
    NEAR_FEW = 200,
    NEAR_MANY = 400,
    YOUNG_SAMPLES = 25, /* until then a group waits for its speed */
    LEARN_MAX = 32,     /* addresses a tick of one thread, 0.1 ms each, 1 ms at worst */
};
enum { UNIT_ELEMENTS = 4096, UNIT_FIRST_RUNS = 8, UNIT_MEMORY = 64 /* measurements that count */ };
static const double UNIT_DEFAULT_NS = 0.6, UNIT_OUTLIER = 4;
static const uint64_t PAIR_NS_MAX = 25000000; /* CPU time between the two */
static const double SPEED_MARGIN = 3;         /* more than the processor can: a jump */
static const double JUMP = 3;                 /* … than the median of recent pairs */

/* The last samples of a thread, of the groups that were met last: conversions work in turns with copies to a buffer. */
enum { LASTS = 4 };
struct thread_lasts {
    struct last {
        uint32_t group; /* number, from 1; 0: none */
        double ns;      /* CPU time of samples of the group since then */
        struct pie_copy_record record;
    } of[LASTS];
    unsigned hand; /* to be replaced next */
};

/* One function that copies, called from one place in Python. */
struct group {
    double bytes_per_step; /* stored for each byte that the destination moves; 0: not known yet */
    double limit;          /* speed that it cannot exceed, bytes per ns of CPU time */
    uint64_t forward, backward;
    uint32_t samples;
    struct sums {
        double bytes, ns;
        uint32_t pairs;
    } all[2], fresh[2]; /* since the beginning, since the last clear; by is_certain */
    double recent[RECENT];
    uint32_t n_recent;
};

/* What was added in one context since the last clear. */
struct pending {
    struct pie_cct_id node;
    uint32_t group;
    uint32_t samples;
    double ns, sq_ns2;             /* all samples */
    bool is_kept;                  /* by the next clear: the group is too young for a speed of its own */
    double model_bytes, sq_bytes2; /* by the processor's speed, of samples in loops: x ns of a unit */
};

struct pie_copy_loops {
    struct pie_naming *naming;
    double unit_ns; /* what an element of a strided copy takes; 0: not measured yet */
    uint32_t n_units;
    uint64_t *unit_memory;
    bool is_ending, is_completing;
    bool is_needed;  /* samples of this tick whose speed is not known */
    bool wants_near; /* … of groups that have few pairs */
    struct thread_lasts *lasts;
    size_t n_lasts;
    struct group *groups;
    size_t n_groups, groups_room;
    struct pie_u64map group_of;
    struct pending *pending;
    size_t n_pending, pending_room;
    struct pie_u64map pending_of;
    struct pie_copy_row *rows;
    size_t rows_room;
};

static double median(const double *values, uint32_t n) {
    double sorted[RECENT];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > values[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = values[i];
    }
    return sorted[n / 2];
}

/* A strided copy, from every other word of memory to the first half of it. */
static uint64_t copy_strided(uint64_t *memory) {
    const uint64_t *from = memory + UNIT_ELEMENTS;
    uint64_t at = 0, value, start_ns = pie_monotonic_ns();

    __asm__ volatile("1:\n\t"
                     "mov (%0), %2\n\t"
                     "add $16, %0\n\t"
                     "mov %2, (%3, %1, 8)\n\t"
                     "mov (%0), %2\n\t"
                     "add $16, %0\n\t"
                     "mov %2, 8(%3, %1, 8)\n\t"
                     "add $2, %1\n\t"
                     "cmp %4, %1\n\t"
                     "jb 1b"
                     : "+r"(from), "+r"(at), "=&r"(value)
                     : "r"(memory), "r"((uint64_t)UNIT_ELEMENTS)
                     : "memory", "cc");
    return pie_monotonic_ns() - start_ns;
}

/* What a processor needs for one element of a strided copy in its second cache: the unit of round_units. Whoever shares
 * the core halves the speed, so it is measured in every tick that needs it, 5 us each, and averaged. */
static void measure_unit(struct pie_copy_loops *loops) {
    size_t bytes = (size_t)3 * UNIT_ELEMENTS * sizeof *loops->unit_memory;
    int runs = 2; /* the first one fetches the data */

    if (!loops->unit_memory) {
        loops->unit_memory = pie_malloc(bytes);
        if (!loops->unit_memory)
            return;
        memset(loops->unit_memory, 1, bytes); /* pages of their own, not the one of zeros */
        runs = UNIT_FIRST_RUNS;
    }
    for (int i = 0; i < runs; i++) {
        double ns = (double)copy_strided(loops->unit_memory) / UNIT_ELEMENTS;
        if (i == 0)
            continue;
        if (loops->n_units == 0 || ns < UNIT_OUTLIER * loops->unit_ns) { /* else it was interrupted */
            loops->n_units += loops->n_units < UNIT_MEMORY;
            loops->unit_ns += (ns - loops->unit_ns) / (double)loops->n_units;
        }
    }
}

static double unit_ns(struct pie_copy_loops *loops) {
    if (loops->unit_ns <= 0)
        measure_unit(loops);
    return loops->unit_ns > 0 ? loops->unit_ns : UNIT_DEFAULT_NS;
}

int pie_copy_loops_create(struct pie_naming *naming, struct pie_copy_loops **ret_loops) {
    if (!pie_decode_is_available())
        return -ENOSYS;
    struct pie_copy_loops *loops = pie_calloc(1, sizeof *loops);
    if (!loops)
        return -ENOMEM;
    loops->naming = naming;
    pie_copy_sites_set(true);
    *ret_loops = loops;
    return 0;
}

void pie_copy_loops_destroy(struct pie_copy_loops *loops) {
    if (!loops)
        return;
    pie_copy_sites_set(false);
    pie_free(loops->unit_memory);
    pie_free(loops->lasts);
    pie_free(loops->groups);
    pie_u64map_finish(&loops->group_of);
    pie_free(loops->pending);
    pie_u64map_finish(&loops->pending_of);
    pie_free(loops->rows);
    pie_free(loops);
}

static struct pie_cct_id python_node(struct pie_cct_id cct_node) {
    while (!pie_cct_is_root(cct_node) && !pie_cct_key_is_python(pie_cct_key(cct_node)))
        cct_node = pie_cct_parent(cct_node);
    return cct_node;
}

/* The number of the group; UINT32_MAX: short of memory. */
static uint32_t group_of(struct pie_copy_loops *loops, struct pie_cct_id node, uint64_t function) {
    uint64_t key = pie_hash_mix(function, python_node(node).value);
    uint32_t index = pie_u64map_get(&loops->group_of, key);

    if (index)
        return index - 1;
    struct group *groups =
        pie_list_grown(loops->groups, loops->n_groups, &loops->groups_room, sizeof *groups);
    if (!groups)
        return UINT32_MAX;
    loops->groups = groups;
    if (pie_u64map_put(&loops->group_of, key, (uint32_t)loops->n_groups + 1) < 0)
        return UINT32_MAX;
    loops->groups[loops->n_groups] = (struct group){0};
    return (uint32_t)loops->n_groups++;
}

static uint64_t pending_key(struct pie_cct_id node, uint32_t group) {
    return pie_hash_mix(group, node.value);
}

static struct pending *pending_of(struct pie_copy_loops *loops, struct pie_cct_id node, uint32_t group) {
    uint64_t key = pending_key(node, group);
    uint32_t index = pie_u64map_get(&loops->pending_of, key);

    if (index)
        return &loops->pending[index - 1];
    struct pending *list =
        pie_list_grown(loops->pending, loops->n_pending, &loops->pending_room, sizeof *list);
    if (!list)
        return NULL;
    loops->pending = list;
    if (pie_u64map_put(&loops->pending_of, key, (uint32_t)loops->n_pending + 1) < 0)
        return NULL;
    loops->pending[loops->n_pending] = (struct pending){.node = node, .group = group};
    return &loops->pending[loops->n_pending++];
}

/* --- Speeds --- */

static bool is_jump(const struct group *group, double speed, bool is_certain) {
    uint32_t n = group->n_recent < RECENT ? group->n_recent : RECENT;

    return (group->limit > 0 && speed > group->limit * SPEED_MARGIN) ||
           (!is_certain && n >= PAIRS_MIN && speed > JUMP * median(group->recent, n));
}

/* How far the copy came from one record to the other, in bytes stored; below 0: it went back. */
static double progress(const struct group *group, const struct pie_copy_record *a,
                       const struct pie_copy_record *b, bool is_upwards) {
    double moved = (double)(int64_t)(b->address - a->address);

    return (is_upwards ? moved : -moved) * (group->bytes_per_step > 0 ? group->bytes_per_step : 1);
}

/* What the site says of the group: which way it goes, how many bytes for how much of it. Returns false for
 * downwards. */
static bool learn_step(struct pie_copy_loops *loops, struct group *group, const struct pie_copy_site *site,
                       const struct pie_copy_record *record) {
    int64_t step = site->step_bytes + site->step_factor * record->step;

    if (!(site->flags & PIE_COPY_IN_LOOP) || step == 0)
        return true;
    group->bytes_per_step = (double)site->round_bytes / (double)(step < 0 ? -step : step);
    group->limit = (double)site->round_bytes / (double)site->round_units / unit_ns(loops);
    return step > 0;
}

static void add_pair(struct sums *sums, double bytes, double ns) {
    sums->bytes += bytes;
    sums->ns += ns;
    sums->pairs++;
}

/* Two samples in a row of a thread. */
static void note_pair(struct group *group, const struct last *last, const struct pie_copy_record *b,
                      bool is_upwards) {
    const struct pie_copy_record *a = &last->record;
    uint64_t ns = b->cpu_ns - a->cpu_ns;
    double bytes = progress(group, a, b, is_upwards);
    bool is_certain = a->allocated != 0 && a->allocated == b->allocated;

    if (ns == 0 || ns > PAIR_NS_MAX || last->ns <= 0 || a->stack != b->stack)
        return;
    double speed = bytes / (double)ns;
    bool jumps = bytes <= 0 || is_jump(group, speed, is_certain);
    if (bytes > 0)
        group->recent[group->n_recent++ % RECENT] = speed;
    group->backward += jumps;
    group->forward += !jumps;
    if (jumps || a->allocated != b->allocated)
        return;
    add_pair(&group->all[is_certain], bytes, last->ns);
    add_pair(&group->fresh[is_certain], bytes, last->ns);
}

/* With short calls one in two goes back: two standard deviations less. */
static bool is_mostly_forward(const struct group *group) {
    double n = (double)(group->forward + group->backward), below = n / 2 - (double)group->backward;

    return below > 0 && below * below > n;
}

/* Bytes per ns of samples; 0: not known. What is new counts if there is enough of it. */
static double speed_of(const struct group *group) {
    bool is_long = is_mostly_forward(group);

    for (int is_certain = 1; is_certain >= 0; is_certain--) {
        const struct sums *fresh = &group->fresh[is_certain], *all = &group->all[is_certain];
        if (!is_certain && !is_long)
            break;
        if (fresh->pairs >= FRESH_MIN)
            return fresh->bytes / fresh->ns;
        if (all->pairs >= PAIRS_MIN)
            return all->bytes / all->ns;
    }
    return 0;
}

/* --- Records --- */

/* Returns the site's number, 0: the code does not copy. */
static uint16_t learn(uint64_t ip) {
    struct pie_copy_site site;
    int number = pie_copy_site_find(ip);

    if (number == PIE_COPY_SITE_UNKNOWN)
        number = pie_copy_site_put(ip, pie_copy_loop_analyse(ip, &site) == 0 ? &site : NULL);
    return number > 0 ? (uint16_t)number : 0;
}

static struct thread_lasts *lasts_of(struct pie_copy_loops *loops, size_t slot) {
    if (slot >= loops->n_lasts) {
        size_t n = slot + 16;
        struct thread_lasts *list = pie_realloc(loops->lasts, n * sizeof *list);
        if (!list)
            return NULL;
        memset(list + loops->n_lasts, 0, (n - loops->n_lasts) * sizeof *list);
        loops->lasts = list;
        loops->n_lasts = n;
    }
    return &loops->lasts[slot];
}

static void add(struct pie_copy_loops *loops, uint32_t index, const struct pie_copy_site *site,
                const struct pie_copy_record *record) {
    struct pending *pending = pending_of(loops, record->node, index);
    double ns = (double)record->user_ns + (double)record->system_ns;

    if (!pending)
        return;
    pending->samples++;
    pending->ns += ns;
    pending->sq_ns2 += ns * ns;
    if (!(site->flags & PIE_COPY_IN_LOOP))
        return;
    double bytes = (double)record->user_ns * (double)site->round_bytes / (double)site->round_units;
    pending->model_bytes += bytes;
    pending->sq_bytes2 += bytes * bytes;
}

/* The group's last sample; a new one, without a record of a place, if there is none. */
static struct last *last_of(struct thread_lasts *lasts, uint32_t group) {
    for (unsigned i = 0; i < LASTS; i++)
        if (lasts->of[i].group == group)
            return &lasts->of[i];
    struct last *last = &lasts->of[lasts->hand++ % LASTS];
    *last = (struct last){.group = group};
    return last;
}

/* Long periods seldom have two samples in one call, and of short calls there is never a pair. The bytes of few samples
 * are uncertain. */
static bool wants_near(const struct group *group) {
    bool has_pairs = group->all[0].pairs + group->all[1].pairs >= NEAR_PAIRS;

    return group->samples < (has_pairs ? NEAR_FEW : NEAR_MANY);
}

/* is_located: the record shows how far the copy got. */
static void see(struct pie_copy_loops *loops, struct thread_lasts *lasts,
                const struct pie_copy_record *record, bool is_located) {
    const struct pie_copy_site *site = pie_copy_site_at(record->site);
    uint32_t index = group_of(loops, record->node, site->function);

    if (index == UINT32_MAX)
        return;
    struct group *group = &loops->groups[index];
    struct last *last = last_of(lasts, index + 1);
    bool is_upwards = !is_located || learn_step(loops, group, site, record);
    group->samples++;
    last->ns += (double)record->user_ns + (double)record->system_ns;
    if (is_located && site->flags & PIE_COPY_TRACKED) {
        if (last->record.site && (pie_copy_site_at(last->record.site)->flags & PIE_COPY_COUNTER) ==
                                     (site->flags & PIE_COPY_COUNTER))
            note_pair(group, last, record, is_upwards);
        last->record = *record;
        last->ns = 0;
    }
    add(loops, index, site, record);
    loops->is_needed |= speed_of(group) <= 0;
    loops->wants_near |= wants_near(group);
}

void pie_copy_loops_thread(struct pie_copy_loops *loops, struct pie_thread *thread, size_t slot) {
    struct thread_lasts *lasts = lasts_of(loops, slot);
    struct pie_copy_record record;
    int learnt = 0;

    while (pie_copy_ring_pop(pie_copy_loop_of(thread), &record)) {
        if (!lasts || record.generation != pie_copy_sites_generation())
            continue;
        bool is_located = record.site != 0;
        if (!is_located && learnt++ < LEARN_MAX)
            record.site = learn(record.address);
        if (record.site)
            see(loops, lasts, &record, is_located);
    }
    if (loops->is_needed)
        measure_unit(loops);
    loops->is_needed = false;
    if (loops->wants_near)
        pie_time_of(thread)->wants_near = true;
    loops->wants_near = false;
}

void pie_copy_loops_thread_ended(struct pie_copy_loops *loops, size_t slot) {
    if (slot < loops->n_lasts)
        loops->lasts[slot] = (struct thread_lasts){0};
}

void pie_copy_loops_forget(struct pie_copy_loops *loops) {
    for (size_t i = 0; i < loops->n_lasts; i++)
        loops->lasts[i] = (struct thread_lasts){0};
    pie_copy_sites_forget();
}

/* --- Rows --- */

static struct pie_copy_row row_of(struct pie_copy_loops *loops, const struct pending *pending) {
    double speed = speed_of(&loops->groups[pending->group]);
    double bytes = pending->ns * speed, sq_bytes2 = pending->sq_ns2 * speed * speed;

    if (speed <= 0) {
        bytes = pending->model_bytes / unit_ns(loops);
        sq_bytes2 = pending->sq_bytes2 / (unit_ns(loops) * unit_ns(loops));
    }
    return (struct pie_copy_row){
        .node = pie_naming_node(loops->naming, pending->node),
        .samples = pending->samples,
        .estimate = PIE_COPY_LOOP,
        .bytes = (uint64_t)bytes,
        .sq_bytes2 = sq_bytes2,
    };
}

const struct pie_copy_row *pie_copy_loops_rows(struct pie_copy_loops *loops, size_t *ret_count) {
    size_t count = 0;

    if (loops->rows_room < loops->n_pending) {
        struct pie_copy_row *rows = pie_realloc(loops->rows, loops->n_pending * sizeof *rows);
        if (!rows) {
            *ret_count = 0;
            return NULL;
        }
        loops->rows = rows;
        loops->rows_room = loops->n_pending;
    }
    for (size_t i = 0; i < loops->n_pending; i++) {
        struct pending *pending = &loops->pending[i];
        const struct group *group = &loops->groups[pending->group];
        pending->is_kept = !loops->is_ending && !loops->is_completing && group->samples < YOUNG_SAMPLES &&
                           speed_of(group) <= 0;
        if (pending->is_kept)
            continue;
        loops->rows[count] = row_of(loops, pending);
        count += loops->rows[count].node.value && loops->rows[count].bytes;
    }
    *ret_count = count;
    return loops->rows;
}

void pie_copy_loops_clear(struct pie_copy_loops *loops) {
    size_t kept = 0;

    pie_u64map_finish(&loops->pending_of);
    loops->pending_of = (struct pie_u64map){0};
    for (size_t i = 0; i < loops->n_pending; i++) {
        struct pending *pending = &loops->pending[i];
        if (!pending->is_kept)
            memset(loops->groups[pending->group].fresh, 0, sizeof loops->groups->fresh);
        else if (pie_u64map_put(&loops->pending_of, pending_key(pending->node, pending->group),
                                (uint32_t)kept + 1) == 0)
            loops->pending[kept++] = *pending;
    }
    loops->n_pending = kept;
}

void pie_copy_loops_end(struct pie_copy_loops *loops) {
    loops->is_ending = true;
}

void pie_copy_loops_complete(struct pie_copy_loops *loops) {
    loops->is_completing = true;
}

void pie_copy_loops_forget_places(struct pie_copy_loops *loops) {
    loops->is_completing = false;
    if (loops->n_pending > 0)
        return;
    pie_u64map_finish(&loops->group_of);
    loops->n_groups = 0;
    for (size_t i = 0; i < loops->n_lasts; i++)
        loops->lasts[i] = (struct thread_lasts){0};
}

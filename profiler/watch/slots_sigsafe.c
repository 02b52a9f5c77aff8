/* SPDX-License-Identifier: Apache-2.0 */

/* Which watch gives way to a new one. Each slot is a reservoir of size one, as in Witch (PieProf §4.2): a free slot is
 * always taken; else the slots are asked in turn from a random one on, and one that has seen n samples since it was
 * last free or trapped gives way with probability 1 / (1 + n), so that any sample of that time is equally likely to be
 * the one watched, however far away its next access is.
 *
 * That alone would starve a program of bulk work: a slot that holds an address which nobody touches again gives way
 * ever more rarely. So all slots but the last lose patience: their probability does not fall below 1 / patience. Near
 * accesses are found by the impatient slots, far ones by the patient. tests/profiler/watch/test_watch.c holds the
 * survival curve of each against this rule. */

#include "profiler/watch/internal.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/random.h"
#include "profiler/base/safe_load.h"
#include "profiler/thread/thread.h"
#include "profiler/time/clock_perf.h"
#include "profiler/time/clock_price.h"
#include "profiler/time/thread.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uint32_t patience[PIE_DEBUG_REGISTERS] = {8, 32, 128, UINT32_MAX};

/* A breakpoint on an access that is not reached in this time will hardly be. */
static const uint64_t ACCESS_TIMEOUT_NS = 50000000;

/* A store's watch that waits for the end of the second call is not given up before. */
static const uint64_t NEXT_RETURN_TIMEOUT_NS = 1000000000;

/* So much debt from slow strings ends all watches; until it is paid back, no other begins. Some tens of milliseconds
 * with registers armed at a stretch see calls that are as long; short stretches see more of them, so most are short. */
static const int64_t STRING_DEBT_LONG_NS = 20000000, STRING_DEBT_SHORT_NS = 4000000;
enum { LONG_DEBT_ONE_IN = 4 };
/* … and under a budget that was named all are, unless a long one is paid back in a second. */
static const double FRUGAL_LONG_DEBT_MIN = 0.02;

/* Calls of the interpreter's own functions are many, and many places are not come to again: no other string is slowed
 * down for longer than this, in CPU time, by the data breakpoint that waits for one. */
static const uint64_t SITE_TIMEOUT_NS = 20000000;

/* The calls of own code for which Python code is at work are longer. */
static const uint64_t OUTER_TIMEOUT_NS = 200000000;

/* At most so much credit is saved up, so that watching does not come in bursts. */
static const int64_t CREDIT_MAX_NS = 1000000;

/* With that much, this part of the samples that may begin a watch of a call do. */
enum { DRAWN_LEAST = 2 };

enum { HUGE_PAGES = 512 }; /* 4 KiB pages in one that a fault may map at once */

/* A handler's work takes a few microseconds; what wall time shows beyond this was another thread's turn. */
static const uint64_t HANDLER_MAX_NS = 60000;

uint64_t pie_watch_random(struct pie_watch_thread *watch) {
    return pie_random_next(&watch->random) * UINT64_C(0x2545f4914f6cdd1d) >> 8;
}

void pie_watch_disarm(struct pie_thread *thread, unsigned index) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    const struct pie_debug_ops *registers = pie_watch_registers_in_use();

    if (slot->is_armed && registers)
        registers->disarm(thread, index);
    slot->is_armed = false;
}

void pie_watch_free_slot(struct pie_thread *thread, unsigned index) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    pie_watch_disarm(thread, index);
    if (slot->stage == PIE_WATCH_COPY)
        pie_watch_copy_lost(slot);
    slot->stage = PIE_WATCH_FREE;
    slot->seen = 0;
}

/* What such a slot waits for, the end of a call that runs, comes by itself. */
static bool is_about_to_end(const struct pie_watch_slot *slot) {
    return slot->stage == PIE_WATCH_NEXT_RETURN &&
           pie_monotonic_ns() - slot->began_ns < NEXT_RETURN_TIMEOUT_NS;
}

static bool gives_way(struct pie_watch_thread *watch, unsigned index) {
    struct pie_watch_slot *slot = &watch->slots[index];
    uint32_t one_in = slot->seen < patience[index] ? slot->seen + 1 : patience[index];

    return pie_watch_random(watch) % one_in == 0 && !is_about_to_end(slot);
}

/* The watch ends where it is; a data watch leaves a record. */
static void evict(struct pie_thread *thread, unsigned index) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    struct pie_watch_record record = {0};

    pie_watch_python_shun(thread, slot);
    if (slot->stage < PIE_WATCH_DATA) {
        pie_counter_add(PIE_COUNTER_WATCH_NOT_REACHED, 1);
    } else if (slot->stage == PIE_WATCH_COPY) {
        pie_watch_copy_lost(slot);
    } else if (slot->stage == PIE_WATCH_NEXT_RETURN) {
        pie_watch_give_up(thread, index);
    } else {
        record.record = PIE_WATCH_RECORD_ENDED;
        record.outcome = (uint8_t)pie_watch_result_so_far(slot, PIE_WATCH_EVICTED);
        record.gap_ns = pie_monotonic_ns() - slot->began_ns;
        pie_watch_push(thread, index, &record);
    }
}

static bool is_overdue(const struct pie_watch_slot *slot, uint64_t now_ns) {
    return slot->stage == PIE_WATCH_ACCESS && now_ns - slot->began_ns > ACCESS_TIMEOUT_NS;
}

static int free_slot(struct pie_thread *thread) {
    uint64_t now_ns = pie_monotonic_ns();

    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[i];
        if (is_overdue(slot, now_ns)) {
            pie_counter_add(PIE_COUNTER_WATCH_NOT_REACHED, 1);
            pie_watch_free_slot(thread, i);
        }
        if (slot->stage == PIE_WATCH_FREE)
            return (int)i;
    }
    return -1;
}

int pie_watch_choose_slot(struct pie_thread *thread) {
    struct pie_watch_thread *watch = pie_watch_of(thread);
    int chosen = free_slot(thread);

    if (chosen >= 0)
        return chosen;
    unsigned first = (unsigned)(pie_watch_random(watch) % PIE_DEBUG_REGISTERS);
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        unsigned index = (first + i) % PIE_DEBUG_REGISTERS;
        watch->slots[index].seen++;
        if (chosen < 0 && gives_way(watch, index))
            chosen = (int)index;
    }
    if (chosen >= 0)
        evict(thread, (unsigned)chosen);
    return chosen;
}

static _Atomic uint32_t allowed_ppm; /* of a thread's CPU time; 0: as the settings say */

void pie_watch_allow(double share) {
    atomic_store_explicit(&allowed_ppm, (uint32_t)(1e6 * share), memory_order_relaxed);
}

static double budget_of(const struct pie_watch_settings *settings) {
    uint32_t ppm = atomic_load_explicit(&allowed_ppm, memory_order_relaxed);

    return ppm ? 1e-6 * ppm : settings->budget;
}

/* By the program's time as of the sample that is being handled. By the thread's, what slow strings take would earn
 * credit for more of them: with a share near 1 they never ended. */
static void earn_credit(struct pie_thread *thread, const struct pie_watch_settings *settings) {
    struct pie_watch_thread *watch = pie_watch_of(thread);
    uint64_t spent_ns = atomic_load_explicit(&watch->spent_ns, memory_order_relaxed); /* only we add to it */
    uint64_t program_ns = thread->cpu_last_ns > spent_ns ? thread->cpu_last_ns - spent_ns : 0;

    if (program_ns > watch->credit_program_ns) {
        watch->credit_ns += (int64_t)((double)(program_ns - watch->credit_program_ns) * budget_of(settings));
        watch->credit_program_ns = program_ns;
    }
    if (watch->credit_ns > CREDIT_MAX_NS)
        watch->credit_ns = CREDIT_MAX_NS;
}

bool pie_watch_has_credit(struct pie_thread *thread, const struct pie_watch_settings *settings) {
    earn_credit(thread, settings);
    return pie_watch_of(thread)->credit_ns > 0;
}

/* Nobody else wants what is left of the credit when that is at its most, nor a register that is free. */
static int64_t spare_ns(const struct pie_watch_thread *watch) {
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        if (watch->slots[i].stage == PIE_WATCH_FREE)
            return watch->credit_ns > 0 ? watch->credit_ns : 0;
    return 0;
}

bool pie_watch_has_spare(struct pie_watch_thread *watch) {
    return (int64_t)(pie_watch_random(watch) % (uint64_t)CREDIT_MAX_NS) < spare_ns(watch);
}

bool pie_watch_is_drawn(struct pie_thread *thread, const struct pie_watch_settings *settings,
                        uint32_t one_in) {
    struct pie_watch_thread *watch = pie_watch_of(thread);

    earn_credit(thread, settings);
    uint32_t fewer = (uint32_t)((int64_t)(one_in - DRAWN_LEAST) * spare_ns(watch) / CREDIT_MAX_NS);
    return pie_watch_random(watch) % (one_in - fewer) == 0;
}

uint64_t pie_watch_spent_since(const struct pie_thread *thread, uint64_t start_ns) {
    uint64_t spent_ns = pie_monotonic_ns() - start_ns, waited_ns = pie_watch_of(thread)->ptrace.waited_ns;
    uint64_t own_ns = spent_ns > waited_ns ? spent_ns - waited_ns : 0;

    return (own_ns < HANDLER_MAX_NS ? own_ns : HANDLER_MAX_NS) + waited_ns;
}

void pie_watch_charge(struct pie_thread *thread, uint64_t ns) {
    uint64_t waited_ns = pie_watch_of(thread)->ptrace.waited_ns;

    pie_watch_of(thread)->ptrace.waited_ns = 0;
    pie_watch_of(thread)->credit_ns -= (int64_t)ns;
    thread->cpu_last_ns += ns > waited_ns ? ns - waited_ns : 0;
    atomic_fetch_add_explicit(&pie_watch_of(thread)->spent_ns, ns, memory_order_relaxed);
}

void pie_watch_charge_kernel(struct pie_thread *thread, uint64_t ns) {
    uint64_t now_ns = pie_clock_scaled_ns(thread, ns);

    pie_clock_perf_own_kernel(thread, now_ns);
    pie_watch_of(thread)->credit_ns -= (int64_t)now_ns;
    thread->cpu_last_ns += now_ns;
    atomic_fetch_add_explicit(&pie_watch_of(thread)->spent_ns, now_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&thread->caches_ns, pie_clock_reload_ns(), memory_order_relaxed);
    atomic_fetch_add_explicit(&thread->trap_caches_ns, pie_clock_reload_ns(), memory_order_relaxed);
}

static uint64_t faults_of_thread(void) {
    struct rusage usage;

    if (syscall(SYS_getrusage, RUSAGE_THREAD, &usage) != 0)
        return 0;
    return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

static bool is_data_armed(const struct pie_watch_slot *slot) {
    bool is_waiting = slot->stage == PIE_WATCH_DATA || pie_watch_waits_for_site(slot) ||
                      slot->stage == PIE_WATCH_COPY || pie_watch_waits_for_return_address(slot);

    return slot->is_armed && is_waiting;
}

/* How many data breakpoints are armed? */
static unsigned data_armed(const struct pie_watch_thread *watch) {
    unsigned n = 0;

    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        n += is_data_armed(&watch->slots[i]);
    return n;
}

/* What the handler does is little beside the trap. */
void pie_watch_note_traps(struct pie_thread *thread, unsigned fired, uint64_t price_ns) {
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        if (fired >> i & 1)
            pie_watch_of(thread)->slots[i].cost_ns += price_ns;
}

uint16_t pie_watch_cost_us(const struct pie_watch_slot *slot) {
    uint64_t cost_us = slot->cost_ns / 1000;

    return (uint16_t)(cost_us < UINT16_MAX ? cost_us : UINT16_MAX);
}

/* What is slower while any data breakpoint is armed is a cost of each watch that has one. */
static void share_tax(struct pie_watch_thread *watch, uint64_t each_ns) {
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        if (is_data_armed(&watch->slots[i]))
            watch->slots[i].cost_ns += each_ns;
}

/* REP MOVS or REP STOS, whose samples are taken between two of its rounds. */
static bool is_string(uint64_t ip) {
    uint8_t bytes[3];

    if (!pie_safe_copy(bytes, (const void *)(uintptr_t)ip, sizeof bytes) || bytes[0] != 0xf3)
        return false;
    uint8_t opcode = (bytes[1] & 0xf0) == 0x40 ? bytes[2] : bytes[1]; /* behind REX */
    return opcode == 0xa4 || opcode == 0xa5 || opcode == 0xaa || opcode == 0xab;
}

void pie_watch_rest(struct pie_thread *thread) {
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        if (pie_watch_of(thread)->slots[i].stage == PIE_WATCH_FREE)
            continue;
        evict(thread, i);
        pie_watch_free_slot(thread, i);
    }
    pie_watch_of(thread)->debt_is_short = pie_watch_random(pie_watch_of(thread)) % LONG_DEBT_ONE_IN != 0;
}

static bool waits_too_long(const struct pie_thread *thread, const struct pie_watch_slot *slot) {
    bool is_waiting = pie_watch_waits_for_site(slot) || pie_watch_waits_for_return_address(slot);
    uint64_t limit_ns = slot->is_outer ? OUTER_TIMEOUT_NS : SITE_TIMEOUT_NS;

    return is_waiting && slot->is_call && thread->cpu_last_ns > slot->site_cpu_ns + limit_ns;
}

uint64_t pie_watch_program_ns(const struct pie_thread *thread) {
    return pie_thread_cpu_ns() - atomic_load_explicit(&pie_watch_of(thread)->spent_ns,
                                                      memory_order_relaxed); /* only we add to it */
}

static void give_up_sites(struct pie_thread *thread) {
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        if (!waits_too_long(thread, &pie_watch_of(thread)->slots[i]))
            continue;
        pie_watch_python_shun(thread, &pie_watch_of(thread)->slots[i]);
        pie_watch_give_up(thread, i);
    }
}

/* What `faults` page faults cost more. One that maps a huge page clears 512 pages, so then the kernel's time is
 * the measure. */
static uint64_t tax_on(const struct pie_watch_settings *settings, uint64_t faults, uint64_t system_ns) {
    uint64_t tax_ns = faults * settings->fault_tax_ns, most_ns = tax_ns * HUGE_PAGES;
    uint64_t by_time_ns = (uint64_t)((double)system_ns * settings->fault_tax_share);

    by_time_ns = by_time_ns < most_ns ? by_time_ns : most_ns;
    return by_time_ns > tax_ns ? by_time_ns : tax_ns;
}

/* String instructions are many times slower while a data breakpoint is armed (watch/price.c), in whatever code the
 * thread runs by then. A program that copies or maps arrays in each call lost half of its speed by that, so it is
 * watched for a part of its time only. */
void pie_watch_charge_sample(struct pie_thread *thread, const ucontext_t *ucontext, uint64_t system_ns) {
    const struct pie_watch_settings *settings = pie_watch_settings();
    struct pie_watch_thread *watch = pie_watch_of(thread);

    if (!settings)
        return;
    give_up_sites(thread);
    pie_watch_copy_give_up(thread);
    if (!settings->fault_tax_ns)
        return;
    uint64_t faults = faults_of_thread(), before = watch->faults_seen;
    uint64_t passed_ns = thread->cpu_last_ns - watch->slow_cpu_ns;
    uint64_t period_ns = atomic_load_explicit(&pie_time_of(thread)->period_ns, memory_order_relaxed);
    watch->faults_seen = faults;
    watch->slow_cpu_ns = thread->cpu_last_ns;
    unsigned armed = data_armed(watch);
    if (armed == 0)
        return;
    uint64_t tax_ns = faults > before ? tax_on(settings, faults - before, system_ns) : 0;
    pie_clock_perf_own_kernel(thread, tax_ns);
    if (is_string((uint64_t)ucontext->uc_mcontext.gregs[REG_RIP])) /* nearly all of this time */
        tax_ns += passed_ns < period_ns ? passed_ns : period_ns;
    share_tax(watch, tax_ns / armed);
    earn_credit(thread, settings);
    watch->credit_ns -= (int64_t)tax_ns;
    thread->cpu_last_ns += tax_ns;
    atomic_fetch_add_explicit(&watch->spent_ns, tax_ns, memory_order_relaxed);
    bool is_short =
        watch->debt_is_short || (settings->is_frugal && budget_of(settings) < FRUGAL_LONG_DEBT_MIN);
    if (watch->credit_ns < -(is_short ? STRING_DEBT_SHORT_NS : STRING_DEBT_LONG_NS))
        pie_watch_rest(thread);
}

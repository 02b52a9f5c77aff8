/* SPDX-License-Identifier: Apache-2.0 */

/* Policy over many samples: what watching may cost, that nothing is lost from the books, and samplers that know
 * addresses themselves. */

#include "tests/profiler/watch/scene.h"

#include "profiler/base/home.h"
#include "profiler/code/modules.h"
#include "profiler/time/thread.h"
#include "profiler/watch/sampler.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void learn_one(const char *label, unsigned flags) {
    struct pie_access access = scene_access(label, flags, 8);

    scene_learn(&access, 1);
}

static void drop_records(void) {
    struct pie_watch_record record;

    while (pie_watch_ring_pop(&pie_watch_of(scene_thread)->ring, &record))
        continue;
    if (scene.n_orders > SCENE_ORDERS / 2)
        scene.n_orders = 0;
}

/* --- Budget --- */

static uint64_t spent_ns(void) {
    return pie_watch_of(scene_thread)->spent_ns;
}

/* One sample and, if it began a watch, the traps that end it. Returns whether it began one. */
static bool play_watch(void) {
    ucontext_t context = scene_at(scene_load), back = scene_returned(), again = scene_at(scene_store);
    int index = scene_sample(scene_call);

    if (index < 0)
        return false;
    scene_trap((unsigned)index, &context);
    scene_trap((unsigned)index, &back);
    scene_trap((unsigned)index, &again);
    drop_records();
    return true;
}

static void test_watching_keeps_within_its_budget(void) {
    uint64_t costliest_ns = 0, start_ns = scene_thread->cpu_last_ns;
    unsigned watches = 0;

    learn_one(scene_load, PIE_ACCESS_LOAD);
    scene_settings.budget = 0.02;
    scene_settings.trap_price_ns = 12000;
    for (int i = 0; i < 1000; i++) {
        uint64_t before_ns = spent_ns();
        watches += play_watch();
        if (spent_ns() - before_ns > costliest_ns)
            costliest_ns = spent_ns() - before_ns;
    }
    double allowed_ns = 0.02 * (double)(scene_thread->cpu_last_ns - start_ns);
    print_message("# %u watches, %.1f of %.1f ms spent\n", watches, (double)spent_ns() / 1e6,
                  allowed_ns / 1e6);
    assert_true((double)spent_ns() <= allowed_ns + (double)costliest_ns);
    assert_true((double)spent_ns() >= 0.5 * allowed_ns); /* and makes use of it */
    assert_in_range(watches, 100, 1000);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_NO_CREDIT), 1000 - watches);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_TRAPS), 3 * watches);
}

/* What traps cost is no CPU time of the program. */
static void test_cost_is_taken_out_of_the_program(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    scene_settings.trap_price_ns = 500000;
    uint64_t start_ns = scene_thread->cpu_last_ns;
    assert_true(play_watch());
    assert_true(spent_ns() >= 1500000);
    assert_int_equal(scene_thread->cpu_last_ns, start_ns + 1000000 + spent_ns());
}

/* A thread that has not been sampled for long does not get everything at once. */
static void test_credit_is_not_saved_up(void) {
    unsigned watches = 0;

    learn_one(scene_load, PIE_ACCESS_LOAD);
    scene_settings.budget = 0.001;
    scene_settings.trap_price_ns = 100000;
    scene_thread->cpu_last_ns += UINT64_C(100000000000);
    for (int i = 0; i < 100; i++)
        watches += play_watch();
    assert_in_range(watches, 1, 5); /* 1 ms at 0.3 ms and more each */
}

/* --- Page faults --- */

static void fault(size_t pages) {
    size_t bytes = pages * (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < bytes; at += 4096)
        memory[at] = 1;
    munmap(memory, bytes);
}

/* Where armed registers make page faults dear, a program with many of them is watched for a part of its time only. */
static void test_page_faults_are_paid_for(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    scene_settings.budget = 0.02;
    scene_settings.fault_tax_ns = 100000;
    unsigned index = scene_reach_data();
    assert_int_equal(scene_pop().record, PIE_WATCH_RECORD_REACHED);
    uint64_t before_ns = spent_ns();
    fault(100); /* 10 ms: on credit */
    scene_sample(scene_after);
    assert_in_range(spent_ns() - before_ns, 10000000, 12000000);
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_DATA);

    fault(200);
    scene_sample(scene_after);
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        assert_int_equal(pie_watch_of(scene_thread)->slots[i].stage, PIE_WATCH_FREE);
        assert_false(pie_watch_of(scene_thread)->slots[i].is_armed);
    }
    assert_int_equal(scene_pop().outcome, PIE_WATCH_EVICTED);
    before_ns = spent_ns();
    fault(300); /* nothing is armed: they cost what they always do */
    for (int ms = 0; ms < 900; ms++)
        assert_int_equal(scene_sample(scene_call), -1);
    assert_in_range(spent_ns() - before_ns, 0, 20000000);
    while (scene_sample(scene_call) < 0) /* the debt is paid back, 20 us in each ms */
        assert_true(scene_thread->cpu_last_ns < UINT64_C(10000000000));
}

static uint64_t charged_at(const uint8_t *instruction) {
    ucontext_t context = scene_at((const char *)instruction);
    uint64_t before_ns = spent_ns();

    scene_thread->cpu_last_ns += 5000000; /* 2 ms of them in samples of other code */
    pie_time_of(scene_thread)->period_ns = 3000000;
    pie_watch_charge_sample(scene_thread, &context, 0);
    return spent_ns() - before_ns;
}

/* With a large budget, too, they end watches: what they take is none of the program's time, which earns credit. */
static void test_slow_strings_earn_nothing(void) {
    static const uint8_t movsb[] = {0xf3, 0xa4, 0x90};
    ucontext_t context = scene_at((const char *)movsb);

    learn_one(scene_load, PIE_ACCESS_LOAD);
    scene_settings.fault_tax_ns = 1;
    unsigned index = scene_reach_data();
    scene_settings.budget = 1.2;
    pie_time_of(scene_thread)->period_ns = 1000000;
    uint64_t cpu_ns = scene_thread->cpu_last_ns, before_ns = spent_ns();
    for (int sample = 0; sample < 100; sample++) {
        cpu_ns += 1000000;
        scene_thread->cpu_last_ns =
            cpu_ns; /* as a sample sets it, whatever was charged since the one before */
        pie_watch_charge_sample(scene_thread, &context, 0);
    }
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_FREE);
    assert_in_range(spent_ns() - before_ns, 4000000, 23000000); /* the debt, and the credit that there was */
}

/* Time that samples find in string instructions is what the breakpoint cost. */
static void test_slow_strings_are_paid_for(void) {
    static const uint8_t movsb[] = {0xf3, 0xa4, 0x90}, stosq[] = {0xf3, 0x48, 0xab},
                         movsd_xmm[] = {0xf3, 0x0f, 0x10}, pause[] = {0xf3, 0x90, 0xa4},
                         stosb_once[] = {0xaa, 0x90, 0x90};

    learn_one(scene_load, PIE_ACCESS_LOAD);
    scene_settings.fault_tax_ns = 1;
    assert_in_range(charged_at(movsb), 0, 100000); /* nothing is armed */
    scene_reach_return();
    assert_in_range(charged_at(movsb), 0, 100000); /* an execute breakpoint slows nothing */
    scene_reach_data();
    assert_in_range(charged_at(movsb), 3000000, 3100000);
    assert_in_range(charged_at(stosq), 3000000, 3100000);
    assert_in_range(charged_at(movsd_xmm), 0, 100000);
    assert_in_range(charged_at(pause), 0, 100000);
    assert_in_range(charged_at(stosb_once), 0, 100000);
    scene_settings.fault_tax_ns = 0; /* a machine that does not mind */
    assert_int_equal(charged_at(movsb), 0);
}

/* --- The books --- */

static const char empty_block[1], unknown_block[1];

static struct {
    uint64_t samples, late_in_data, reached, ended, random;
} books;

static uint64_t random_below(uint64_t n) {
    books.random = books.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (books.random >> 33) % n;
}

static void count_records(void) {
    struct pie_watch_record record;

    while (pie_watch_ring_pop(&pie_watch_of(scene_thread)->ring, &record)) {
        books.reached += record.record == PIE_WATCH_RECORD_REACHED;
        books.ended += record.record == PIE_WATCH_RECORD_ENDED;
    }
    if (scene.n_orders < SCENE_ORDERS / 2)
        return;
    memmove(scene.orders, &scene.orders[scene.n_orders - 4096], 4096 * sizeof *scene.orders);
    scene.n_orders = 4096;
}

static void sample_at_random(void) {
    const char *const places[] = {scene_call, scene_call, scene_call, scene_load, scene_after};
    uint64_t kind = random_below(20);
    ucontext_t odd = scene_at(kind == 0 ? empty_block : unknown_block);
    const struct pie_native_frame frame = {.module = pie_code_module_at((uintptr_t)scene_call)};
    struct pie_call_path taken = {.node = {1}, .is_foreign = true, .native = &frame, .native_count = 1};

    books.samples++;
    if (kind < 2) {
        pie_watch_sample(scene_thread, &odd, &taken);
        return;
    }
    scene_settings.budget = kind == 2 ? 0 : 10;
    if (kind == 2)
        pie_watch_of(scene_thread)->credit_ns = 0;
    scene_sample(places[random_below(5)]);
}

static const char *place_of_trap(const struct pie_watch_slot *slot) {
    return slot->stage == PIE_WATCH_ACCESS ? (const char *)(uintptr_t)slot->access.ip : scene_store;
}

/* Was it the trap of a data breakpoint? */
static bool trap_at_random(void) {
    unsigned index = (unsigned)random_below(PIE_DEBUG_REGISTERS);
    const struct pie_watch_slot *slot = &pie_watch_of(scene_thread)->slots[index];
    bool is_late = random_below(20) == 0, is_stale = random_below(10) == 0;
    ucontext_t context = scene_at(place_of_trap(slot));

    bool is_of_data = slot->stage == PIE_WATCH_DATA;
    if (slot->stage == PIE_WATCH_FREE)
        return false;
    if (slot->stage == PIE_WATCH_RETURN || slot->stage == PIE_WATCH_NEXT_RETURN) {
        context = scene_returned();
        context.uc_mcontext.gregs[REG_RSP] += 64 * ((greg_t)random_below(3) - 1);
    }
    books.late_in_data += is_late && !is_stale && slot->stage >= PIE_WATCH_DATA;
    if (random_below(4) == 0)
        scene.word[0]++;
    if (random_below(5) == 0)
        pie_home_add((uintptr_t)scene_call, (uintptr_t)scene_end);
    scene.frames_low = random_below(6) ? 0 : (uintptr_t)scene.word;
    scene.frames_high = scene.frames_low + 512;
    scene_trap_with(scene_cookie(index) ^ (uint64_t)is_stale << 10, is_late, &context);
    pie_home_clear();
    return is_of_data;
}

static uint64_t open_in(enum pie_watch_stage low, enum pie_watch_stage high) {
    uint64_t n = 0;

    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        n += pie_watch_of(scene_thread)->slots[i].stage >= low &&
             pie_watch_of(scene_thread)->slots[i].stage <= high;
    return n;
}

static uint64_t sum(const enum pie_counter *counters, size_t n) {
    uint64_t total = 0;

    for (size_t i = 0; i < n; i++)
        total += pie_counter_get(counters[i]);
    return total;
}

static void expect_balance(uint64_t refused_in_data) {
    static const enum pie_counter of_samples[] = {
        PIE_COUNTER_WATCH_BLOCK_UNKNOWN, PIE_COUNTER_WATCH_BLOCK_EMPTY, PIE_COUNTER_WATCH_NO_CREDIT,
        PIE_COUNTER_WATCH_NO_SLOT,       PIE_COUNTER_WATCH_DECIDED,     PIE_COUNTER_WATCH_FRUITLESS};
    static const enum pie_counter of_watches[] = {
        PIE_COUNTER_WATCH_NOT_REACHED,     PIE_COUNTER_WATCH_ACCESS_IGNORED, PIE_COUNTER_WATCH_NOT_NATIVE,
        PIE_COUNTER_WATCH_CHANGED_IN_CALL, PIE_COUNTER_WATCH_CALL_LEFT,      PIE_COUNTER_WATCH_REACHED};
    uint64_t begun = pie_watch_of(scene_thread)->serial;

    assert_int_equal(sum(of_samples, 6) + begun, books.samples);
    assert_int_equal(sum(of_watches, 6) + pie_counter_get(PIE_COUNTER_WATCH_NO_REGISTER) - refused_in_data +
                         pie_counter_get(PIE_COUNTER_WATCH_LATE_TRAPS) - books.late_in_data +
                         open_in(PIE_WATCH_ACCESS, PIE_WATCH_RETURN),
                     begun);
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_RING_FULL), 0);
    assert_int_equal(books.reached, pie_counter_get(PIE_COUNTER_WATCH_REACHED));
    assert_int_equal(books.ended + open_in(PIE_WATCH_DATA, PIE_WATCH_NEXT_RETURN), books.reached);
}

static void play_at_random(bool refuse, uint64_t steps) {
    struct pie_access accesses[] = {scene_access(scene_load, PIE_ACCESS_LOAD, 8),
                                    scene_access(scene_store, PIE_ACCESS_STORE, 8),
                                    scene_access(scene_both, PIE_ACCESS_LOAD | PIE_ACCESS_STORE, 32)};
    uint64_t refused_in_data = 0;

    memset(&books, 0, sizeof books);
    books.random = 42;
    scene_learn(accesses, 3);
    scene_learn_at(empty_block, NULL, 0);
    for (uint64_t i = 0; i < steps; i++) {
        scene.refuse = refuse && random_below(8) == 0 ? -ENOSPC : 0;
        uint64_t refused = pie_counter_get(PIE_COUNTER_WATCH_NO_REGISTER);
        if (random_below(2)) {
            sample_at_random();
        } else if (trap_at_random()) { /* a refusal took its watch out of stage 3 */
            refused_in_data += pie_counter_get(PIE_COUNTER_WATCH_NO_REGISTER) - refused;
        }
        pie_watch_of(scene_thread)->retry_ns = 0;
        count_records();
    }
    expect_balance(refused_in_data);
    assert_true(books.ended >
                steps / 200); /* it was no idle play; on a loaded machine more of them end overdue */
}

static void test_every_sample_and_watch_is_in_the_books(void) {
    play_at_random(false, 100000);
}

static void test_refusals_are_in_the_books(void) {
    play_at_random(true, 100000);
}

/* --- Samplers that have signals of their own --- */

static struct pie_access_sample next_sample;
static bool next_is_good;

static bool read_sample(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *context,
                        struct pie_access_sample *ret_sample) {
    *ret_sample = next_sample;
    return next_is_good;
}

static const struct pie_access_sampler_ops sampler = {.name = "fake", .read = read_sample};

static void sampled(const char *rip) {
    ucontext_t context = scene_at(rip);
    siginfo_t info = {0};

    scene_thread->cpu_last_ns += 1000000;
    pie_watch_sampled(&sampler, scene_thread, &info, &context);
}

static void test_precise_sample_begins_at_stage_2(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    next_is_good = true;
    next_sample = (struct pie_access_sample){.ip = (uintptr_t)scene_load,
                                             .address = (uintptr_t)scene.word,
                                             .kind = PIE_ACCESS_LOAD,
                                             .is_precise = true};
    sampled(scene_after);
    const struct pie_watch_slot *slot = &pie_watch_of(scene_thread)->slots[0];
    assert_int_equal(slot->stage, PIE_WATCH_RETURN);
    assert_int_equal(slot->address, (uintptr_t)scene.word);
    assert_int_equal(slot->size, 8);
    assert_int_equal(slot->kind, PIE_WATCH_LOAD);
    assert_int_equal(scene_arms(), 1);
    ucontext_t back = scene_returned(), again = scene_at(scene_store);
    scene_trap(0, &back);
    scene_trap(0, &again);
    scene_pop();
    assert_int_equal(scene_pop().outcome, PIE_WATCH_REDUNDANT);
}

/* Nothing is known of the instruction yet: one byte is watched, which surely was touched. */
static void test_precise_sample_of_unknown_code(void) {
    uint64_t ip = 0;

    next_is_good = true;
    next_sample = (struct pie_access_sample){.ip = (uintptr_t)scene_store,
                                             .address = (uintptr_t)scene.word + 3,
                                             .kind = PIE_ACCESS_STORE,
                                             .is_precise = true};
    sampled(scene_after);
    assert_int_equal(pie_watch_of(scene_thread)->slots[0].stage, PIE_WATCH_RETURN);
    assert_int_equal(pie_watch_of(scene_thread)->slots[0].address, (uintptr_t)scene.word + 3);
    assert_int_equal(pie_watch_of(scene_thread)->slots[0].size, 1);
    assert_int_equal(pie_watch_of(scene_thread)->slots[0].kind, PIE_WATCH_STORE);
    assert_true(pie_watch_requests_pop(&pie_watch_of(scene_thread)->requests, &ip));
    assert_int_equal(ip, (uintptr_t)scene_store);
}

static void test_imprecise_sample_begins_at_stage_1(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    next_is_good = true;
    next_sample = (struct pie_access_sample){.ip = (uintptr_t)scene_after, .kind = PIE_ACCESS_LOAD};
    sampled(scene_after);
    assert_int_equal(pie_watch_of(scene_thread)->slots[0].stage, PIE_WATCH_ACCESS);
    assert_int_equal(scene_last_order()->address, (uintptr_t)scene_load);
}

static void test_sample_of_no_use_begins_nothing(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    next_is_good = false;
    sampled(scene_after);
    next_is_good = true;
    pie_home_add((uintptr_t)scene_call, (uintptr_t)scene_end);
    sampled(scene_after);
    assert_int_equal(scene.n_orders, 0);
    assert_int_equal(pie_watch_of(scene_thread)->serial, 0);
}

static void stop_watching(void) {
    pie_watch_set(NULL);
}

static void test_watching_ends_while_a_sample_is_taken(void) {
    learn_one(scene_load, PIE_ACCESS_LOAD);
    next_is_good = true;
    next_sample = (struct pie_access_sample){.ip = (uintptr_t)scene_load,
                                             .address = (uintptr_t)scene.word,
                                             .kind = PIE_ACCESS_LOAD,
                                             .is_precise = true};
    scene.during_walk = stop_watching;
    sampled(scene_after);
    assert_int_equal(scene_arms(), 0);
    pie_watch_set(&scene_settings);
}

/* --- What is not spent, and what buys nothing --- */

/* One in how many, with so much of the budget left? A watch that is begun costs nothing here. */
static void one_in(int64_t credit_ns, double expected_one_in) {
    enum { N = 8000 };
    unsigned begun = 0;

    scene_settings.budget = 0;
    for (int i = 0; i < N; i++) {
        pie_watch_of(scene_thread)->credit_ns = credit_ns;
        int index = scene_sample_call(scene_after);
        scene.n_orders = 0;
        begun += index >= 0;
        if (index >= 0)
            pie_watch_free_slot(scene_thread, (unsigned)index);
    }
    const double seen[] = {begun, N - begun}, expected[] = {N / expected_one_in, N - N / expected_one_in};
    assert_true(scene_fits(seen, expected, 2));
}

static void test_one_in_eight_calls_of_own_functions_is_watched(void) {
    one_in(1000, 8);
}

static void test_what_nobody_spends_goes_to_calls_of_own_functions(void) {
    one_in(500000, 5);
    one_in(1000000, 2);
}

static unsigned begin_call(void) {
    int index = -1;

    for (int i = 0; i < 1000 && index < 0; i++)
        index = scene_sample_call(scene_after);
    assert_true(index >= 0);
    return (unsigned)index;
}

/* How many of N samples begin a watch of a call, which returns at once, with all of the budget left? */
static unsigned calls_of(unsigned n) {
    ucontext_t back = scene_returned();
    unsigned begun = 0;

    for (unsigned i = 0; i < n; i++) {
        pie_watch_of(scene_thread)->credit_ns = 1000000;
        int index = scene_sample_call(scene_after);
        begun += index >= 0;
        if (index >= 0)
            scene_trap((unsigned)index, &back);
        for (unsigned slot = 0; slot < PIE_DEBUG_REGISTERS; slot++)
            pie_watch_free_slot(scene_thread, slot);
        scene.n_orders = 0;
        drop_records();
    }
    return begun;
}

/* After two calls that returned nothing to compare, one in eight of the others is watched, until one does. */
static void test_a_place_that_returns_nothing_to_compare_is_left(void) {
    ucontext_t back = scene_returned();

    scene_trap(begin_call(), &back);
    scene_trap(begin_call(), &back);
    unsigned begun = calls_of(8000);
    assert_in_range(begun, 400, 600); /* 8000 / 2 / 8 */
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_ACCESS_IGNORED), 2 + begun);
    scene.call = (struct pie_call_digest){
        .content = 11, .state = 21, .result = 31, .is_telling = true, .is_new = true};
    scene_trap(begin_call(), &back);
    assert_in_range(calls_of(800), 340, 460); /* 800 / 2 */
}

/* One block, all accesses of which go to the stack. */
static void test_a_block_without_anything_of_interest_is_left(void) {
    unsigned begun = 0;

    learn_one(scene_load, PIE_ACCESS_LOAD);
    for (int i = 0; i < 8000; i++) {
        ucontext_t context = scene_at(scene_load);
        context.uc_mcontext.gregs[REG_RDI] = context.uc_mcontext.gregs[REG_RSP];
        pie_watch_of(scene_thread)->credit_ns = 1000000;
        int index = scene_sample(scene_call);
        begun += index >= 0;
        if (index >= 0)
            scene_trap((unsigned)index, &context);
        scene.n_orders = 0;
    }
    assert_in_range(begun, 16 + 900, 16 + 1100); /* 8000 / 8 */
    assert_int_equal(pie_counter_get(PIE_COUNTER_WATCH_FRUITLESS), 8000 - begun);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE(test_watching_keeps_within_its_budget),
        SCENE(test_cost_is_taken_out_of_the_program),
        SCENE(test_credit_is_not_saved_up),
        SCENE(test_page_faults_are_paid_for),
        SCENE(test_slow_strings_are_paid_for),
        SCENE(test_slow_strings_earn_nothing),
        SCENE(test_every_sample_and_watch_is_in_the_books),
        SCENE(test_refusals_are_in_the_books),
        SCENE(test_precise_sample_begins_at_stage_2),
        SCENE(test_precise_sample_of_unknown_code),
        SCENE(test_imprecise_sample_begins_at_stage_1),
        SCENE(test_sample_of_no_use_begins_nothing),
        SCENE(test_watching_ends_while_a_sample_is_taken),
        SCENE(test_one_in_eight_calls_of_own_functions_is_watched),
        SCENE(test_what_nobody_spends_goes_to_calls_of_own_functions),
        SCENE(test_a_place_that_returns_nothing_to_compare_is_left),
        SCENE(test_a_block_without_anything_of_interest_is_left),
    };
    return cmocka_run_group_tests_name("watch, policy", tests, NULL, NULL);
}

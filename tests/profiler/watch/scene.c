/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/profiler/watch/scene.h"

#include "profiler/base/home.h"
#include "profiler/base/region.h"
#include "profiler/code/basic_block.h"
#include "profiler/code/basic_block_lines.h"
#include "profiler/code/generation.h"
#include "profiler/code/modules.h"
#include "profiler/stacks/cct.h"
#include "tests/profiler/thread/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct scene scene;
struct pie_thread *scene_thread;

/* --- Debug registers --- */

static void note(const struct scene_order *order) {
    assert_true(scene.n_orders < SCENE_ORDERS);
    scene.orders[scene.n_orders++] = *order;
}

static int arm(struct pie_thread *thread, unsigned index, enum pie_debug_kind kind, uint64_t address,
               unsigned length, uint64_t cookie) {
    if (scene.refuse)
        return scene.refuse;
    note(&(struct scene_order){.what = SCENE_ARM,
                               .index = index,
                               .kind = kind,
                               .address = address,
                               .length = length,
                               .cookie = cookie});
    return 0;
}

static void disarm(struct pie_thread *thread, unsigned index) {
    note(&(struct scene_order){.what = SCENE_DISARM, .index = index});
}

static void release(struct pie_thread *thread) {
    note(&(struct scene_order){.what = SCENE_RELEASE});
}

static const struct pie_debug_ops registers = {.arm = arm, .disarm = disarm, .release = release};

/* --- The interpreter --- */

static size_t walk(struct pie_pyframe *frames, size_t max, unsigned *ret_flags) {
    *ret_flags = PIE_PYSTACK_PYTHON_THREAD | PIE_PYSTACK_IN_CALL;
    if (scene.during_walk)
        scene.during_walk();
    frames[0] = (struct pie_pyframe){.code = 1, .instr = scene.instr, .marker = scene.rsp + 8};
    if (!scene.caller.code || max < 2)
        return 1;
    frames[0].marker = 0;
    frames[1] =
        (struct pie_pyframe){.code = scene.caller.code, .instr = scene.caller.instr, .marker = scene.rsp + 8};
    return 2;
}

static enum pie_code_owner owner(uint32_t code_id) {
    return scene.owners[code_id];
}

static uint32_t intern(uintptr_t code) {
    return (uint32_t)code;
}

static uint32_t instr_offset(uintptr_t code, uintptr_t instr) {
    return (uint32_t)instr;
}

static enum pie_object_kind object_at(uintptr_t address) {
    for (int i = 0; i < SCENE_OBJECTS; i++)
        if (scene.objects[i].address == address)
            return scene.objects[i].kind;
    return PIE_OBJECT_NONE;
}

static bool array_data(uintptr_t array, uintptr_t *ret_low, uintptr_t *ret_high) {
    for (int i = 0; i < SCENE_OBJECTS; i++) {
        if (scene.objects[i].address != array)
            continue;
        *ret_low = scene.objects[i].low;
        *ret_high = scene.objects[i].high;
        return true;
    }
    return false;
}

static bool is_frame_memory(uintptr_t address) {
    return address >= scene.frames_low && address < scene.frames_high;
}

static void value(uintptr_t object, struct pie_value *ret_value) {
    *ret_value = (struct pie_value){
        .content = scene.result_hash,
        .is_made = scene.result_hash != 0,
        .is_new = scene.result_hash != 0,
        .is_comparable = scene.result_hash != 0,
        .is_read_out = scene.is_read_out,
    };
}

static void value_floats(uintptr_t object, struct pie_value_floats *ret_floats) {
    *ret_floats = scene.floats;
}

static void value_words(uintptr_t object, struct pie_value_words *words) {
    *words = scene.words;
}

static bool call_digest(const struct pie_value *result, struct pie_call_digest *ret_digest) {
    *ret_digest = scene.call;
    return scene.call.content != 0;
}

static uint64_t array_argument(uintptr_t address, uintptr_t result) {
    return address >= (uintptr_t)scene.word && address < (uintptr_t)(scene.word + 64) ? scene.array_bytes : 0;
}

static uintptr_t find_unit(uintptr_t code, uintptr_t instr) {
    return code == scene.caller.code ? instr - SCENE_UNIT_TO_WAIT : 0;
}

static bool begin_python_call(uintptr_t unit, struct pie_python_call *ret_call) {
    *ret_call = (struct pie_python_call){
        .arguments.traits = scene.call.traits,
        .unit = unit,
        .code = scene.caller.code,
        .callee = 1,
        .result_at = (uintptr_t)scene.word,
    };
    return scene.caller.is_at_site;
}

static bool end_python_call(struct pie_python_call *call) {
    return scene.caller.has_returned;
}

static bool acts(uintptr_t callee) {
    return scene.caller.acts;
}

static void digest_python_call(const struct pie_python_call *call, const struct pie_value *result,
                               struct pie_call_digest *ret_digest) {
    *ret_digest = scene.call;
    ret_digest->traits = call->arguments.traits;
}

static const struct pie_python_call_ops python_calls = {
    .find_unit = find_unit,
    .begin = begin_python_call,
    .end = end_python_call,
    .acts = acts,
    .digest = digest_python_call,
};

static const struct pie_pystack_ops ops = {
    .owner = owner,
    .python_calls = &python_calls,
    .walk = walk,
    .intern = intern,
    .instr_offset = instr_offset,
    .object_at = object_at,
    .array_data = array_data,
    .is_frame_memory = is_frame_memory,
    .value = value,
    .value_floats = value_floats,
    .value_words = value_words,
    .call_digest = call_digest,
    .array_argument = array_argument,
};

struct pie_watch_settings scene_settings;

/* --- The native call, and the evaluation loop that makes it --- */

void scene_enter(uint64_t *word, void *saved, void (*body)(void));

__asm__(".pushsection .text\n"
        ".globl scene_enter, scene_call, scene_load, scene_store, scene_both, scene_after, scene_end\n"
        ".type scene_enter, @function\n"
        "scene_enter:\n"
        "scene_call:\n"
        "    .cfi_startproc\n"
        "    mov %rsp, (%rsi)\n"
        "    mov %rbp, 8(%rsi)\n"
        "    mov %rbx, 16(%rsi)\n"
        "scene_load:\n"
        "    mov (%rdi), %rax\n"
        "scene_store:\n"
        "    mov %rax, (%rdi)\n"
        "scene_both:\n"
        "    addq $0, (%rdi)\n"
        "scene_after:\n"
        "    sub $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call *%rdx\n"
        "    add $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        "scene_end:\n"
        "    .cfi_endproc\n"
        "    .size scene_enter, . - scene_enter\n"
        ".popsection\n");

static void __attribute__((noinline)) evaluation_loop(void (*body)(void)) {
    scene_enter(scene.word, &scene.rsp, body);
    __asm__ volatile("" ::: "memory"); /* no tail call: the loop stays on the stack */
}

static void fresh_blocks(void) {
    assert_non_null(pie_basic_block_table_make());
}

void scene_test(void **body) {
    static bool is_mapped;

    assert_int_equal(is_mapped ? pie_region_reset() : pie_region_init(), 0);
    is_mapped = true;
    assert_int_equal(pie_cct_init(), 0);
    fresh_blocks();
    pie_counters_reset();
    pie_home_clear();
    pie_code_begin_generation(); /* it keeps whose code is where */
    memset(&scene, 0, sizeof scene);
    free(scene_thread);
    scene_thread = thread_scene_new();
    scene.instr = 5;
    scene_settings =
        (struct pie_watch_settings){.registers = &registers, .ops = &ops, .budget = 1, .trap_price_ns = 1000};
    pie_thread_parts_begin(scene_thread);
    pie_watch_patience_forget();
    pie_watch_fruit_forget();
    pie_watch_set(&scene_settings);
    scene.word = aligned_alloc(64, 64 * sizeof *scene.word);
    assert_non_null(scene.word);
    for (uint64_t i = 0; i < 64; i++)
        scene.word[i] = 1000 + i;
    evaluation_loop((void (*)(void))(uintptr_t)*body);
    free(scene.word);
    pie_watch_set(NULL);
}

/* --- What happens in it --- */

struct pie_access scene_access(const char *label, unsigned flags, unsigned bytes) {
    return (struct pie_access){.ip = (uintptr_t)label,
                               .size_bytes = (uint16_t)bytes,
                               .length = 3,
                               .base = PIE_ACCESS_RDI,
                               .index = PIE_ACCESS_NO_REGISTER,
                               .scale = 1,
                               .flags = (uint8_t)flags};
}

/* As basic_block.c publishes, without a decoder. */
void scene_learn_at(const char *ip, const struct pie_access *accesses, uint32_t count) {
    struct pie_basic_block_table *table = pie_basic_block_table();
    const struct pie_basic_block *block = pie_basic_block_make(table, accesses, count);
    struct pie_basic_block_lines lines;

    assert_non_null(block);
    pie_basic_block_lines_begin(&lines, table, pie_code_module_at((uintptr_t)ip), pie_code_generation());
    pie_basic_block_lines_name(&lines, (uintptr_t)ip, block);
    assert_int_equal(pie_basic_block_lines_end(&lines), 0);
}

void scene_learn(const struct pie_access *accesses, uint32_t count) {
    scene_learn_at(scene_call, accesses, count);
    scene_learn_at(scene_load, accesses, count);
    scene_learn_at(scene_store, accesses, count);
    scene_learn_at(scene_after, accesses, count);
}

ucontext_t scene_at(const char *rip) {
    ucontext_t context;

    memset(&context, 0, sizeof context);
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)rip;
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)scene.rsp;
    context.uc_mcontext.gregs[REG_RBP] = (greg_t)scene.rbp;
    context.uc_mcontext.gregs[REG_RBX] = (greg_t)scene.rbx;
    context.uc_mcontext.gregs[REG_RDI] = (greg_t)(uintptr_t)scene.word;
    return context;
}

ucontext_t scene_returned(void) {
    ucontext_t context = scene_at(NULL);

    context.uc_mcontext.gregs[REG_RIP] = (greg_t) * (uint64_t *)scene.rsp;
    context.uc_mcontext.gregs[REG_RSP] += 8;
    return context;
}

static int sample(const char *rip,
                  void (*begin)(struct pie_thread *, const ucontext_t *, const struct pie_call_path *)) {
    ucontext_t context = scene_at(rip);
    uint32_t serial = pie_watch_of(scene_thread)->serial;
    struct pie_call_path taken;

    scene_thread->cpu_last_ns += 1000000;
    pie_call_path_take(&ops, scene_thread, &context, false, &taken);
    assert_true(taken.is_foreign);
    pie_watch_charge_sample(scene_thread, &context, 0);
    begin(scene_thread, &context, &taken);
    if (pie_watch_of(scene_thread)->serial == serial)
        return -1;
    for (int i = 0; i < PIE_DEBUG_REGISTERS; i++)
        if (pie_watch_of(scene_thread)->slots[i].serial == pie_watch_of(scene_thread)->serial)
            return i;
    return -1;
}

int scene_sample(const char *rip) {
    return sample(rip, pie_watch_sample);
}

int scene_sample_call(const char *rip) {
    return sample(rip, pie_watch_call);
}

static void begin_outer(struct pie_thread *thread, const ucontext_t *context,
                        const struct pie_call_path *taken) {
    pie_watch_outer_call(thread, context, taken);
}

int scene_sample_outer(const char *rip) {
    return sample(rip, begin_outer);
}

void scene_trap_with(uint64_t cookie, uint32_t flags, const ucontext_t *context) {
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = SIGTRAP;
    info.si_code = 6; /* TRAP_PERF */
    memcpy((char *)&info + 24, &cookie, sizeof cookie);
    memcpy((char *)&info + 36, &flags, sizeof flags);
    assert_true(pie_watch_is_ours(&info));
    pie_watch_trap(scene_thread, &info, context);
}

uint64_t scene_cookie(unsigned index) {
    for (size_t i = scene.n_orders; i > 0; i--)
        if (scene.orders[i - 1].what == SCENE_ARM && scene.orders[i - 1].index == index)
            return scene.orders[i - 1].cookie;
    fail_msg("register %u was never armed", index);
    return 0;
}

void scene_trap(unsigned index, const ucontext_t *context) {
    scene_trap_with(scene_cookie(index), 0, context);
}

const struct scene_order *scene_last_order(void) {
    assert_true(scene.n_orders > 0);
    return &scene.orders[scene.n_orders - 1];
}

size_t scene_arms(void) {
    size_t arms = 0;

    for (size_t i = 0; i < scene.n_orders; i++)
        arms += scene.orders[i].what == SCENE_ARM;
    return arms;
}

unsigned scene_reach_return(void) {
    int index = scene_sample(scene_call);

    assert_true(index >= 0);
    const struct pie_watch_slot *slot = &pie_watch_of(scene_thread)->slots[index];
    assert_int_equal(slot->stage, PIE_WATCH_ACCESS);
    ucontext_t context = scene_at((const char *)(uintptr_t)slot->access.ip);
    scene_trap((unsigned)index, &context);
    assert_int_equal(slot->stage, PIE_WATCH_RETURN);
    return (unsigned)index;
}

unsigned scene_reach_data(void) {
    unsigned index = scene_reach_return();
    ucontext_t context = scene_returned();

    scene_trap(index, &context);
    assert_int_equal(pie_watch_of(scene_thread)->slots[index].stage, PIE_WATCH_DATA);
    return index;
}

void scene_touch(unsigned index, const ucontext_t *context) {
    ucontext_t back = scene_returned();

    scene_trap(index, context);
    if (pie_watch_of(scene_thread)->slots[index].stage == PIE_WATCH_NEXT_RETURN)
        scene_trap(index, &back);
}

struct pie_watch_record scene_pop(void) {
    struct pie_watch_record record;

    assert_true(pie_watch_ring_pop(&pie_watch_of(scene_thread)->ring, &record));
    return record;
}

void scene_no_record(void) {
    struct pie_watch_record record;

    assert_false(pie_watch_ring_pop(&pie_watch_of(scene_thread)->ring, &record));
}

bool scene_fits(const double *seen, const double *expected, size_t n) {
    const double z = 4.265; /* of the normal distribution: 1 in 100 000 beyond */
    double chi_square = 0, degrees = (double)n - 1;

    for (size_t i = 0; i < n; i++)
        chi_square += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
    /* Wilson and Hilferty: the cube root of chi-square is nearly normal. */
    double limit = degrees * pow(1 - 2 / (9 * degrees) + z * sqrt(2 / (9 * degrees)), 3);
    if (chi_square > limit)
        print_message("# chi-square %.1f of %.0f degrees is over %.1f\n", chi_square, degrees, limit);
    return chi_square <= limit;
}

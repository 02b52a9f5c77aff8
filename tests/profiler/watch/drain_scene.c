/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/profiler/watch/drain_scene.h"

#include "profiler/base/region.h"
#include "profiler/code/modules.h"
#include "profiler/stacks/cct.h"
#include "profiler/symbols/naming.h"
#include "tests/profiler/thread/scene.h"

#include <string.h>

struct pie_thread *drain_thread;
struct pie_watch_drain *drain;

static struct pie_naming *naming;
static uint64_t watched_word;

__asm__(".pushsection .text\n"
        ".globl drain_loaded, drain_stored, drain_counted, drain_both, drain_float_loaded, drain_end\n"
        ".type drain_code, @function\n"
        "drain_code:\n"
        "    .cfi_startproc\n"
        "    mov (%rdi), %rax\n"
        "drain_loaded:\n"
        "    mov %rax, (%rdi)\n"
        "drain_stored:\n"
        "    incq (%rdi)\n"
        "drain_counted:\n"
        "    addq $5, (%rdi)\n"
        "drain_both:\n"
        "    movss (%rdi), %xmm0\n"
        "drain_float_loaded:\n"
        "    ret\n"
        "drain_end:\n"
        "    .cfi_endproc\n"
        "    .size drain_code, . - drain_code\n"
        ".popsection\n");

static int describe(uint32_t code_id, const char **ret_file, const char **ret_qualname,
                    int32_t *ret_first_line) {
    static const char *const names[] = {"nobody", "main", "f", "g", "h"};

    *ret_file = "/tmp/program.py";
    *ret_qualname = names[code_id < 5 ? code_id : 0];
    *ret_first_line = (int32_t)code_id * 100;
    return 0;
}

static int32_t line(uint32_t code_id, uint32_t instr_offset) {
    return (int32_t)(code_id * 100 + instr_offset / 10);
}

static unsigned operation(uint32_t code_id, uint32_t instr_offset) {
    return instr_offset % 10;
}

static const struct pie_pystack_ops ops = {.describe = describe, .line = line, .operation = operation};

int drain_set_up(void **tolerance) {
    static bool is_mapped;
    int r = is_mapped ? pie_region_reset() : pie_region_init();

    is_mapped = true;
    free(drain_thread);
    drain_thread = thread_scene_new();
    pie_counters_reset();
    return r < 0 || pie_cct_init() < 0 || pie_naming_create(&ops, &naming) < 0 ||
           pie_watch_drain_create(&ops, naming, *tolerance ? *(double *)*tolerance : 0, &drain) < 0;
}

int drain_tear_down(void **state) {
    pie_watch_drain_destroy(drain);
    pie_naming_destroy(naming);
    return 0;
}

struct pie_cct_id drain_context(uint32_t code, uint32_t offset, const void *native) {
    struct pie_cct_id node = pie_cct_child(pie_cct_root(), pie_cct_python_key(1, 13));

    node = pie_cct_child(node, pie_cct_python_key(code, offset));
    return native ? pie_cct_child(node, pie_cct_native_key((uintptr_t)native)) : node;
}

struct pie_watch_record drain_begin(uint32_t serial, enum pie_watch_kind kind, struct pie_cct_id node) {
    return (struct pie_watch_record){
        .record = PIE_WATCH_RECORD_REACHED,
        .serial = serial,
        .kind = (uint8_t)kind,
        .first_node = node,
        .address = (uintptr_t)&watched_word,
        .size = 8,
        .access_bytes = 8,
        .length_ns = 100,
    };
}

struct pie_watch_record drain_end_of(const struct pie_watch_record *begin, enum pie_watch_outcome outcome) {
    struct pie_watch_record end = *begin;

    end.record = PIE_WATCH_RECORD_ENDED;
    end.outcome = (uint8_t)outcome;
    end.gap_ns = 1000;
    return end;
}

struct pie_watch_record drain_trap_of(const struct pie_watch_record *begin, enum pie_watch_outcome outcome,
                                      const char *behind) {
    struct pie_watch_record end = drain_end_of(begin, outcome);

    end.rip = (uintptr_t)behind;
    end.module = (uint16_t)pie_code_module_at((uintptr_t)behind);
    end.registers[PIE_ACCESS_RDI] = end.address;
    end.second_node = drain_context(3, 90, behind - 1);
    return end;
}

void drain_push(const struct pie_watch_record *record) {
    assert_true(pie_watch_ring_push(&pie_watch_of(drain_thread)->ring, record));
}

void drain_now(void) {
    pie_watch_drain_thread(drain, drain_thread, 0);
}

size_t drain_rows(void) {
    size_t count;

    pie_watch_drain_rows(drain, &count);
    return count;
}

const struct pie_watch_row *drain_row(void) {
    size_t count;
    const struct pie_watch_row *rows = pie_watch_drain_rows(drain, &count);

    assert_int_equal(count, 1);
    return rows;
}

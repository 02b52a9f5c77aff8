/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/code/pyops.h"

#include <stdbool.h>

#include "profiler/base/safe_load.h"

/* From 3.12 on, sys.monitoring and sys.settrace put opcodes into the bytecode that only say "ask elsewhere": one of a
 * line's first instruction, one of every instruction, the second possibly behind the first. From 3.13 on, an optimized
 * loop's jump is an executor's, with its argument.
 *
 * The copy is gone through unit by unit, without regard to what is an instruction and what is data of a cache: what
 * happens to look like one of these opcodes in a cache is replaced too, and never looked at. */

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

/* Where the opcodes behind other opcodes are. */
struct hidden {
    uintptr_t lines, instructions, executors; /* 0: none */
    size_t line_entry_bytes;
};

/* A length, and not the opcode of a code object's first instruction: an opcode and a line number of 1 to 4 bytes. The
 * opcodes of these numbers take objects from the stack, which is empty at first. */
static bool is_entry_length(uint8_t first) {
    return first >= 2 && first <= 5;
}

static void find_lines(uintptr_t monitoring, struct hidden *hidden) {
    const struct pie_pyops_hiding *hiding = &pie_pyops.hiding;
    uint8_t first;

    if (!load(monitoring, hiding->lines, &hidden->lines) || !hidden->lines ||
        !pie_safe_copy(&first, (const void *)hidden->lines, 1)) {
        hidden->lines = 0;
        return;
    }
    hidden->line_entry_bytes = hiding->line_entry_bytes;
    if (!hiding->line_entry_bytes || is_entry_length(first)) {
        hidden->line_entry_bytes = first;
        hidden->lines++;
    }
}

/* False: nothing is hidden, as in nearly every code object. */
static bool find_hidden(uintptr_t code, struct hidden *hidden) {
    const struct pie_pyops_hiding *hiding = &pie_pyops.hiding;
    uintptr_t monitoring;

    *hidden = (struct hidden){0};
    if (hiding->monitoring && load(code, hiding->monitoring, &monitoring) && monitoring) {
        find_lines(monitoring, hidden);
        if (!load(monitoring, hiding->instructions, &hidden->instructions))
            hidden->instructions = 0;
    }
    if (hiding->executors && !load(code, hiding->executors, &hidden->executors))
        hidden->executors = 0;
    return hidden->lines || hidden->instructions || hidden->executors;
}

static void reveal_executor(uintptr_t executors, uint8_t unit[2]) {
    const struct pie_pyops_hiding *hiding = &pie_pyops.hiding;
    uintptr_t executor;

    if (load(executors, hiding->executor_list + unit[1] * sizeof executor, &executor))
        pie_safe_copy(unit, (const void *)(executor + hiding->executor_opcode), 2);
}

static void reveal_unit(const struct hidden *hidden, uint8_t unit[2], size_t at) {
    const struct pie_pyops_hiding *hiding = &pie_pyops.hiding;

    if (hidden->lines && unit[0] == hiding->line)
        pie_safe_copy(unit, (const void *)(hidden->lines + at * hidden->line_entry_bytes), 1);
    if (hidden->instructions && unit[0] == hiding->instruction)
        pie_safe_copy(unit, (const void *)(hidden->instructions + at), 1);
    if (hidden->executors && unit[0] == hiding->executor)
        reveal_executor(hidden->executors, unit);
}

void pie_pyops_reveal(uintptr_t code, uint8_t *bytes, size_t units) {
    struct hidden hidden;

    if (!find_hidden(code, &hidden))
        return;
    for (size_t at = 0; at < units; at++)
        reveal_unit(&hidden, bytes + 2 * at, at);
}

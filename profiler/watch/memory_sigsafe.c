/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/watch/internal.h"

#include "profiler/base/safe_load.h"
#include "profiler/code/find_object.h"

#include <ucontext.h>

/* Nothing of a program lies beyond, and the kernel refuses to watch there. */
static const uint64_t USER_END = UINT64_C(0x7ffffffff000);
/* The red zone below the stack pointer (System V ABI, 3.2.2), and a little. */
enum { RED_ZONE_BYTES = 256, OBJECT_BYTES_MAX = 4096 };

static uint64_t word_size(uint64_t address, uint64_t bytes) {
    uint64_t size = 8;

    while (size > 1 && (bytes < size || (bytes < 2 * size - 1 && address % size != 0)))
        size /= 2;
    return size;
}

bool pie_watch_choose_word(struct pie_watch_thread *watch, const struct pie_access *access,
                           const uint64_t registers[PIE_ACCESS_REGISTERS], uint64_t address,
                           struct pie_watch_word *ret_word) {
    uint64_t bytes = access->size_bytes;

    if (access->flags & PIE_ACCESS_REP) {
        uint64_t count = registers[PIE_ACCESS_RCX];
        if (count > USER_END / 64)
            return false;
        bytes *= count;
    }
    if (bytes == 0 || address < 4096 || address >= USER_END || bytes > USER_END - address)
        return false;
    uint64_t size = word_size(address, bytes);
    uint64_t first = (address + size - 1) / size * size;
    uint64_t words = (address + bytes - first) / size;
    if (words == 0)
        return false;
    *ret_word = (struct pie_watch_word){
        .address = first + pie_watch_random(watch) % words * size, .size = (uint32_t)size, .bytes = bytes};
    return true;
}

static bool is_header(const struct pie_pystack_ops *ops, uint64_t address) {
    return ops->object_at((uintptr_t)address) != PIE_OBJECT_NONE ||
           ops->object_at((uintptr_t)(address - 8)) != PIE_OBJECT_NONE;
}

/* The object that an access with a constant offset is made through; NONE for indexed ones. */
static enum pie_object_kind base_object(const struct pie_pystack_ops *ops, const struct pie_access *access,
                                        const uint64_t registers[PIE_ACCESS_REGISTERS]) {
    if (access->index != PIE_ACCESS_NO_REGISTER || access->base > PIE_ACCESS_R15 || access->disp < 0 ||
        access->disp >= OBJECT_BYTES_MAX)
        return PIE_OBJECT_NONE;
    return ops->object_at((uintptr_t)registers[access->base]);
}

bool pie_watch_is_interesting(const struct pie_pystack_ops *ops, const struct pie_access *access,
                              const uint64_t registers[PIE_ACCESS_REGISTERS], enum pie_watch_kind kind,
                              uint64_t address, uint64_t stack_low, uint64_t stack_high) {
    if (address + RED_ZONE_BYTES >= stack_low && address < stack_high)
        return false;
    if (ops->is_frame_memory((uintptr_t)address) || is_header(ops, address))
        return false;
    if (kind == PIE_WATCH_STORE)
        return true;
    enum pie_object_kind object = base_object(ops, access, registers);
    return object != PIE_OBJECT_TYPE && object != PIE_OBJECT_DTYPE && !pie_is_in_object(address);
}

static bool is_in_array(const struct pie_pystack_ops *ops, uint64_t object, uint64_t address) {
    uintptr_t low, high;

    return ops->object_at((uintptr_t)object) == PIE_OBJECT_ARRAY &&
           ops->array_data((uintptr_t)object, &low, &high) && address >= low && address < high;
}

/* The array itself is often still at hand in a register of the loop over its data. */
enum pie_watch_memory pie_watch_memory_of(const struct pie_pystack_ops *ops, const struct pie_access *access,
                                          const uint64_t registers[PIE_ACCESS_REGISTERS], uint64_t address) {
    if (base_object(ops, access, registers) != PIE_OBJECT_NONE)
        return PIE_WATCH_MEMORY_OBJECT;
    for (int i = 0; i < PIE_ACCESS_REGISTERS; i++)
        if (i != PIE_ACCESS_RSP && registers[i] >= 4096 && is_in_array(ops, registers[i], address))
            return PIE_WATCH_MEMORY_ARRAY;
    return PIE_WATCH_MEMORY_OTHER;
}

bool pie_watch_is_of_result(const struct pie_pystack_ops *ops, uint64_t rax, uint64_t address) {
    enum { RESULT_BYTES_MAX = 96 };

    if (ops->object_at((uintptr_t)rax) == PIE_OBJECT_NONE)
        return false;
    return (address >= rax && address < rax + RESULT_BYTES_MAX) || is_in_array(ops, rax, address);
}

bool pie_watch_read(uint64_t address, uint32_t size, uint64_t *ret_value) {
    uint64_t value = 0;

    if (!pie_safe_copy(&value, (const void *)(uintptr_t)address, size))
        return false;
    *ret_value = value;
    return true;
}

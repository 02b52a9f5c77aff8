/* SPDX-License-Identifier: Apache-2.0 */

/* Sweeps, and windows on code without known functions, are kept in a table with one place for each hash of their
 * address; the newer one stays. The maps take half of the code's size. Beyond the limit places are emptied in turn:
 * sweeping again is cheap enough (75 ns an instruction). */

#include "profiler/code/decode_function.h"

#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/safe_load.h"
#include "profiler/code/cfi.h"
#include "profiler/code/decode.h"
#include "profiler/code/decode_sweep.h"
#include "profiler/code/modules.h"

#include <errno.h>
#include <string.h>

enum { SLOTS_BITS = 10, SLOTS = 1 << SLOTS_BITS, WIDE_BYTES = 16, WINDOW_BYTES = 16384 };

/* Each time all of a window is decoded anew that is known, for its loops: up to 0.3 ms. */
enum { FOLLOWS_MAX = 128 };

/* Of the collection thread; a forked child inherits it, and it stays true there. */
static struct pie_decode_function *slots[SLOTS];
static size_t kept_bytes;
static unsigned hand; /* the slot to be emptied next */

/* Who knows functions without call frame information. Reset by pie_collection_forget() in a forked child: its parent's
 * symbols may be in the middle of a change. */
static pie_decode_range_fn find_range;
static void *find_range_data;

void pie_decode_set_range(pie_decode_range_fn find, void *data) {
    find_range = find;
    find_range_data = data;
}

static size_t bytes_of(const struct pie_decode_function *function) {
    return sizeof *function + (size_t)PIE_DECODE_MARKS * function->words * sizeof *function->maps;
}

static struct pie_decode_function **slot_of(uint64_t begin) {
    return &slots[pie_hash_upper(begin) >> (64 - SLOTS_BITS)];
}

static void empty(struct pie_decode_function **slot) {
    if (!*slot)
        return;
    kept_bytes -= bytes_of(*slot);
    pie_free(*slot);
    *slot = NULL;
}

/* place: what its slot is found by */
static void keep(struct pie_decode_function *function, uint64_t place) {
    struct pie_decode_function **slot = slot_of(place);

    empty(slot);
    while (kept_bytes + bytes_of(function) > PIE_DECODE_CACHE_BYTES_MAX)
        empty(&slots[hand++ % SLOTS]);
    kept_bytes += bytes_of(function);
    *slot = function;
}

static int learn(uint64_t begin, uint32_t size, struct pie_decode_function **ret_function) {
    uint32_t words = (size + 63) / 64;
    struct pie_decode_function *function =
        pie_calloc(1, sizeof *function + (size_t)PIE_DECODE_MARKS * words * sizeof *function->maps);
    uint8_t *code = pie_malloc(size);
    int r = -ENOMEM;

    if (function && code) {
        function->begin = begin;
        function->size = size;
        function->words = words;
        r = pie_safe_copy(code, (const void *)(uintptr_t)begin, size) ? pie_decode_sweep(function, code)
                                                                      : -EFAULT;
    }
    pie_free(code);
    if (r < 0)
        pie_free(function);
    else
        *ret_function = function;
    return r;
}

/* Frame description entries first: the compiler wrote them, and a stripped library has them too. Hand-written code
 * often lacks them and has a symbol. */
static bool range_around(uint64_t ip, uintptr_t *ret_begin, uintptr_t *ret_end) {
    if (pie_cfi_function_range((uintptr_t)ip, ret_begin, ret_end))
        return true;
    return find_range && find_range(find_range_data, (uintptr_t)ip, ret_begin, ret_end);
}

/* Where windows begin, whether there is code or not: one place for each. */
static uint64_t window_of(uint64_t ip) {
    return ip & ~(uint64_t)(WINDOW_BYTES - 1);
}

static const struct pie_decode_function *window_around(uint64_t ip) {
    const struct pie_decode_function *kept = *slot_of(window_of(ip));

    return kept && kept->is_window && ip - kept->begin < kept->size ? kept : NULL;
}

/* Of the module's segment of code around ip, what lies in the window. */
static bool window_range(uint64_t ip, uint64_t *ret_begin, uint64_t *ret_end) {
    const struct pie_code_module *module = pie_code_module(pie_code_module_at((uintptr_t)ip));

    for (unsigned i = 0; module && i < module->phdr_count; i++) {
        const Elf64_Phdr *phdr = &module->phdrs[i];
        uint64_t begin = module->base + phdr->p_vaddr, end = begin + phdr->p_memsz, window = window_of(ip);
        if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X) || ip - begin >= phdr->p_memsz)
            continue;
        *ret_begin = begin > window ? begin : window;
        *ret_end = end < window + WINDOW_BYTES ? end : window + WINDOW_BYTES;
        return true;
    }
    return false;
}

/* What was known of an earlier window there, and the instruction at ip. */
static int follow(struct pie_decode_function *window, const struct pie_decode_function *known, uint64_t ip) {
    uint64_t *executed = pie_calloc(window->words, sizeof *executed);
    uint8_t *code = pie_malloc(window->size);
    uint32_t at = (uint32_t)(ip - window->begin);
    int r = -ENOMEM;

    if (executed && code) {
        if (known && known->begin == window->begin && known->size == window->size)
            memcpy(executed, known->maps + (size_t)PIE_DECODE_START * known->words,
                   known->words * sizeof *executed);
        executed[at / 64] |= UINT64_C(1) << at % 64;
        r = pie_safe_copy(code, (const void *)(uintptr_t)window->begin, window->size)
                ? pie_decode_follow(window, code, executed)
                : -EFAULT;
    }
    pie_free(executed);
    pie_free(code);
    return r;
}

static int learn_window(uint64_t ip) {
    uint64_t begin, end;

    if (!window_range(ip, &begin, &end))
        return -ENOENT;
    uint32_t words = (uint32_t)(end - begin + 63) / 64;
    struct pie_decode_function *window =
        pie_calloc(1, sizeof *window + (size_t)PIE_DECODE_MARKS * words * sizeof *window->maps);
    if (!window)
        return -ENOMEM;
    const struct pie_decode_function *known = window_around(ip);
    *window = (struct pie_decode_function){.begin = begin,
                                           .size = (uint32_t)(end - begin),
                                           .words = words,
                                           .is_window = true,
                                           .follows = known ? known->follows + 1 : 1};
    int r = follow(window, known, ip);
    if (r < 0)
        pie_free(window);
    else
        keep(window, window_of(ip));
    return r;
}

int pie_decode_executed(uint64_t ip) {
    uintptr_t begin, end;

    if (!pie_decode_is_available())
        return -ENOSYS;
    if (range_around(ip, &begin, &end) && end - begin <= PIE_DECODE_FUNCTION_BYTES_MAX)
        return 0;
    const struct pie_decode_function *window = window_around(ip);
    if (window && (window->follows >= FOLLOWS_MAX || pie_decode_function_has(window, PIE_DECODE_START, ip)))
        return 0;
    return learn_window(ip);
}

int pie_decode_function_find(uint64_t ip, const struct pie_decode_function **ret_function) {
    struct pie_decode_function *learnt = NULL;
    uintptr_t begin, end;
    bool has_range = range_around(ip, &begin, &end);

    if (!has_range || end - begin > PIE_DECODE_FUNCTION_BYTES_MAX) {
        *ret_function = window_around(ip);
        return *ret_function ? 0 : has_range ? -E2BIG : -ENOENT;
    }
    const struct pie_decode_function *kept = *slot_of(begin);
    if (kept && !kept->is_window && kept->begin == begin && kept->size == end - begin) {
        *ret_function = kept;
        return 0;
    }
    int r = learn(begin, (uint32_t)(end - begin), &learnt);
    if (r < 0)
        return r;
    keep(learnt, begin);
    *ret_function = learnt;
    return 0;
}

bool pie_decode_function_has(const struct pie_decode_function *function, enum pie_decode_mark mark,
                             uint64_t address) {
    return address - function->begin < function->size &&
           pie_decode_map_get(function, mark, (uint32_t)(address - function->begin));
}

uint64_t pie_decode_function_last(const struct pie_decode_function *function, enum pie_decode_mark mark,
                                  uint64_t ip) {
    const uint64_t *map = function->maps + (size_t)mark * function->words;
    uint64_t offset = ip - function->begin;

    if (offset >= function->size)
        return 0;
    uint64_t upto = map[offset / 64] & (~UINT64_C(0) >> (63 - offset % 64));
    for (uint64_t word = offset / 64;; upto = map[--word]) {
        if (upto)
            return function->begin + word * 64 + 63 - (uint64_t)__builtin_clzll(upto);
        if (word == 0)
            return 0;
    }
}

uint64_t pie_decode_function_next(const struct pie_decode_function *function, enum pie_decode_mark mark,
                                  uint64_t ip) {
    const uint64_t *map = function->maps + (size_t)mark * function->words;
    uint64_t offset = ip - function->begin;

    if (offset >= function->size)
        return 0;
    uint64_t from = map[offset / 64] & (~UINT64_C(0) << offset % 64);
    for (uint64_t word = offset / 64;; from = map[word]) {
        if (from)
            return function->begin + word * 64 + (uint64_t)__builtin_ctzll(from);
        if (++word == function->words)
            return 0;
    }
}

/* How many bytes an instruction at an address of the function may have. */
static size_t bytes_at(const struct pie_decode_function *function, uint64_t address) {
    uint64_t left = function->begin + function->size - address;

    return left < PIE_INSTRUCTION_BYTES_MAX ? (size_t)left : PIE_INSTRUCTION_BYTES_MAX;
}

static int decode(const struct pie_decode_function *function, const uint8_t *code, size_t size,
                  uint64_t address, struct pie_instruction *ret_instruction,
                  struct pie_operand operands[PIE_OPERANDS_MAX]) {
    int n = pie_instruction_decode(code, size, address, ret_instruction, operands);
    uint64_t leader = n > 0 ? pie_decode_function_last(function, PIE_DECODE_LEADER, address) : 0;
    bool is_loop = leader && pie_decode_function_has(function, PIE_DECODE_LOOP, leader);
    for (int i = 0; i < n; i++) {
        struct pie_access *access = &operands[i].access;
        if (is_loop || access->flags & PIE_ACCESS_REP || access->size_bytes > WIDE_BYTES)
            access->flags |= PIE_ACCESS_LOOP;
    }
    return n;
}

int pie_decode_function_at(const struct pie_decode_function *function, uint64_t address,
                           struct pie_instruction *ret_instruction,
                           struct pie_operand operands[PIE_OPERANDS_MAX]) {
    uint8_t code[PIE_INSTRUCTION_BYTES_MAX];
    size_t size = bytes_at(function, address);

    if (!pie_safe_copy(code, (const void *)(uintptr_t)address, size))
        return -EFAULT;
    return decode(function, code, size, address, ret_instruction, operands);
}

int pie_decode_function_in(const struct pie_decode_function *function, const uint8_t *code, uint64_t address,
                           struct pie_instruction *ret_instruction,
                           struct pie_operand operands[PIE_OPERANDS_MAX]) {
    return decode(function, code + (address - function->begin), bytes_at(function, address), address,
                  ret_instruction, operands);
}

size_t pie_decode_functions_bytes(void) {
    return kept_bytes;
}

void pie_decode_functions_flush(void) {
    for (unsigned i = 0; i < SLOTS; i++)
        empty(&slots[i]);
}

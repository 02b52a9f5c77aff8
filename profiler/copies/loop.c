/* SPDX-License-Identifier: Apache-2.0 */

/* A copy loop only moves data: whatever it stores was loaded in the loop, and on the way moved, shuffled or converted
 * at most. Loaded values that are computed with, compared or followed as addresses are no copied data (an index, a
 * condition), so one that is stored as well makes it another kind of loop: arithmetic, sorting, a linked list.
 *
 * The loop is the nearest branch backwards over the instruction, its body all that lies between. Values are followed
 * through registers along all ways through the body, again and again until nothing new shows; where ways meet, a
 * register may hold what it holds on any of them.
 *
 * Functions for one inner dimension are called with few elements (three colours of a pixel): their time is spent in
 * front of the loop and behind it. Where all of a function without calls only moves data, all of it counts. */

#include "profiler/copies/loop.h"

#include "profiler/base/own_memory.h"
#include "profiler/base/safe_load.h"
#include "profiler/code/decode.h"
#include "profiler/code/decode_function.h"
#include "profiler/copies/loop_code.h"

#include <errno.h>
#include <string.h>

enum {
    LEADERS_MAX = 192,
    PASSES_MAX = 6,
    SPAN_BYTES = 1024, /* of a loop, at most */
    FUNCTION_BYTES = 2048,
    INSTRUCTIONS_MAX = 640,
    SOURCES = 64, /* loads that are distinguished */
    STORES_MAX = 64,
    NEAR_BYTES = 64,
};

/* In a register, from loads. */
enum kind {
    NOTHING,
    DATA,   /* elements as they were loaded, or converted */
    MASKED, /* cut by a mask, as before a narrowing that takes the rest */
    PART,   /* shifted, or a sign: half of a byte swap or of a widening */
    MIXED,  /* computed */
};

struct value {
    uint64_t sources; /* a bit for each load that it was made of */
    uint8_t kind;
};

struct instruction {
    uint64_t ip;
    struct pie_instruction in;
    struct pie_copy_code code;
    struct pie_operand operands[PIE_OPERANDS_MAX];
    int n_operands;
    int leader; /* number of the state that branches to it leave; -1: none does */
    int target; /* the same of the instruction that it branches to */
};

struct state {
    struct value registers[PIE_COPY_REGISTERS];
};

struct region {
    struct instruction *list;
    size_t n;
    struct state now, *leaders; /* registers; leaders: with all that branches there may leave */
    int n_leaders;
    bool is_news; /* about a leader, in this pass */
    struct load {
        struct pie_access access;
        size_t base_at, index_at; /* where the registers were written last */
    } loads[SOURCES];
    struct pie_access stores[STORES_MAX];
    size_t written_at[PIE_COPY_GENERAL]; /* in the order of addresses: 1 more than the instruction's number */
    unsigned n_loads, n_stores;
    unsigned load_count, work;            /* of instructions; work: some count twice */
    uint64_t stored, computed, addressed; /* sources */
    uint32_t store_bytes;
    bool fails; /* it does something that a copy does not */
};

/* --- Reading --- */

static int read_one(const struct pie_decode_function *function, uint64_t ip, struct instruction *ret) {
    uint64_t left = function->begin + function->size - ip;
    uint8_t bytes[PIE_INSTRUCTION_BYTES_MAX];
    size_t size = left < sizeof bytes ? (size_t)left : sizeof bytes;

    ret->ip = ip;
    ret->n_operands = pie_decode_function_at(function, ip, &ret->in, ret->operands);
    if (ret->n_operands < 0)
        return ret->n_operands;
    if (!pie_safe_copy(bytes, (const void *)(uintptr_t)ip, size))
        return -EFAULT;
    return pie_copy_code_decode(bytes, size, &ret->code);
}

static struct instruction *at_address(struct region *region, uint64_t ip) {
    size_t low = 0, high = region->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (region->list[middle].ip < ip)
            low = middle + 1;
        else
            high = middle;
    }
    return low < region->n && region->list[low].ip == ip ? &region->list[low] : NULL;
}

static int find_leaders(struct region *region) {
    region->n_leaders = 0;
    for (size_t i = 0; i < region->n; i++) {
        struct instruction *one = &region->list[i];
        bool branches = one->in.flow == PIE_FLOW_BRANCH || one->in.flow == PIE_FLOW_JUMP;
        struct instruction *target = branches ? at_address(region, one->in.target) : NULL;
        if (!target)
            continue;
        if (target->leader < 0) {
            if (region->n_leaders == LEADERS_MAX)
                return -E2BIG;
            memset(&region->leaders[region->n_leaders], 0, sizeof *region->leaders);
            target->leader = region->n_leaders++;
        }
        one->target = target->leader;
    }
    return 0;
}

static int read_region(const struct pie_decode_function *function, uint64_t low, uint64_t high,
                       struct region *region) {
    region->n = 0;
    for (uint64_t ip = low; ip < high;) {
        if (region->n == INSTRUCTIONS_MAX)
            return -E2BIG;
        if (!pie_decode_function_has(function, PIE_DECODE_START, ip)) {
            ip++; /* data, or padding that does not decode */
            continue;
        }
        struct instruction *one = &region->list[region->n];
        int r = read_one(function, ip, one);
        if (r < 0)
            return r;
        if (one->in.flow == PIE_FLOW_CALL || one->in.flow == PIE_FLOW_SWITCH)
            return -ENOENT; /* who knows what that does */
        one->leader = one->target = -1;
        region->n++;
        ip += one->in.length;
    }
    return find_leaders(region);
}

/* --- What happens to data --- */

static bool is_same_operand(const struct pie_access *a, const struct pie_access *b) {
    return a->base == b->base && a->index == b->index && a->scale == b->scale && a->disp == b->disp;
}

/* Constants are no data; they lie beside the code. */
static bool is_constant(const struct pie_access *access) {
    return access->base >= PIE_COPY_GENERAL && access->index >= PIE_COPY_GENERAL;
}

static bool is_private(const struct pie_access *access) {
    return access->flags & (PIE_ACCESS_STACK | PIE_ACCESS_TLS);
}

static size_t written_at(const struct region *region, uint8_t name) {
    return name < PIE_COPY_GENERAL ? region->written_at[name] : 0;
}

/* Loads by the same registers, unchanged in between, are one source. */
static uint64_t source_of(struct region *region, const struct pie_access *access) {
    struct load load = {*access, written_at(region, access->base), written_at(region, access->index)};
    unsigned i = 0;

    for (; i < region->n_loads; i++) {
        const struct load *known = &region->loads[i];
        if (is_same_operand(&known->access, access) && known->base_at == load.base_at &&
            known->index_at == load.index_at)
            break;
    }
    if (i == region->n_loads && i < SOURCES - 1)
        region->loads[region->n_loads++] = load;
    return UINT64_C(1) << i;
}

static void use_address(struct region *region, const struct pie_access *access) {
    if (access->base < PIE_COPY_GENERAL)
        region->addressed |= region->now.registers[access->base].sources;
    if (access->index < PIE_COPY_GENERAL)
        region->addressed |= region->now.registers[access->index].sources;
}

static struct value join(struct value a, struct value b) {
    return (struct value){.sources = a.sources | b.sources, .kind = a.kind > b.kind ? a.kind : b.kind};
}

/* All that the instruction takes in. has_data: one of it is plain data; is_first_nothing: the first is not from
 * loads. */
static struct value inputs_of(struct region *region, const struct instruction *one, bool *ret_has_data,
                              bool *ret_is_first_nothing) {
    struct value value = {0};

    *ret_has_data = false;
    *ret_is_first_nothing = true;
    for (int i = 0; i < one->code.n_inputs; i++) {
        const struct value *input = &region->now.registers[one->code.inputs[i]];
        *ret_has_data |= input->kind == DATA;
        if (i == 0)
            *ret_is_first_nothing = input->kind == NOTHING;
        value = join(value, *input);
    }
    for (int i = 0; i < one->n_operands; i++) {
        const struct pie_access *access = &one->operands[i].access;
        use_address(region, access);
        if (!(access->flags & PIE_ACCESS_LOAD) || is_private(access) || is_constant(access))
            continue;
        *ret_has_data = true;
        value = join(value, (struct value){.sources = source_of(region, access), .kind = DATA});
    }
    return value;
}

/* What is no more than `kind` away from data is data again. */
static struct value lowered(struct value value, enum kind kind) {
    if (value.kind <= kind && value.kind != NOTHING)
        value.kind = DATA;
    return value;
}

static struct value raised(struct value value, enum kind kind) {
    if (value.kind < kind && value.kind != NOTHING)
        value.kind = (uint8_t)kind;
    return value;
}

static struct value outcome(struct region *region, const struct instruction *one) {
    bool has_data, is_first_nothing;
    struct value value = inputs_of(region, one, &has_data, &is_first_nothing);

    switch (one->code.action) {
    case PIE_COPY_IGNORE:
    case PIE_COPY_CLEAR:
        return (struct value){0};
    case PIE_COPY_MOVE:
        return value;
    case PIE_COPY_UNPACK:
        return has_data ? lowered(value, PART) : value;
    case PIE_COPY_PACK:
        return lowered(value, MASKED);
    case PIE_COPY_MASK:
        return raised(value, MASKED);
    case PIE_COPY_SHIFT:
        return raised(value, PART);
    case PIE_COPY_SIGN:
        if (is_first_nothing && value.kind == DATA)
            return raised(value, PART);
        break;
    case PIE_COPY_COMBINE:
        if (value.kind == PART)
            return lowered(value, PART);
        break;
    default:
        break;
    }
    region->computed |= value.sources;
    return value.kind == NOTHING ? value : (struct value){.sources = value.sources, .kind = MIXED};
}

static void store(struct region *region, const struct instruction *one, const struct pie_operand *operand,
                  struct value value) {
    const struct pie_access *access = &operand->access;

    if (is_private(access) || access->flags & PIE_ACCESS_COUNTING)
        return;
    if (access->flags & PIE_ACCESS_LOAD || value.kind > DATA || access->flags & PIE_ACCESS_GATHER) {
        region->fails = true;
        return;
    }
    /* What is loaded and stored by one instruction is the instruction's source (MOVS). */
    if (value.kind == DATA)
        region->stored |= value.sources;
    if (region->n_stores < STORES_MAX)
        region->stores[region->n_stores++] = *access;
    region->store_bytes += access->size_bytes;
}

static void step(struct region *region, const struct instruction *one) {
    struct value value = outcome(region, one);

    region->work += one->code.work;
    for (int k = 0; k < one->n_operands; k++) {
        region->load_count += (one->operands[k].access.flags & PIE_ACCESS_LOAD) != 0;
        if (one->operands[k].access.flags & PIE_ACCESS_STORE)
            store(region, one, &one->operands[k], value);
    }
    for (int k = 0; k < one->code.n_outputs; k++) {
        region->now.registers[one->code.outputs[k]] = value;
        if (one->code.outputs[k] < PIE_COPY_GENERAL)
            region->written_at[one->code.outputs[k]] = (size_t)(one - region->list) + 1;
    }
}

/* The state now is one of those with which the leader is entered. */
static void enter_leader(struct region *region, int leader) {
    for (int i = 0; i < PIE_COPY_REGISTERS; i++) {
        struct value *known = &region->leaders[leader].registers[i];
        struct value both = join(*known, region->now.registers[i]);
        region->is_news |= both.sources != known->sources || both.kind != known->kind;
        *known = both;
    }
}

static void pass(struct region *region) {
    bool goes_on = false;

    region->n_stores = region->load_count = region->store_bytes = region->work = 0;
    region->is_news = false;
    memset(region->written_at, 0, sizeof region->written_at);
    for (size_t i = 0; i < region->n; i++) {
        const struct instruction *one = &region->list[i];
        if (!goes_on)
            region->now = (struct state){0};
        if (one->leader >= 0) {
            enter_leader(region, one->leader);
            region->now = region->leaders[one->leader];
        }
        step(region, one);
        if (one->target >= 0)
            enter_leader(region, one->target);
        goes_on = one->in.flow != PIE_FLOW_JUMP && one->in.flow != PIE_FLOW_END;
    }
}

/* Each element is read and written at the same place: nothing is copied. */
static bool is_in_place(const struct region *region) {
    for (unsigned i = 0; i < region->n_stores; i++) {
        bool is_loaded = false;
        for (unsigned k = 0; k < region->n_loads && !is_loaded; k++)
            is_loaded = is_same_operand(&region->stores[i], &region->loads[k].access);
        if (!is_loaded)
            return false;
    }
    return true;
}

static bool only_copies(struct region *region) {
    region->n_loads = 0;
    region->stored = region->computed = region->addressed = 0;
    region->fails = false;
    region->is_news = true;
    for (int i = 0; i < PASSES_MAX && region->is_news && !region->fails; i++)
        pass(region);
    return !region->fails && region->stored && !(region->stored & (region->computed | region->addressed)) &&
           !is_in_place(region);
}

/* --- How far it got --- */

/* What a round of a loop adds to each general register. */
struct steps {
    struct step {
        int64_t bytes;
        int factor;
        uint8_t by; /* a register that does not change, or PIE_COPY_NO_REGISTER */
        uint8_t times;
        bool is_written, is_step;
    } of[PIE_COPY_GENERAL];
};

static void find_steps(const struct region *region, struct steps *steps) {
    memset(steps, 0, sizeof *steps);
    for (int i = 0; i < PIE_COPY_GENERAL; i++)
        steps->of[i] = (struct step){.by = PIE_COPY_NO_REGISTER, .is_step = true};
    for (size_t i = 0; i < region->n; i++) {
        const struct pie_copy_code *code = &region->list[i].code;
        for (int k = 0; k < code->n_outputs; k++)
            if (code->outputs[k] < PIE_COPY_GENERAL) {
                struct step *step = &steps->of[code->outputs[k]];
                step->is_written = true;
                step->is_step &= code->stepped == code->outputs[k];
                step->times++;
            }
        if (code->stepped == PIE_COPY_NO_REGISTER)
            continue;
        struct step *step = &steps->of[code->stepped];
        step->bytes += code->step_bytes;
        if (code->step_register == PIE_COPY_NO_REGISTER)
            continue;
        step->is_step &= code->step_register < PIE_COPY_GENERAL &&
                         (step->by == PIE_COPY_NO_REGISTER || step->by == code->step_register);
        step->by = code->step_register;
        step->factor += code->step_factor;
    }
    for (int i = 0; i < PIE_COPY_GENERAL; i++) {
        struct step *step = &steps->of[i];
        if (step->by < PIE_COPY_GENERAL && steps->of[step->by].is_written)
            step->is_step = false;
    }
}

static bool is_steady(const struct steps *steps, uint8_t name) {
    return name >= PIE_COPY_GENERAL || !steps->of[name].is_written || steps->of[name].is_step;
}

/* Is it an address that a round moves by a fixed distance? Describes that in the site then. */
static bool follow(const struct steps *steps, const struct pie_access *access, struct pie_copy_site *site) {
    const struct step *base = access->base < PIE_COPY_GENERAL ? &steps->of[access->base] : NULL;
    const struct step *index = access->index < PIE_COPY_GENERAL ? &steps->of[access->index] : NULL;
    bool base_moves = base && base->is_written, index_moves = index && index->is_written;

    if (access->flags & (PIE_ACCESS_STACK | PIE_ACCESS_TLS | PIE_ACCESS_GATHER) ||
        access->base == PIE_ACCESS_RIP || !is_steady(steps, access->base) ||
        !is_steady(steps, access->index) || !(base_moves || index_moves) ||
        (base_moves && index_moves && base->factor && index->factor))
        return false;
    const struct step *by = base_moves && base->factor ? base : index_moves && index->factor ? index : NULL;
    int factor = by ? by->factor * (by == index ? access->scale : 1) : 0;
    if (factor > INT8_MAX || factor < INT8_MIN)
        return false;
    site->base = access->base < PIE_COPY_GENERAL ? access->base : PIE_COPY_NO_REGISTER;
    site->index = access->index < PIE_COPY_GENERAL ? access->index : PIE_COPY_NO_REGISTER;
    site->scale = access->scale;
    site->disp = access->disp;
    site->step_bytes = (base_moves ? base->bytes : 0) + (index_moves ? index->bytes * access->scale : 0);
    site->step_register = by ? by->by : PIE_COPY_NO_REGISTER;
    site->step_factor = (int8_t)factor;
    site->flags |= PIE_COPY_TRACKED;
    return site->step_bytes != 0 || factor != 0;
}

/* The destination is the best measure; one that is scattered does not, then a source that is read in order, or a
 * counter. */
static void find_progress(const struct region *region, const struct steps *steps,
                          struct pie_copy_site *site) {
    for (unsigned i = 0; i < region->n_stores; i++)
        if (follow(steps, &region->stores[i], site))
            return;
    for (unsigned i = 0; i < region->n_loads; i++)
        if (follow(steps, &region->loads[i].access, site))
            return;
    for (uint8_t i = 0; i < PIE_COPY_GENERAL; i++) {
        struct pie_access counter = {.base = i, .index = PIE_ACCESS_NO_REGISTER, .scale = 1};
        if (steps->of[i].is_written && follow(steps, &counter, site)) {
            site->flags |= PIE_COPY_COUNTER;
            return;
        }
    }
}

/* A processor makes one store in the time of two loads or five instructions, each addition to the same register waits
 * for the one before, and caches take 16 bytes in that time at best. */
static float units_of(const struct region *region, const struct steps *steps) {
    float units = (float)region->n_stores;

    if ((float)region->store_bytes / 16 > units)
        units = (float)region->store_bytes / 16;
    if ((float)region->load_count / 2 > units)
        units = (float)region->load_count / 2;
    if ((float)region->work / 5 > units)
        units = (float)region->work / 5;
    for (int i = 0; i < PIE_COPY_GENERAL; i++)
        if (steps->of[i].is_step && (float)steps->of[i].times > units)
            units = (float)steps->of[i].times;
    return units;
}

/* --- Loops and functions --- */

/* The shortest stretch [*ret_low, *ret_high) around ip that a branch at its end closes to a loop. */
static bool find_loop(const struct pie_decode_function *function, uint64_t ip, uint64_t *ret_low,
                      uint64_t *ret_high) {
    uint64_t leader = pie_decode_function_last(function, PIE_DECODE_LEADER, ip);
    uint64_t end = function->begin + function->size, best = SPAN_BYTES + 1;
    struct pie_instruction in;

    if (!leader || !pie_decode_function_has(function, PIE_DECODE_LOOP, leader))
        return false;
    for (uint64_t at = ip; at < end && at - ip < SPAN_BYTES; at += in.length) {
        if (!pie_decode_function_has(function, PIE_DECODE_START, at) ||
            pie_decode_function_at(function, at, &in, NULL) < 0)
            break;
        bool closes = (in.flow == PIE_FLOW_BRANCH || in.flow == PIE_FLOW_JUMP) && in.target <= ip &&
                      in.target >= function->begin;
        if (closes && at + in.length - in.target < best) {
            best = at + in.length - in.target;
            *ret_low = in.target;
            *ret_high = at + in.length;
        }
    }
    return best <= SPAN_BYTES;
}

static int analyse_loop(const struct pie_decode_function *function, uint64_t low, uint64_t high,
                        struct region *region, struct pie_copy_site *site) {
    struct steps steps;
    int r = read_region(function, low, high, region);

    if (r < 0 || !only_copies(region))
        return -ENOENT;
    for (size_t i = 0; i < region->n; i++)
        if (region->list[i].in.flow == PIE_FLOW_END)
            return -ENOENT;
    find_steps(region, &steps);
    find_progress(region, &steps, site);
    site->round_bytes = region->store_bytes;
    site->round_units = units_of(region, &steps);
    site->flags |= PIE_COPY_IN_LOOP;
    return 0;
}

/* A function that calls nothing, contains a loop and does nothing but copy. The store that comes next shows how far it
 * got. */
static int analyse_function(const struct pie_decode_function *function, uint64_t ip, struct region *region,
                            struct pie_copy_site *site) {
    bool has_loop = false;

    if (function->size > FUNCTION_BYTES ||
        read_region(function, function->begin, function->begin + function->size, region) < 0 ||
        !only_copies(region))
        return -ENOENT;
    for (size_t i = 0; i < region->n; i++) {
        const struct pie_instruction *in = &region->list[i].in;
        uint64_t target = in->target;
        if ((in->flow == PIE_FLOW_BRANCH || in->flow == PIE_FLOW_JUMP) &&
            target - function->begin >= function->size)
            return -ENOENT;
        has_loop |= in->flow == PIE_FLOW_BRANCH && target <= region->list[i].ip;
    }
    for (size_t i = 0; i < region->n && !(site->flags & PIE_COPY_TRACKED); i++) {
        const struct instruction *one = &region->list[i];
        if (one->ip < ip || one->ip > ip + NEAR_BYTES)
            continue;
        if (one->in.flow != PIE_FLOW_NEXT)
            break;
        for (int k = 0; k < one->n_operands; k++) {
            const struct pie_access *access = &one->operands[k].access;
            if (!(access->flags & PIE_ACCESS_STORE) || is_private(access))
                continue;
            site->base = access->base < PIE_COPY_GENERAL ? access->base : PIE_COPY_NO_REGISTER;
            site->index = access->index < PIE_COPY_GENERAL ? access->index : PIE_COPY_NO_REGISTER;
            site->scale = access->scale;
            site->disp = access->disp;
            site->flags |= PIE_COPY_TRACKED;
        }
    }
    return has_loop ? 0 : -ENOENT;
}

/* A repeated string instruction is a loop of its own. */
static bool is_repeated_move(const struct pie_decode_function *function, uint64_t ip,
                             struct pie_copy_site *site) {
    struct pie_operand operands[PIE_OPERANDS_MAX];
    struct pie_instruction in;
    int n = pie_decode_function_at(function, ip, &in, operands);

    if (n != 2 || !(operands[0].access.flags & PIE_ACCESS_REP) ||
        !(operands[0].access.flags & PIE_ACCESS_STORE) || !(operands[1].access.flags & PIE_ACCESS_LOAD))
        return false;
    site->base = PIE_ACCESS_RDI;
    site->step_bytes = 1;
    site->round_bytes = 1;
    site->round_units = 1.0f / 16;
    site->flags = PIE_COPY_IN_LOOP | PIE_COPY_TRACKED;
    return true;
}

/* Kept for the next time: mapping it anew costs more than the analysis. Of the collection thread; a forked child
 * inherits it. */
static struct region *region_made(void) {
    static struct region region;

    if (!region.list)
        region.list = pie_malloc(INSTRUCTIONS_MAX * sizeof *region.list);
    if (!region.leaders)
        region.leaders = pie_malloc(LEADERS_MAX * sizeof *region.leaders);
    return region.list && region.leaders ? &region : NULL;
}

int pie_copy_loop_analyse(uint64_t ip, struct pie_copy_site *ret_site) {
    const struct pie_decode_function *function;
    struct pie_copy_site site = {
        .base = PIE_COPY_NO_REGISTER, .index = PIE_COPY_NO_REGISTER, .step_register = PIE_COPY_NO_REGISTER};
    uint64_t low, high;

    if (!pie_decode_is_available())
        return -ENOSYS;
    if (pie_decode_function_find(ip, &function) < 0 || function->is_window ||
        !pie_decode_function_has(function, PIE_DECODE_START, ip))
        return -ENOENT;
    site.function = function->begin;
    if (is_repeated_move(function, ip, &site)) {
        *ret_site = site;
        return 0;
    }
    struct region *region = region_made();
    if (!region)
        return -ENOMEM;
    int r = find_loop(function, ip, &low, &high) ? analyse_loop(function, low, high, region, &site)
                                                 : analyse_function(function, ip, region, &site);
    if (r == 0)
        *ret_site = site;
    return r;
}

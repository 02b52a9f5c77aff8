/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>
#include <opcode.h>

#include "runtime/code/folds.h"

#include <stdbool.h>
#include <string.h>

#include "profiler/ports/pystack.h"
#include "runtime/code/pyops.h"
#include "runtime/code/stack_depth.h"

/* The body of a loop is run in the abstract, once and from its beginning to its end: of each value it is only known
 * what it depends on. An instruction that is not listed here, or a value where it must not be, ends the attempt: most
 * loops end at their first call. Branches may only go forward within the body, or on to the next round, and only
 * between statements, when the evaluation stack is empty. What lies in front of a branch's target is conditional.
 *
 * A variable that a round reads before it has set it carries something from round to round. That is a sum or a count
 * (x += element), or a limit (if element > x: x = element); a variable that is both is a recurrence.
 *
 * Elements that are set are no fold if a round may read what another one has set. So what is read must be another
 * container: that two names, attributes or items are two objects is taken for granted. */

enum kind {
    INVARIANT, /* the same in all rounds */
    PLACE,     /* the loop's variable, or a sum of it and what is the same */
    ELEMENT,
    HELD, /* a variable that carries something */
    TEST, /* of an element */
    SUM,  /* a HELD variable, and what was added to it */
};

enum {
    VARIABLES = 256, /* local ones and, from HALF on, those of a module or class */
    HALF = VARIABLES / 2,
    STACK = 8,
    PARTS = 2, /* of an instruction */
    KEPT = 8,
};

/* Containers of a loop, by their identities. */
struct containers {
    uint32_t identities[KEPT], count;
    bool has_unknown;
};

struct value {
    uint8_t kind, variable;
    uint32_t identity; /* INVARIANT: by what it is loaded; 0: unknown */
};

struct loop {
    const uint8_t *bytecode;
    uint32_t units, head, begin, end; /* the body is [begin, end), the loop [head, end) */
    uint32_t at;
    uint32_t conditional_until;
    struct value stack[STACK];
    uint32_t depth;
    uint32_t elements; /* fetched */
    uint32_t puts;     /* elements that are set */
    struct containers read, written;
    struct {
        bool is_stored, is_held, is_added_to, is_limit, is_element;
    } variables[VARIABLES];
    uint8_t place; /* the loop's variable */
    bool is_failed;
};

/* What an instruction does, or one half of it. */
struct part {
    uint8_t role;
    uint32_t argument;
};

static void fail(struct loop *loop) {
    loop->is_failed = true;
}

/* Returns how many there are. */
static uint32_t parts_of(const struct pie_stack_instruction *one, struct part ret_parts[PARTS]) {
    uint8_t role = pie_pyops_role(one->opcode, one->argument);
    bool is_store_first = role == PIE_PYOPS_STORE_AND_LOCAL;

    if (role != PIE_PYOPS_TWO_LOCALS && !is_store_first) {
        ret_parts[0] = (struct part){role, one->argument};
        return 1;
    }
    ret_parts[0] =
        (struct part){is_store_first ? PIE_PYOPS_STORE_LOCAL : PIE_PYOPS_LOCAL, one->argument >> 4};
    ret_parts[1] = (struct part){PIE_PYOPS_LOCAL, one->argument & 15};
    return 2;
}

static void push_value(struct loop *loop, struct value value) {
    if (loop->depth == STACK)
        fail(loop);
    else
        loop->stack[loop->depth++] = value;
}

static void push(struct loop *loop, enum kind kind, uint32_t variable) {
    push_value(loop, (struct value){.kind = (uint8_t)kind, .variable = (uint8_t)variable});
}

/* What two values, or a value and an argument, become is known by both, if these are. Different ones may have the same
 * identity, which is no harm. */
static uint32_t identity_of(uint8_t role, uint32_t one, uint32_t other) {
    return one && other ? ((one * 31 + other) * 31 + role) | 1 : 0;
}

static void push_invariant(struct loop *loop, uint32_t identity) {
    push_value(loop, (struct value){.kind = INVARIANT, .identity = identity});
}

static void keep(struct containers *containers, uint32_t identity) {
    if (identity && containers->count < KEPT)
        containers->identities[containers->count++] = identity;
    else
        containers->has_unknown = true;
}

static bool has_common(const struct containers *one, const struct containers *other) {
    for (uint32_t i = 0; i < one->count; i++)
        for (uint32_t j = 0; j < other->count; j++)
            if (one->identities[i] == other->identities[j])
                return true;
    return one->has_unknown || other->has_unknown;
}

static struct value pop(struct loop *loop) {
    if (loop->depth == 0) {
        fail(loop);
        return (struct value){.kind = INVARIANT};
    }
    return loop->stack[--loop->depth];
}

static bool is_conditional(const struct loop *loop) {
    return loop->at < loop->conditional_until;
}

static uint32_t variable_of(struct loop *loop, uint32_t argument, bool is_name) {
    if (argument >= HALF)
        fail(loop);
    return argument % HALF + (is_name ? HALF : 0);
}

static void load_variable(struct loop *loop, uint32_t variable) {
    if (variable == loop->place)
        push(loop, PLACE, variable);
    else if (!loop->variables[variable].is_stored)
        push_invariant(loop, identity_of(PIE_PYOPS_LOCAL, 1, variable + 1));
    else if (loop->variables[variable].is_element)
        push(loop, ELEMENT, variable);
    else {
        loop->variables[variable].is_held = true;
        push(loop, HELD, variable);
    }
}

static void store_variable(struct loop *loop, uint32_t variable) {
    struct value value = pop(loop);

    if (variable == loop->place || value.kind == HELD || value.kind == TEST ||
        (value.kind == SUM && value.variable != variable))
        fail(loop);
    if (value.kind == SUM || is_conditional(loop))
        return;
    if (value.kind != ELEMENT || loop->variables[variable].is_held)
        fail(loop); /* each round begins with what the one before has left */
    loop->variables[variable].is_element = true;
}

static void fetch(struct loop *loop) {
    struct value place = pop(loop), container = pop(loop);

    if (container.kind != INVARIANT || (place.kind != INVARIANT && place.kind != PLACE))
        fail(loop);
    keep(&loop->read, container.identity);
    loop->elements += place.kind == PLACE;
    if (place.kind == PLACE)
        push(loop, ELEMENT, 0);
    else
        push_invariant(loop, identity_of(PIE_PYOPS_FETCH, container.identity, place.identity));
}

/* What is set by the round's place is the same each time, or an element of another container. */
static void put(struct loop *loop) {
    struct value place = pop(loop), container = pop(loop), value = pop(loop);

    if (container.kind != INVARIANT || place.kind != PLACE || is_conditional(loop) ||
        (value.kind != INVARIANT && value.kind != ELEMENT))
        fail(loop);
    keep(&loop->written, container.identity);
    loop->puts++;
}

static bool is_addition(uint32_t argument) {
    return argument == NB_ADD || argument == NB_INPLACE_ADD;
}

static bool is_of_places(uint32_t argument) {
    return is_addition(argument) || argument == NB_SUBTRACT || argument == NB_MULTIPLY;
}

static void combine(struct loop *loop, uint32_t argument) {
    struct value right = pop(loop), left = pop(loop);

    if (left.kind == HELD && is_addition(argument) && right.kind <= ELEMENT) {
        loop->variables[left.variable].is_added_to = true;
        push(loop, SUM, left.variable);
    } else if (left.kind == INVARIANT && right.kind == INVARIANT) {
        push_invariant(loop, identity_of((uint8_t)argument, left.identity, right.identity));
    } else if (left.kind <= PLACE && right.kind <= PLACE && is_of_places(argument) &&
               !(argument == NB_MULTIPLY && left.kind == right.kind)) {
        push(loop, PLACE, 0);
    } else {
        fail(loop);
    }
}

/* Of an element and what is the same, or of an element and a limit. */
static void compare(struct loop *loop, bool is_order) {
    struct value right = pop(loop), left = pop(loop);
    struct value other = left.kind == ELEMENT ? right : left;

    if ((left.kind == ELEMENT) + (right.kind == ELEMENT) != 1 ||
        (other.kind != INVARIANT && (other.kind != HELD || !is_order)))
        fail(loop);
    if (other.kind == HELD)
        loop->variables[other.variable].is_limit = true;
    push(loop, TEST, 0);
}

static bool is_order(uint32_t argument) {
    uint32_t comparison = argument >> pie_pyops.comparison_shift;

    return comparison != Py_EQ && comparison != Py_NE;
}

/* To the next round, or forward within this one. What is passed over is conditional: also behind a jump that always is
 * made, since a branch leads there. */
static void go_to(struct loop *loop, const struct pie_stack_instruction *one) {
    bool is_back = pie_pyops.flows[one->opcode] & PIE_PYOPS_BACK;
    uint32_t target = is_back ? one->end - one->argument : one->end + one->argument;

    if (loop->depth != 0 || (is_back ? target != loop->head : target > loop->end))
        fail(loop);
    if (is_back)
        target = loop->end;
    if (target > loop->conditional_until)
        loop->conditional_until = target;
}

static void branch(struct loop *loop, const struct pie_stack_instruction *one) {
    uint8_t kind = pop(loop).kind;

    if (kind != TEST && kind != ELEMENT)
        fail(loop);
    go_to(loop, one);
}

static void test_truth(struct loop *loop) {
    uint8_t kind = pop(loop).kind;

    if (kind != TEST && kind != ELEMENT)
        fail(loop);
    push(loop, TEST, 0);
}

static void load_attribute(struct loop *loop, uint32_t argument) {
    struct value of = pop(loop);

    if (of.kind != INVARIANT)
        fail(loop);
    push_invariant(loop, identity_of(PIE_PYOPS_ATTRIBUTE, of.identity, argument + 1));
}

static void take(struct loop *loop, const struct pie_stack_instruction *one, struct part part) {
    uint32_t argument = part.argument;

    switch (part.role) {
    case PIE_PYOPS_NOTHING:
        return;
    case PIE_PYOPS_CONSTANT:
        return push_invariant(loop, identity_of(PIE_PYOPS_CONSTANT, one->opcode, argument + 1));
    case PIE_PYOPS_GLOBAL: /* with a lowest bit it is going to be called */
        return argument & 1 ? fail(loop)
                            : push_invariant(loop, identity_of(PIE_PYOPS_GLOBAL, 1, argument + 1));
    case PIE_PYOPS_ATTRIBUTE_OR_METHOD:
        return argument & 1 ? fail(loop) : load_attribute(loop, argument);
    case PIE_PYOPS_ATTRIBUTE:
        return load_attribute(loop, argument);
    case PIE_PYOPS_LOCAL:
    case PIE_PYOPS_NAME:
        return load_variable(loop, variable_of(loop, argument, part.role == PIE_PYOPS_NAME));
    case PIE_PYOPS_STORE_LOCAL:
    case PIE_PYOPS_STORE_NAME:
        return store_variable(loop, variable_of(loop, argument, part.role == PIE_PYOPS_STORE_NAME));
    case PIE_PYOPS_FETCH:
        return fetch(loop);
    case PIE_PYOPS_PUT:
        return put(loop);
    case PIE_PYOPS_COMBINE:
        return combine(loop, argument);
    case PIE_PYOPS_COMPARE:
        return compare(loop, is_order(argument));
    case PIE_PYOPS_CONTAINS:
        return compare(loop, false);
    case PIE_PYOPS_TRUTH:
        return test_truth(loop);
    case PIE_PYOPS_BRANCH:
        return branch(loop, one);
    case PIE_PYOPS_GOTO:
        return go_to(loop, one);
    default:
        return fail(loop);
    }
}

static struct pie_stack_instruction read_at(const struct loop *loop, uint32_t at) {
    return pie_stack_instruction_read(loop->bytecode, at, loop->units);
}

static bool is_store(uint8_t role) {
    return role == PIE_PYOPS_STORE_LOCAL || role == PIE_PYOPS_STORE_NAME;
}

static uint32_t variable_of_part(struct loop *loop, struct part part) {
    return variable_of(loop, part.argument, part.role == PIE_PYOPS_STORE_NAME);
}

/* The loop's variable is set first; which others does a round set? */
static void find_stores(struct loop *loop) {
    struct pie_stack_instruction one = read_at(loop, loop->begin);
    struct part parts[PARTS];

    parts_of(&one, parts);
    if (!is_store(parts[0].role))
        return fail(loop);
    loop->place = (uint8_t)variable_of_part(loop, parts[0]);
    for (uint32_t at = one.end; at < loop->end; at = one.end) {
        one = read_at(loop, at);
        parts_of(&one, parts);
        if (is_store(parts[0].role))
            loop->variables[variable_of_part(loop, parts[0])].is_stored = true;
    }
}

static bool has_recurrence(const struct loop *loop) {
    for (uint32_t i = 0; i < VARIABLES; i++)
        if (loop->variables[i].is_added_to && loop->variables[i].is_limit)
            return true;
    return false;
}

static bool is_fold(struct loop *loop) {
    struct part parts[PARTS];

    find_stores(loop);
    for (loop->at = loop->begin; loop->at < loop->end && !loop->is_failed;) {
        struct pie_stack_instruction one = read_at(loop, loop->at);
        uint32_t n = parts_of(&one, parts);
        for (uint32_t i = loop->at == loop->begin; i < n; i++) /* the first part sets the loop's variable */
            take(loop, &one, parts[i]);
        loop->at = one.end;
    }
    return !loop->is_failed && loop->elements + loop->puts > 0 && !has_recurrence(loop) &&
           !(loop->puts > 0 && has_common(&loop->read, &loop->written));
}

void pie_code_folds_mark(const uint8_t *bytecode, uint32_t n_units, uint8_t *operations) {
    struct pie_stack_instruction one;

    for (uint32_t at = 0; at < n_units; at = one.end) {
        one = pie_stack_instruction_read(bytecode, at, n_units);
        if (pie_pyops.roles[one.opcode] != PIE_PYOPS_LOOP || one.end + one.argument > n_units)
            continue;
        struct loop loop = {.bytecode = bytecode,
                            .units = n_units,
                            .head = at,
                            .begin = one.end,
                            .end = one.end + one.argument};
        if (is_fold(&loop))
            for (uint32_t i = at; i < loop.end; i++)
                operations[i] |= loop.puts > 0 ? PIE_OPERATION_IN_FILL : PIE_OPERATION_IN_FOLD;
    }
}

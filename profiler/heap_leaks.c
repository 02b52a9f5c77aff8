/* SPDX-License-Identifier: Apache-2.0 */

/* The paper tracks one allocation at a time, from one greatest footprint to the next. Here thousands are tracked; one says
 * something about its line when it was freed or has lived for a good part of the run, so that what is merely young does not
 * count as kept. Memory allocated by an import is never a leak: modules are loaded once.
 *
 * Who holds the objects is asked while the program runs, since at its end Python takes everything apart. So it is asked
 * early, of contexts that may turn out to be no leak; the views decide later (storage/memory.sql). */

#include "profiler/heap_leaks.h"

#include "profiler/heap_engine.h"
#include "profiler/heap_nodes.h"
#include "profiler/holder.h"
#include "profiler/sink.h"

static const uint64_t AGE_MIN_NS = 100000000;
enum { AGE_PART = 10 }; /* of the run */
static const double SCORE_TO_ASK = 0.85;
enum { ASK_BLOCKS_MAX = 32, ASK_PART = 100 }; /* questions take a hundredth of the run at most, … */
static const uint64_t ASK_CREDIT_NS = 60000000,
                      ASK_BUDGET_NS = 100000000; /* … and this from the start; each */
static const uint64_t ASK_LEAST_NS = 5000000;

void pie_heap_leaks_init(struct pie_heap_leaks *leaks, const struct pie_holder_ops *holders,
                         uint64_t started_ns) {
    *leaks = (struct pie_heap_leaks){.holders = holders, .started_ns = started_ns};
}

double pie_heap_leak_score(uint32_t mallocs, uint32_t frees) {
    return 1 - ((double)frees + 1) / ((double)mallocs - (double)frees + 2);
}

void pie_heap_leaks_decide(const struct pie_heap_leaks *leaks, struct pie_heap_nodes *nodes,
                           const struct pie_heap_block *blocks, uint64_t now_ns) {
    uint64_t age_ns = (now_ns - leaks->started_ns) / AGE_PART;

    if (age_ns < AGE_MIN_NS)
        age_ns = AGE_MIN_NS;
    for (size_t i = 0; i < nodes->count; i++) {
        nodes->nodes[i].noted_mallocs = nodes->nodes[i].row.mallocs;
        nodes->nodes[i].row.mallocs = nodes->nodes[i].row.frees;
    }
    for (uint32_t ticket = 1; ticket < PIE_HEAP_TICKETS; ticket++) {
        const struct pie_heap_block *block = &blocks[ticket];
        if (block->node && now_ns - block->since_ns >= age_ns && !nodes->nodes[block->node - 1].is_import)
            nodes->nodes[block->node - 1].row.mallocs++;
    }
    for (size_t i = 0; i < nodes->count; i++)
        nodes->nodes[i].is_dirty |= nodes->nodes[i].row.mallocs != nodes->nodes[i].noted_mallocs;
}

/* The context with most new memory since the last look; NULL: none is in question. */
static struct pie_heap_node *find_suspect(struct pie_heap_nodes *nodes) {
    struct pie_heap_node *suspect = NULL;
    uint64_t most = 0;

    for (size_t i = 0; i < nodes->count; i++) {
        struct pie_heap_node *node = &nodes->nodes[i];
        if (node->is_asked || node->row.live_bytes <= node->noted_live_bytes ||
            pie_heap_leak_score(node->row.mallocs, node->row.frees) < SCORE_TO_ASK)
            continue;
        if (node->row.live_bytes - node->noted_live_bytes > most) {
            most = node->row.live_bytes - node->noted_live_bytes;
            suspect = node;
        }
    }
    return suspect;
}

static size_t blocks_of(const struct pie_heap_nodes *nodes, const struct pie_heap_node *node,
                        const struct pie_heap_block *blocks, uintptr_t ret_blocks[ASK_BLOCKS_MAX]) {
    uint32_t index = (uint32_t)(node - nodes->nodes) + 1;
    size_t count = 0;

    for (uint32_t ticket = 1; ticket < PIE_HEAP_TICKETS && count < ASK_BLOCKS_MAX; ticket++) {
        const void *block = blocks[ticket].node == index ? pie_heap_table_block(ticket) : NULL;
        if (block)
            ret_blocks[count++] = (uintptr_t)block;
    }
    return count;
}

static void take_answer(struct pie_heap_leaks *leaks) {
    struct pie_heap_answer *answer = &leaks->answers[leaks->n_answers];

    if (leaks->is_waiting && leaks->n_answers < PIE_HOLDER_ANSWERS_MAX &&
        leaks->holders->answer(&answer->node, answer->text, sizeof answer->text)) {
        leaks->is_waiting = false;
        leaks->n_answers += answer->text[0] != '\0';
    }
}

void pie_heap_leaks_ask(struct pie_heap_leaks *leaks, struct pie_heap_nodes *nodes,
                        const struct pie_heap_block *blocks, uint64_t now_ns) {
    uintptr_t wanted[ASK_BLOCKS_MAX];
    uint64_t allowed_ns = (now_ns - leaks->started_ns) / ASK_PART + ASK_CREDIT_NS;

    if (!leaks->holders)
        return;
    take_answer(leaks);
    uint64_t spent_ns = leaks->holders->spent_ns();
    if (leaks->is_waiting || allowed_ns < spent_ns + ASK_LEAST_NS)
        return;
    struct pie_heap_node *suspect = find_suspect(nodes);
    size_t count = suspect ? blocks_of(nodes, suspect, blocks, wanted) : 0;
    uint64_t budget_ns = allowed_ns - spent_ns;
    if (budget_ns > ASK_BUDGET_NS)
        budget_ns = ASK_BUDGET_NS;
    if (count == 0 || !leaks->holders->ask(suspect->row.node, wanted, count, budget_ns))
        return;
    suspect->is_asked = leaks->is_waiting = true;
}

int pie_heap_leaks_write(const struct pie_heap_leaks *leaks, struct pie_sink *sink) {
    int r = 0;

    for (size_t i = 0; r == 0 && i < leaks->n_answers; i++)
        r = sink->ops->put_holder(sink, leaks->answers[i].node, leaks->answers[i].text);
    return r;
}

void pie_heap_leaks_clear(struct pie_heap_leaks *leaks) {
    leaks->n_answers = 0;
}

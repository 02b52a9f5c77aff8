/* SPDX-License-Identifier: Apache-2.0 */

/* The paper tracks one allocation at a time, from one greatest footprint to the next. Here thousands are tracked, and
 * the score is that of what is kept: an allocation says something about its line once it has lived for a tenth of the
 * run. The temporaries of a line are gone by then, however many; what a cache drops later speaks against a leak.
 * The age of the remaining allocations shows whether the line still grows. Memory allocated by an import
 * is never a leak: modules are loaded once.
 *
 * Who holds the objects is asked while the program runs, since at its end Python takes everything apart. So it is asked
 * early, of contexts that may turn out to be no leak; the views decide later (storage/read/views/memory.sql). */

#include "profiler/heap/leaks.h"

#include "profiler/heap/engine.h"
#include "profiler/heap/nodes.h"
#include "profiler/ports/retention.h"
#include "profiler/ports/sink.h"

#include <string.h>

enum { AGE_PART = 10 }; /* of the run */
static const double SCORE_TO_ASK = 0.85;
enum { ASK_BLOCKS_MAX = 32, ASK_PART = 100 }; /* questions take a hundredth of the run at most, … */
static const uint64_t ASK_CREDIT_NS = 60000000,
                      ASK_BUDGET_NS = 100000000; /* … and this from the start; each */
static const uint64_t ASK_LEAST_NS = 5000000;
/* What a young process keeps was mostly made at once, as it began, and a question would be its greatest cost. So there
 * memory must have grown in this number of the parts of its time. */
static const uint64_t YOUNG_NS = 5000000000;
enum { YOUNG_PARTS_MIN = PIE_KEPT_PARTS / 2 };

void pie_heap_leaks_init(struct pie_heap_leaks *leaks, const struct pie_retention_ops *retention,
                         uint64_t started_ns) {
    *leaks = (struct pie_heap_leaks){.retention = retention, .started_ns = started_ns};
}

double pie_heap_leak_score(uint32_t mallocs, uint32_t frees) {
    return 1 - ((double)frees + 1) / ((double)mallocs - (double)frees + 2);
}

static void begin_anew(struct pie_heap_node *node, uint64_t age_ns) {
    node->row.frees = node->is_import ? 0 : pie_heap_node_freed_from(node, age_ns);
    node->row.mallocs = node->row.frees;
    memset(node->row.kept_bytes, 0, sizeof node->row.kept_bytes);
}

static void count_kept(const struct pie_heap_leaks *leaks, struct pie_heap_node *node,
                       const struct pie_heap_block *block, uint64_t until_ns) {
    if (node->is_import || block->since_ns >= until_ns)
        return;
    uint64_t after_ns = block->since_ns > leaks->started_ns ? block->since_ns - leaks->started_ns : 0;
    uint64_t whole_ns = until_ns > leaks->started_ns ? until_ns - leaks->started_ns : 1; /* a young process */
    node->row.kept_bytes[after_ns * PIE_KEPT_PARTS / whole_ns] += block->weight_bytes;
    node->row.mallocs++;
}

/* Only nodes with tracked blocks and those that have changed can have another score, but for what ages; that is noted
 * by the next change, or when all nodes are written. */
void pie_heap_leaks_decide(const struct pie_heap_leaks *leaks, struct pie_heap_nodes *nodes,
                           const struct pie_heap_block *blocks, uint32_t tickets, uint64_t now_ns) {
    uint64_t age_ns = (now_ns - leaks->started_ns) / AGE_PART;

    age_ns = age_ns < PIE_HEAP_AGE_MIN_NS ? PIE_HEAP_AGE_MIN_NS : age_ns;
    for (uint32_t ticket = 1; ticket < tickets; ticket++)
        if (blocks[ticket].node_index)
            begin_anew(&nodes->nodes[blocks[ticket].node_index - 1], age_ns);
    for (uint32_t i = nodes->dirty; i; i = nodes->nodes[i - 1].next_dirty)
        begin_anew(&nodes->nodes[i - 1], age_ns);
    for (uint32_t ticket = 1; ticket < tickets && now_ns - leaks->started_ns > age_ns; ticket++)
        if (blocks[ticket].node_index)
            count_kept(leaks, &nodes->nodes[blocks[ticket].node_index - 1], &blocks[ticket], now_ns - age_ns);
}

static bool has_grown(const struct pie_heap_node *node) {
    int parts = 0;

    for (int i = 0; i < PIE_KEPT_PARTS; i++)
        parts += node->row.kept_bytes[i] > 0;
    return parts >= YOUNG_PARTS_MIN;
}

/* The context with most new memory since the last look; NULL: none is in question. */
static struct pie_heap_node *find_suspect(struct pie_heap_nodes *nodes, const struct pie_heap_block *blocks,
                                          uint32_t tickets, bool is_young) {
    struct pie_heap_node *suspect = NULL;
    uint64_t most = 0;

    for (uint32_t ticket = 1; ticket < tickets; ticket++) {
        struct pie_heap_node *node =
            blocks[ticket].node_index ? &nodes->nodes[blocks[ticket].node_index - 1] : NULL;
        uint64_t live_bytes = node ? pie_heap_node_live_bytes(node) : 0;
        if (!node || node->is_asked || live_bytes <= node->noted_live_bytes + most ||
            pie_heap_leak_score(node->row.mallocs, node->row.frees) < SCORE_TO_ASK ||
            (is_young && !has_grown(node)))
            continue;
        most = live_bytes - node->noted_live_bytes;
        suspect = node;
    }
    return suspect;
}

static size_t blocks_of(const struct pie_heap_nodes *nodes, const struct pie_heap_node *node,
                        const struct pie_heap_block *blocks, uint32_t tickets, uint64_t young_ns,
                        uintptr_t ret_blocks[ASK_BLOCKS_MAX]) {
    const void *addresses[PIE_HEAP_TICKETS];
    uint32_t index = (uint32_t)(node - nodes->nodes) + 1;
    size_t count = 0;

    pie_heap_table_blocks(addresses);
    for (uint32_t ticket = 1; ticket < tickets && count < ASK_BLOCKS_MAX; ticket++)
        if (blocks[ticket].node_index == index && addresses[ticket] && blocks[ticket].since_ns < young_ns)
            ret_blocks[count++] = (uintptr_t)addresses[ticket];
    return count;
}

static void take_answer(struct pie_heap_leaks *leaks) {
    struct pie_heap_answer *answer = &leaks->answers[leaks->n_answers];

    if (leaks->is_waiting && leaks->n_answers < PIE_RETENTION_ANSWERS_MAX &&
        leaks->retention->answer(&answer->node, answer->text, sizeof answer->text)) {
        leaks->is_waiting = false;
        answer->size = leaks->waiting_size;
        leaks->n_answers += answer->text[0] != '\0';
    }
}

void pie_heap_leaks_ask(struct pie_heap_leaks *leaks, struct pie_heap_nodes *nodes,
                        const struct pie_heap_block *blocks, uint32_t tickets, uint64_t now_ns) {
    uintptr_t wanted[ASK_BLOCKS_MAX];
    uint64_t allowed_ns = (now_ns - leaks->started_ns) / ASK_PART + ASK_CREDIT_NS;

    if (!leaks->retention)
        return;
    take_answer(leaks);
    uint64_t spent_ns = leaks->retention->spent_ns();
    if (leaks->is_waiting || allowed_ns < spent_ns + ASK_LEAST_NS)
        return;
    struct pie_heap_node *suspect =
        find_suspect(nodes, blocks, tickets, now_ns - leaks->started_ns < YOUNG_NS);
    uint64_t young_ns =
        now_ns - (now_ns - leaks->started_ns) / AGE_PART; /* since then: not known to be kept */
    size_t count = suspect ? blocks_of(nodes, suspect, blocks, tickets, young_ns, wanted) : 0;
    uint64_t budget_ns = allowed_ns - spent_ns;
    if (budget_ns > ASK_BUDGET_NS)
        budget_ns = ASK_BUDGET_NS;
    if (count == 0 || !leaks->retention->ask(suspect->row.node, wanted, count, budget_ns))
        return;
    suspect->is_asked = leaks->is_waiting = true;
    leaks->waiting_size = suspect->row.size;
}

int pie_heap_leaks_write(const struct pie_heap_leaks *leaks, struct pie_sink *sink) {
    int r = 0;

    for (size_t i = 0; r == 0 && i < leaks->n_answers; i++)
        r = sink->ops->put_retention_path(sink, leaks->answers[i].node, leaks->answers[i].size,
                                          leaks->answers[i].text);
    return r;
}

void pie_heap_leaks_clear(struct pie_heap_leaks *leaks) {
    leaks->n_answers = 0;
}

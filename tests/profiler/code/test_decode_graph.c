/* SPDX-License-Identifier: Apache-2.0 */

/* Cycles in graphs, against the transitive closure. */

#include "profiler/code/decode_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES_MAX = 40, EDGES_MAX = 120, DEEP_NODES = 200000 };

static bool reaches[NODES_MAX][NODES_MAX];

/* Warshall's algorithm. */
static void close_transitively(unsigned n_nodes, const struct pie_decode_edge *edges, unsigned n_edges) {
    memset(reaches, 0, sizeof reaches);
    for (unsigned i = 0; i < n_edges; i++)
        reaches[edges[i].from][edges[i].to] = true;
    for (unsigned k = 0; k < n_nodes; k++)
        for (unsigned i = 0; i < n_nodes; i++)
            for (unsigned j = 0; reaches[i][k] && j < n_nodes; j++)
                reaches[i][j] |= reaches[k][j];
}

static void test_random_graphs(void **state) {
    struct pie_decode_edge edges[EDGES_MAX];
    unsigned seed = 1, on_cycle = 0, off_cycle = 0;

    for (int round = 0; round < 3000; round++) {
        unsigned n_nodes = 1 + (unsigned)rand_r(&seed) % NODES_MAX;
        unsigned n_edges = (unsigned)rand_r(&seed) % (2 * n_nodes + 1);
        uint64_t bits[1] = {0};
        for (unsigned i = 0; i < n_edges; i++)
            edges[i] = (struct pie_decode_edge){(uint32_t)rand_r(&seed) % n_nodes,
                                                (uint32_t)rand_r(&seed) % n_nodes};
        assert_int_equal(pie_decode_graph_cycles(n_nodes, edges, n_edges, bits), 0);
        close_transitively(n_nodes, edges, n_edges);
        for (unsigned i = 0; i < n_nodes; i++) {
            assert_int_equal(bits[0] >> i & 1, reaches[i][i]);
            on_cycle += reaches[i][i];
            off_cycle += !reaches[i][i];
        }
        assert_int_equal(bits[0] >> n_nodes, 0);
    }
    assert_true(on_cycle > 10000 && off_cycle > 10000);
}

/* A path as long as a large function has blocks needs no deep stack. */
static void test_long_paths(void **state) {
    struct pie_decode_edge *edges = malloc(DEEP_NODES * sizeof *edges);
    uint64_t *bits = calloc(DEEP_NODES / 64 + 1, sizeof *bits);

    for (uint32_t i = 0; i < DEEP_NODES; i++)
        edges[i] = (struct pie_decode_edge){i, i + 1};
    edges[DEEP_NODES - 1].to = DEEP_NODES / 2;
    assert_int_equal(pie_decode_graph_cycles(DEEP_NODES, edges, DEEP_NODES, bits), 0);
    for (uint32_t i = 0; i < DEEP_NODES; i++)
        assert_int_equal(bits[i / 64] >> i % 64 & 1, i >= DEEP_NODES / 2);
    free(edges);
    free(bits);
}

static void test_nothing_is_no_cycle(void **state) {
    uint64_t bits[1] = {0};

    assert_int_equal(pie_decode_graph_cycles(0, NULL, 0, bits), 0);
    assert_int_equal(pie_decode_graph_cycles(3, NULL, 0, bits), 0);
    assert_int_equal(bits[0], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_long_paths),
        cmocka_unit_test(test_nothing_is_no_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

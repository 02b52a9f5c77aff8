/* SPDX-License-Identifier: Apache-2.0 */

/* Stored nodes over turns of the tree: who is met again has its node again, who is not is forgotten. Code is a number;
 * its file is called after it. */

#include "profiler/base/region.h"
#include "profiler/ports/pystack.h"
#include "profiler/ports/sink.h"
#include "profiler/stacks/cct.h"
#include "profiler/symbols/naming.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct pie_naming *naming;
static struct pie_location locations[4096];
static struct pie_node_row nodes[4096];
static size_t n_locations, n_nodes;

static int describe(uint32_t code_id, const char **ret_file, const char **ret_qualname,
                    int32_t *ret_first_line) {
    static char file[32];

    snprintf(file, sizeof file, "<code %u>", code_id & ~PIE_CCT_CODE_HALF_BIT);
    *ret_file = file;
    *ret_qualname = "f";
    *ret_first_line = 1;
    return 0;
}

static int32_t line(uint32_t code_id, uint32_t offset) {
    return (int32_t)offset;
}

static const struct pie_pystack_ops ops = {.describe = describe, .line = line};

static int put_location(struct pie_sink *sink, const struct pie_location *row) {
    locations[n_locations++ % 4096] = *row;
    return 0;
}

static int put_node(struct pie_sink *sink, const struct pie_node_row *row) {
    nodes[n_nodes++ % 4096] = *row;
    return 0;
}

static const struct pie_sink_ops sink_ops = {.put_location = put_location, .put_node = put_node};

static void write_rows(void) {
    struct pie_sink sink = {.ops = &sink_ops};

    n_locations = n_nodes = 0;
    assert_int_equal(pie_naming_write(naming, &sink), 0);
    assert_int_equal(pie_naming_is_written(naming), n_nodes == 0);
    pie_naming_written(naming);
    assert_true(pie_naming_is_written(naming));
}

static int set_up(void **state) {
    return pie_region_reset() < 0 || pie_cct_init() < 0 || pie_naming_create(&ops, &naming) < 0;
}

static int tear_down(void **state) {
    pie_naming_destroy(naming);
    return 0;
}

/* The stored node of a line of code, called by another's of that code, 0: by nobody. */
static uint32_t stored(uint32_t outer, uint32_t inner) {
    uint32_t half = pie_half_own() ? PIE_CCT_CODE_HALF_BIT : 0;
    struct pie_cct_id node = pie_cct_root();

    if (outer)
        node = pie_cct_child(node, pie_cct_python_key(outer | half, 5));
    return pie_naming_node(naming, pie_cct_child(node, pie_cct_python_key(inner | half, 9))).value;
}

static bool keeps(uint32_t id) {
    return pie_naming_keeps_node(naming, (struct pie_node_id){id});
}

static bool keeps_location(uint32_t id) {
    return pie_naming_keeps_location(naming, (struct pie_location_id){id});
}

static uint32_t held;

static bool holds(void *data, struct pie_node_id node) {
    return node.value == held;
}

static void turn(void) {
    write_rows();
    assert_int_equal(pie_cct_make(!pie_half_current()), 0);
    pie_half_set(!pie_half_current());
    pie_half_enter();
}

static void forget(void) {
    pie_naming_forget(naming, holds, NULL);
    pie_region_clear(pie_half_current() ? PIE_ARENA_CCT : PIE_ARENA_CCT_OTHER);
}

static void test_who_is_met_again_is_the_same(void **state) {
    uint32_t before = stored(1, 2);
    turn();
    assert_int_equal(stored(1, 2), before);
    write_rows();
    assert_int_equal(n_nodes, 0);
    assert_int_equal(n_locations, 0);
    forget();
    assert_int_equal(stored(1, 2), before);
}

/* It is known for a turn in which it is not met, as long as somebody holds it, and never again. */
static void test_who_is_not_met_is_forgotten(void **state) {
    uint32_t hot = stored(1, 2), once = stored(1, 3);
    for (int nth = 0; nth < 4; nth++) {
        held = nth < 3 ? once : 0;
        turn();
        assert_int_equal(stored(1, 2), hot);
        forget();
        assert_true(keeps(hot));
        assert_int_equal(keeps(once), nth < 3);
    }
    assert_false(keeps_location(3)); /* <code 3> */
    assert_true(keeps_location(1) && keeps_location(2));
    uint32_t again = stored(1, 3);
    assert_true(again > once);
    write_rows();
    assert_int_equal(n_nodes, 1);
    assert_int_equal(n_locations, 1);
    assert_string_equal(locations[0].function, "f");
    assert_int_equal(nodes[0].id.value, again);
}

/* Who is at hand when a turn ends is not asked for by name in the next one, and is kept over it all the same. */
static void test_who_is_known_already_stays(void **state) {
    uint32_t hot = stored(1, 2);
    for (int nth = 0; nth < 6; nth++) {
        turn();
        uint32_t node = stored(1, 2); /* before the end of the turn, which maps it to the new half */
        forget();
        assert_int_equal(node, hot);
        assert_int_equal(stored(1, 2), hot);
    }
}

/* A caller stays as long as what it called. */
static void test_callers_stay(void **state) {
    uint32_t caller = stored(0, 7);
    struct pie_cct_id outer = pie_cct_child(pie_cct_root(), pie_cct_python_key(7, 9));
    held = pie_naming_node(naming, pie_cct_child(outer, pie_cct_python_key(8, 1))).value;
    for (int nth = 0; nth < 3; nth++) {
        turn();
        forget();
        assert_true(keeps(caller));
    }
    assert_int_equal(stored(0, 7), caller);
    held = 0;
}

static void test_many_names_take_no_memory(void **state) {
    uint32_t hot = stored(1, 2), before = 0;
    held = 0;
    for (uint32_t nth = 0; nth < 20; nth++) {
        for (uint32_t code = 0; code < 1000; code++)
            before = stored(1, 1000 + nth * 1000 + code);
        assert_int_equal(stored(1, 2), hot);
        turn();
        assert_int_equal(stored(1, 2), hot);
        forget();
    }
    assert_true(before > 19000);
    assert_true(keeps(hot));
    uint32_t kept = 0;
    for (uint32_t id = 1; id <= before; id++)
        kept += keeps(id);
    assert_in_range(kept, 1000, 2010);
}

/* --- Owners --- */

static enum pie_code_owner owners[4];

static int describe_owned(uint32_t code_id, const char **ret_file, const char **ret_qualname,
                          int32_t *ret_first_line) {
    static const char *const files[] = {"", "/own/a.py", "/lib/b.py", "<string>"};

    *ret_file = files[code_id];
    *ret_qualname = "f";
    *ret_first_line = 1;
    return 0;
}

static void set_owner(uint32_t code_id, enum pie_code_owner owner) {
    owners[code_id] = owner;
}

static bool owns(struct pie_sink *sink, const char *file) {
    return strcmp(file, "/lib/b.py") != 0;
}

/* Code gets its owner whether it was named before the sink came or comes after it. */
static void test_code_has_an_owner(void **state) {
    static const struct pie_pystack_ops owned = {
        .describe = describe_owned, .line = line, .set_owner = set_owner};
    static const struct pie_sink_ops owner_ops = {.owns = owns};
    struct pie_sink sink = {.ops = &owner_ops};
    struct pie_naming *some;

    assert_int_equal(pie_naming_create(&owned, &some), 0);
    pie_naming_node(some, pie_cct_child(pie_cct_root(), pie_cct_python_key(1, 5)));
    assert_int_equal(owners[1], PIE_CODE_OWNER_UNKNOWN);
    pie_naming_set_owners(some, &sink);
    assert_int_equal(owners[1], PIE_CODE_OWNER_OWN);
    for (uint32_t code = 2; code <= 3; code++)
        pie_naming_node(some, pie_cct_child(pie_cct_root(), pie_cct_python_key(code, 5)));
    assert_int_equal(owners[2], PIE_CODE_OWNER_LIBRARY);
    assert_int_equal(owners[3], PIE_CODE_OWNER_LIBRARY);
    pie_naming_destroy(some);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_who_is_met_again_is_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_code_has_an_owner, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_who_is_not_met_is_forgotten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_who_is_known_already_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_callers_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_names_take_no_memory, set_up, tear_down),
    };

    if (pie_region_init() < 0)
        return 1;
    return cmocka_run_group_tests_name("naming", tests, NULL, NULL);
}

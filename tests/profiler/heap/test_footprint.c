/* SPDX-License-Identifier: Apache-2.0 */

/* The points of the footprint, and whose contexts get a name. Code is a number, and each has a name of its own. */

#include "profiler/base/region.h"
#include "profiler/heap/engine.h"
#include "profiler/heap/footprint.h"
#include "profiler/ports/pystack.h"
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
static unsigned described;
static struct pie_footprint_row written[PIE_FOOTPRINT_ROWS_MAX];
static size_t n_written;
static struct pie_heap_footprint footprint;

static int describe(uint32_t code_id, const char **ret_file, const char **ret_qualname,
                    int32_t *ret_first_line) {
    static char file[32];

    described++;
    snprintf(file, sizeof file, "<code %u>", code_id);
    *ret_file = file;
    *ret_qualname = "f";
    *ret_first_line = 1;
    return 0;
}

static int32_t line(uint32_t code_id, uint32_t offset) {
    return (int32_t)offset;
}

static const struct pie_pystack_ops ops = {.describe = describe, .line = line};

static int put_footprint(struct pie_sink *sink, const struct pie_footprint_row *row) {
    written[n_written++] = *row;
    return 0;
}

static int put_heap(struct pie_sink *sink, const struct pie_heap_row *row) {
    return 0;
}

static const struct pie_sink_ops sink_ops = {.put_footprint = put_footprint, .put_heap = put_heap};

static int set_up(void **state) {
    described = 0;
    n_written = 0;
    memset(&footprint, 0, sizeof footprint);
    return pie_region_reset() < 0 || pie_cct_init() < 0 || pie_naming_create(&ops, &naming) < 0;
}

static int tear_down(void **state) {
    pie_naming_destroy(naming);
    return 0;
}

static struct pie_cct_id context(uint32_t code) {
    return pie_cct_child(pie_cct_root(), pie_cct_python_key(code, 5));
}

static void cross(uint32_t code, int64_t time_ns, int64_t bytes) {
    const struct pie_heap_record record = {
        .event = PIE_HEAP_CROSSED, .node = context(code), .heap_bytes = {bytes, 0}};

    (void)pie_heap_footprint_crossed(&footprint, &record, time_ns);
}

static void write_all(void) {
    struct pie_sink sink = {.ops = &sink_ops};

    pie_heap_footprint_name(&footprint, naming);
    assert_int_equal(pie_heap_footprint_write(&footprint, &sink, "malloc", NULL), 0);
}

/* A hundred peaks in five milliseconds, each in a context of its own: one point, with the name of the highest. */
static void test_of_many_peaks_one_is_named(void **state) {
    for (uint32_t i = 1; i <= 100; i++)
        cross(i, i * 50000, 1000 * i);
    write_all();
    assert_int_equal(n_written, 1);
    assert_int_equal(described, 1);
    assert_int_equal(written[0].heap_bytes[0], 100000);
    assert_int_equal(written[0].node.value, pie_naming_node(naming, context(100)).value);
}

/* The last one stays too: the memory may be there for long. */
static void test_what_follows_a_peak_is_named(void **state) {
    cross(1, 1000000, 5000);
    cross(2, 2000000, 4000);
    cross(3, 3000000, 3000);
    write_all();
    assert_int_equal(n_written, 2);
    assert_int_equal(described, 2);
    assert_int_equal(written[0].node.value, pie_naming_node(naming, context(1)).value);
    assert_int_equal(written[1].node.value, pie_naming_node(naming, context(3)).value);
}

/* A point that was named and then passed by a higher one, within the same 10 ms, has that one's name. */
static void test_a_later_look_names_what_is_new(void **state) {
    cross(1, 1000000, 5000);
    pie_heap_footprint_name(&footprint, naming);
    cross(2, 2000000, 6000);
    cross(3, 21000000, 7000);
    write_all();
    assert_int_equal(n_written, 2);
    assert_int_equal(written[0].node.value, pie_naming_node(naming, context(2)).value);
    assert_int_equal(written[1].node.value, pie_naming_node(naming, context(3)).value);
}

#define WITH_NAMES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_NAMES(test_of_many_peaks_one_is_named),
        WITH_NAMES(test_what_follows_a_peak_is_named),
        WITH_NAMES(test_a_later_look_names_what_is_new),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return pie_region_init() < 0 || cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/confirm/sites.h"

#include "runtime/code/exception_table.h"
#include "runtime/code/pyops.h"
#include "runtime/code/stack_depth.h"

/* From CPython 3.12 on, the top of the stack is in a register while callbacks of sys.monitoring run. The depth at each
 * instruction is worked out as the compiler does it, along all ways from the beginning and from the handlers. */

struct depths {
    const uint8_t *bytecode, *table;
    size_t table_bytes;
    uint32_t units;
    int32_t *at; /* by unit */
    bool has_changed;
};

static void arrive(struct depths *depths, int64_t unit, int32_t depth) {
    if (depth == PIE_STACK_UNKNOWN || unit < 0 || unit >= depths->units ||
        depths->at[unit] != PIE_STACK_UNKNOWN)
        return;
    depths->at[unit] = depth;
    depths->has_changed = true;
}

static void go_on(struct depths *depths, const struct pie_stack_instruction *one, int32_t depth) {
    unsigned flow = pie_pyops.flows[one->opcode];
    int64_t distance = flow & PIE_PYOPS_BACK ? -(int64_t)one->argument : one->argument;

    if (!(flow & PIE_PYOPS_ENDS))
        arrive(depths, one->end, pie_stack_depth_after(depth, one, false));
    if (flow & PIE_PYOPS_JUMPS)
        arrive(depths, one->end + distance, pie_stack_depth_after(depth, one, true));
}

static void arrive_at_handlers(struct depths *depths, struct pie_confirm_code *made) {
    const uint8_t *table = depths->table, *end = table + depths->table_bytes;

    while (table < end) {
        pie_exception_table_read(&table, end);
        pie_exception_table_read(&table, end);
        uint32_t handler = pie_exception_table_read(&table, end);
        pie_exception_table_read(&table, end);
        arrive(depths, handler, pie_stack_depth_of_handler(depths->table, depths->table_bytes, handler));
        if (handler < depths->units)
            made->sites[handler].is_watched = true; /* a call that raised an exception ends here */
    }
}

static void find_depths(struct depths *depths) {
    do {
        depths->has_changed = false;
        for (uint32_t at = 0; at < depths->units;) {
            struct pie_stack_instruction one =
                pie_stack_instruction_read(depths->bytecode, at, depths->units);
            if (depths->at[at] != PIE_STACK_UNKNOWN)
                go_on(depths, &one, depths->at[at]);
            at = one.end;
        }
    } while (depths->has_changed);
}

static void watch(struct pie_confirm_code *made, int unit) {
    if (unit >= 0 && unit < made->units)
        made->sites[unit].is_watched = true;
}

/* A site, and where it ends: behind it; or behind the instructions that clean up after an iteration. */
static void watch_site(struct pie_confirm_code *made, int unit) {
    enum { CLEANUP = 2 };
    const struct pie_confirm_site *site = &made->sites[unit];

    watch(made, unit);
    watch(made, site->next_unit);
    for (int i = 0; site->kind == PIE_CONFIRM_NEXT && i <= CLEANUP; i++)
        watch(made, site->target_unit + i);
}

/* A depth that cannot be is no place to read from. */
static bool is_usable(const struct pie_confirm_code *made, const struct pie_confirm_site *site, int most) {
    int after = site->next_unit < made->units ? made->sites[site->next_unit].depth : PIE_STACK_UNKNOWN;

    return site->depth >= 0 && site->depth <= most && after >= 0 && after <= most;
}

static void mark_sites(struct pie_confirm_code *made, const PyCodeObject *code) {
    for (int unit = 0; unit < made->units; unit++) {
        struct pie_confirm_site *site = &made->sites[unit];
        if (site->kind <= PIE_CONFIRM_IDLE)
            continue;
        watch_site(made, unit);
        if (!is_usable(made, site, code->co_stacksize))
            site->depth = PIE_STACK_UNKNOWN; /* as in code that is never reached */
    }
}

/* An instruction that does nothing, directly before a site: events cost as much as there is between. */
static void mark_idle(struct pie_confirm_code *made) {
    for (int unit = 0; unit < made->units; unit++) {
        const struct pie_confirm_site *site = &made->sites[unit];
        if (site->kind == PIE_CONFIRM_IDLE && pie_confirm_site_at(made, site->next_unit))
            watch(made, unit);
    }
}

static void fill_from(struct pie_confirm_code *made, const PyCodeObject *code, PyObject *bytes, int32_t *at) {
    struct depths depths = {.bytecode = (const uint8_t *)PyBytes_AS_STRING(bytes),
                            .table = (const uint8_t *)PyBytes_AS_STRING(code->co_exceptiontable),
                            .table_bytes = (size_t)PyBytes_GET_SIZE(code->co_exceptiontable),
                            .units = (uint32_t)made->units,
                            .at = at};

    for (int unit = 0; unit < made->units; unit++)
        at[unit] = PIE_STACK_UNKNOWN;
    arrive(&depths, 0, pie_stack_depth_first(depths.bytecode, depths.units));
    arrive_at_handlers(&depths, made);
    find_depths(&depths);
    for (int unit = 0; unit < made->units; unit++)
        made->sites[unit].depth = at[unit];
}

void pie_confirm_depths_fill(struct pie_confirm_code *made, PyCodeObject *code) {
    PyObject *bytes = PyCode_GetCode(code);
    int32_t *at = PyMem_RawMalloc(((size_t)made->units + 1) * sizeof *at);

    for (int unit = 0; unit < made->units; unit++)
        made->sites[unit].depth = PIE_STACK_UNKNOWN;
    if (bytes && at)
        fill_from(made, code, bytes, at);
    PyErr_Clear();
    PyMem_RawFree(at);
    Py_XDECREF(bytes);
    mark_sites(made, code);
    mark_idle(made);
}

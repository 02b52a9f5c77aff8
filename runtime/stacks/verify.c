/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stacks/verify.h"

#include <stddef.h>

#include "runtime/stacks/collections.h"
#include "runtime/stacks/gil.h"
#include "runtime/stacks/pyframe.h"

static bool gil_is_right(uintptr_t tstate) {
    struct pie_gil gil;
    return pie_gil_read(tstate, &gil) && gil.holder == tstate;
}

const char *pie_stacks_verify(uintptr_t tstate, int32_t tid) {
    bool has_threads = pie_pyframe_find_tstate(tid) == tstate,
         has_gil = !pie_gil_is_there || gil_is_right(tstate);
    pie_collections_verify(tstate);
    if (!has_threads)
        pie_pyframe_lists_disable();
    if (!has_gil)
        pie_gil_disable();
    if (has_threads)
        return has_gil ? NULL : "waits for the GIL are told as other waits";
    return has_gil ? "waits have no Python lines"
                   : "waits have no Python lines, and those for the GIL are told as other waits";
}

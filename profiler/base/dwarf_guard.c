/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/base/dwarf_guard.h"

#include <setjmp.h>
#include <stddef.h>

struct pie_dwarf_way_out {
    jmp_buf place;
};

__thread struct pie_dwarf_way_out *pie_dwarf_way_out;

bool pie_dwarf_guarded(void (*work)(void *data), void *data) {
    struct pie_dwarf_way_out here;
    if (setjmp(here.place) != 0) {
        pie_dwarf_way_out = NULL;
        return false;
    }
    pie_dwarf_way_out = &here;
    work(data);
    pie_dwarf_way_out = NULL;
    return true;
}

void pie_dwarf_give_up(void) {
    if (pie_dwarf_way_out)
        longjmp(pie_dwarf_way_out->place, 1);
}

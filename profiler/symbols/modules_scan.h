/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "profiler/symbols/modules.h"

/* One walk over the dynamic linker's list, for modules.c. */
struct pie_modules_scan {
    struct pie_module_entry *found; /* their strings and headers are new */
    size_t count, capacity;
    unsigned long long loads, unloads; /* in: of the last scan; out: of this one */
    bool is_unchanged;                 /* loads and unloads are as before: nothing was looked at */
    bool has_unloads;                  /* something was unloaded since the last scan */
    /* Asked of each entry, with its headers but no path: what is there and was not unloaded needs no path, whose file
     * would be asked for at each look while a program loads libraries. NULL: nothing is known. */
    bool (*is_known)(const void *data, const struct pie_modules_scan *scan,
                     const struct pie_module_entry *entry);
    const void *data;
    int error;
};

/* Known entries have only headers. Returns 0 or -errno. The caller takes entries over by zeroing them here, and
 * finishes the scan. */
int pie_modules_scan(struct pie_modules_scan *scan);

/* An entry for a module that is not loaded any more. Returns 0 or -ENOMEM; the caller finishes it in either case. */
int pie_modules_scan_known(const struct pie_code_module *known, struct pie_module_entry *ret_entry);
void pie_modules_scan_finish(struct pie_modules_scan *scan);

/* Frees the memory that one entry points to. */
void pie_module_entry_finish(struct pie_module_entry *entry);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/symbols/elf_image.h"

/* Source lines and inlined functions from the DWARF of one module. Context: drain, cli. */
struct pie_dwarf;

struct pie_dwarf_frame {
    const char *name;      /* the linkage name where there is one, else the plain name; NULL: unknown */
    const char *directory; /* the base of a relative `file`; NULL: unknown */
    const char *file;      /* NULL: unknown */
    int32_t line;          /* 0: unknown */
    int32_t first_line;
};

/* Opens the DWARF sections of `image`, with those of `alternate` (dwz; may be empty) beside. Both are taken, on failure
 * too. Reads one entry per compilation unit. Returns 0, -ENOEXEC where there is none that can be read, or -ENOMEM.
 * Searches no other files. */
int pie_dwarf_open(struct pie_elf_image *image, struct pie_elf_image *alternate,
                   struct pie_dwarf **ret_dwarf);
void pie_dwarf_close(struct pie_dwarf *dwarf);

/* The frames at a virtual address, innermost first; the last one is the function itself (its name may be NULL).
 * Where there are more than `max`, those between the innermost ones and the last are left out. Returns their number,
 * 0 if the address is in no compilation unit. Strings live until close. */
size_t pie_dwarf_find(struct pie_dwarf *dwarf, uint64_t vaddr, struct pie_dwarf_frame *ret_frames,
                      size_t max);

/* Bytes that it holds in memory, roughly; grows with each compilation unit that is looked at. */
uint64_t pie_dwarf_size_bytes(const struct pie_dwarf *dwarf);

/* Compilation units refused because a limit was reached (see dwarf_info.c). */
uint64_t pie_dwarf_refused_units(const struct pie_dwarf *dwarf);

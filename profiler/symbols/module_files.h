/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profiler/symbols/elf_image.h"
#include "profiler/symbols/modules.h"

/* The files that describe one module: itself, and the files where distributions put the parts stripped from it. Looked
 * for on this machine only: no debuginfod, whatever DEBUGINFOD_URLS says. One descriptor at a time, closed on return.
 * Context: drain, cli. */

struct pie_module_files_limits {
    uint64_t symbol_bytes; /* of the symbol tables and names of one file */
    uint64_t dwarf_bytes;  /* of the DWARF sections of one module, decompressed; 0: not wanted */
};

enum { PIE_MODULE_LINK_BYTES = 256 };

struct pie_module_files {
    struct pie_elf_image own;         /* symbols and links of the module itself */
    struct pie_elf_image separate;    /* symbols of its separate debug file */
    struct pie_elf_image mini;        /* symbols from .gnu_debugdata */
    struct pie_elf_image dwarf;       /* DWARF of the module or of its separate debug file */
    struct pie_elf_image alternate;   /* parts that dwz moved out of several debug files */
    void *mini_bytes;                 /* behind `mini` */
    char link[PIE_MODULE_LINK_BYTES]; /* the name in .gnu_debuglink; "": none, or too long */
    int own_error;                    /* 0, or why `own` is empty: -ESTALE: the file is another one now */
    int dwarf_error;                  /* 0, -ENOENT: none or not wanted, -EFBIG: too large, or -errno */
};

/* Reads all files that there are; those that cannot be read stay empty. */
void pie_module_files_read(const struct pie_module_entry *entry, const struct pie_module_files_limits *limits,
                           struct pie_module_files *ret_files);
void pie_module_files_finish(struct pie_module_files *files);

/* Text of at most max_bytes at an offset of the module's own file, with its end. False: it does not end there or in
 * `size` bytes, cannot be read, or the file is another one now. */
bool pie_module_files_read_text(const struct pie_module_entry *entry, uint64_t offset, uint64_t max_bytes,
                                char *ret_text, size_t size);

/* A number for the separate debug files that there are now: another one when one is installed, replaced or removed.
 * link: as above. */
uint64_t pie_module_files_separate(const struct pie_module_entry *entry, const char *link);

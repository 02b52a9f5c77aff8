/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <elf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The interesting sections of an ELF file, copied into memory and opened with libelf from there. Nothing
 * stays open or mapped: the file may be truncated, replaced or deleted afterwards, and no descriptor is held.
 * Context: drain, cli. */

/* Where ELF bytes come from: a file, or memory that stays readable during the call. */
struct pie_elf_source {
    int fd;                      /* or -1 */
    const unsigned char *memory; /* with fd -1 */
    uint64_t size;
};

enum pie_elf_parts {
    PIE_ELF_SYMTAB = 1,     /* .symtab and its strings */
    PIE_ELF_DYNSYM = 2,     /* .dynsym and its strings */
    PIE_ELF_LINKS = 4,      /* build-id, .gnu_debuglink, .gnu_debugaltlink, .gnu_debugdata */
    PIE_ELF_DWARF = 8,      /* the sections that libdw needs for lines and scopes */
    PIE_ELF_FEW_NAMES = 16, /* without the names of .symtab where they exceed PIE_ELF_NAMES_BYTES */
};

enum { PIE_ELF_NAMES_BYTES = 1 << 20 };

struct pie_elf_image {
    Elf *elf;
    void *memory;
    size_t size;
    uint64_t dwarf_bytes; /* of DWARF sections once decompressed; 0: no .debug_info or not asked for */
    uint64_t left_offset,
        left_bytes; /* where the names lie in the file that were left there; 0, 0: none were */
};

/* Copies the parts asked for; sections left out appear as SHT_NOBITS. Returns 0; -ENOEXEC: not an ELF file
 * for x86-64, or damaged; -EFBIG: more than max_bytes, where compressed sections count decompressed; or
 * -errno. */
int pie_elf_image_read(const struct pie_elf_source *source, unsigned parts, uint64_t max_bytes,
                       struct pie_elf_image *ret_image);
void pie_elf_image_finish(struct pie_elf_image *image);

/* Reads `size` bytes at `offset`. Returns 0, -ENOEXEC where the source ends before, or -errno. */
int pie_elf_source_read(const struct pie_elf_source *source, uint64_t offset, void *ret_bytes, size_t size);

/* Does the source have just these program headers? Distinguishes a file from another one later put in its place. */
bool pie_elf_source_has_phdrs(const struct pie_elf_source *source, const Elf64_Phdr *phdrs, size_t count);

/* The section of that name with contents, or NULL; *ret_data is its contents. */
Elf_Scn *pie_elf_section(Elf *elf, const char *name, Elf_Data **ret_data);

enum { PIE_BUILD_ID_MAX = 64 };

/* Finds the GNU build-id in notes. Returns its length, 0 if there is none. */
size_t pie_elf_build_id(const void *notes, size_t size, unsigned char ret_id[PIE_BUILD_ID_MAX]);

/* The same in the note sections of an image read with PIE_ELF_LINKS. */
size_t pie_elf_image_build_id(const struct pie_elf_image *image, unsigned char ret_id[PIE_BUILD_ID_MAX]);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gelf.h>
#include <stddef.h>

/* Tables of an ELF file that the dynamic linker reads. libelf checks all offsets. Context: cli, launcher. */

/* The contents of the first section of that type (SHT_DYNAMIC, …); NULL: there is none. Borrowed from `elf`. */
Elf_Data *pie_elf_table(Elf *elf, Elf64_Word type, GElf_Shdr *ret_header);

/* Calls see() for each dynamic symbol that has a name; the name is borrowed from `elf`. Returns how many the table has,
 * also those without a name; 0: there is no such table. */
size_t pie_elf_each_symbol(Elf *elf, void (*see)(void *context, const char *name, const GElf_Sym *symbol),
                           void *context);

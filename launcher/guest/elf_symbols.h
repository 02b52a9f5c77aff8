/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The dynamic symbols of a program or library, by libelf. Context of all: launcher. */
struct pie_elf_symbols;

/* Returns NULL where it is no ELF file or cannot be read. */
struct pie_elf_symbols *pie_elf_symbols_read(const char *path);
void pie_elf_symbols_free(struct pie_elf_symbols *symbols); /* NULL is allowed */

bool pie_elf_symbols_defines(const struct pie_elf_symbols *symbols, const char *name);

/* Those that others must define; weak ones need not be. `index` counts from 0; NULL: there are no more. Borrowed. */
const char *pie_elf_symbols_needed(const struct pie_elf_symbols *symbols, size_t index);

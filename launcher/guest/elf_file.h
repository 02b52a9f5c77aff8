/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the loader reads of a program or library, by libelf. */
struct pie_elf_file;

/* Returns NULL where it is no ELF file for this processor or cannot be read. Context: launcher. */
struct pie_elf_file *pie_elf_file_open(const char *path);
void pie_elf_file_close(struct pie_elf_file *file); /* NULL is allowed */

/* The loader that it names; NULL: none. Borrowed, as all texts. */
const char *pie_elf_file_loader(const struct pie_elf_file *file);

/* The first library it needs whose name begins with `prefix`; NULL: none. */
const char *pie_elf_file_needs(const struct pie_elf_file *file, const char *prefix);

/* The dynamic symbols: `index` counts from 0; NULL: there are no more. */
const char *pie_elf_file_symbol(const struct pie_elf_file *file, size_t index, bool *ret_is_defined);
bool pie_elf_file_defines(const struct pie_elf_file *file, const char *name);

/* The eight bytes at a dynamic symbol that it defines. */
bool pie_elf_file_word(const struct pie_elf_file *file, const char *name, uint64_t *ret_word);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <elf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The function symbol that covers an address of a module. Built once from one or more ELF symbol tables, then only
 * read. Where symbols overlap the innermost one counts; where several name the same place, the one a person would use
 * (malloc rather than __libc_malloc). Context: drain, cli. */
struct pie_symbol_table;
struct pie_symbol_table_builder;

int pie_symbol_table_builder_create(struct pie_symbol_table_builder **ret_builder);
void pie_symbol_table_builder_destroy(struct pie_symbol_table_builder *builder);

/* Adds the functions of all symbol sections (SHT_SYMTAB, SHT_DYNSYM) in `elf`, which must live until the
 * table is built; sizes are checked, damaged entries left out. Returns 0 or -ENOMEM. */
int pie_symbol_table_add_elf(struct pie_symbol_table_builder *builder, Elf *elf);

/* The names of .symtab in `elf`, which is still to be added, stay in the module's file (struct pie_elf_image). */
void pie_symbol_table_leave_names(struct pie_symbol_table_builder *builder, const Elf *elf, uint64_t offset,
                                  uint64_t bytes);

/* Adds one symbol; `name` must live until the table is built. It ends at `limit` at the latest; size 0: at
 * the next symbol or `limit`, whichever comes first. info: as in st_info. Returns 0 or -ENOMEM. */
int pie_symbol_table_add(struct pie_symbol_table_builder *builder, const char *name, unsigned char info,
                         uint64_t start, uint64_t size, uint64_t limit);

/* Makes the table of the added symbols and forgets these. Returns 0 or -ENOMEM. */
int pie_symbol_table_build(struct pie_symbol_table_builder *builder, struct pie_symbol_table **ret_table);
void pie_symbol_table_destroy(struct pie_symbol_table *table);

/* The raw name of the function at `address`, owned by the table, or NULL: there is none, or it was left in the file. */
const char *pie_symbol_table_find(const struct pie_symbol_table *table, uint64_t address);

/* Where in the module's file the name of the function at `address` begins that was left there, and how many bytes at
 * most it has with its end. False: there is no such function. */
bool pie_symbol_table_find_left(const struct pie_symbol_table *table, uint64_t address, uint64_t *ret_offset,
                                uint64_t *ret_max_bytes);

/* The code around `address`, [*ret_start, *ret_end), that is one function's without a gap: of a function with another
 * nested inside, the part before, behind or between. False: no symbol covers it. */
bool pie_symbol_table_range(const struct pie_symbol_table *table, uint64_t address, uint64_t *ret_start,
                            uint64_t *ret_end);

size_t pie_symbol_table_count(const struct pie_symbol_table *table);
size_t pie_symbol_table_size_bytes(const struct pie_symbol_table *table);

/* A table as bytes, a head and blocks, and back. unpack() believes nothing: 0, -EBADMSG for bytes that are no head, or
 * -ENOMEM. The head lies in a block of pie_malloc()'s from `at` on (a multiple of 8). The table takes the block and
 * uses it as it is; on failure the block stays the caller's. The blocks stay where they are while the table lives, and
 * may vanish: they are read with safe loads. A packed table is of this machine's form. It has symbols of a block once
 * reach() was asked for an address of it: 0, or -EBADMSG for bytes that are no block. Of other tables all is there. */
size_t pie_symbol_table_head_bytes(const struct pie_symbol_table *table);
size_t pie_symbol_table_packed_bytes(const struct pie_symbol_table *table);
void pie_symbol_table_pack(const struct pie_symbol_table *table, void *ret_bytes);
int pie_symbol_table_unpack(void *block, size_t at, size_t head_bytes, const void *blocks,
                            size_t blocks_bytes, struct pie_symbol_table **ret_table);
/* What the blocks lie in is unmapped with the table. */
void pie_symbol_table_take_mapping(struct pie_symbol_table *table, void *mapping, size_t bytes);
int pie_symbol_table_reach(struct pie_symbol_table *table, uint64_t address);

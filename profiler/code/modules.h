/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <elf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which library's code lies at an address, at this moment: a number for each file at each place, given at first sight
 * and never to another. So a context keeps its name when the library was unloaded and another one lies there, and a
 * library that comes back to its old place has its old number. The interpreter's home, which stays, has none. */

enum {
    PIE_CODE_MODULES_MAX = 2048,
    PIE_CODE_MODULE_NOWHERE = PIE_CODE_MODULES_MAX, /* of code outside of all modules: made at run time */
    PIE_CODE_MODULE_PHDRS_MAX = 16,                 /* a library has 11, a program 13 */
    PIE_CODE_MODULE_PATH_MAX = 512,
};

struct pie_code_module {
    uintptr_t base; /* address minus virtual address in the file */
    unsigned phdr_count;
    Elf64_Phdr phdrs[PIE_CODE_MODULE_PHDRS_MAX];
    unsigned build_id_bytes; /* 0: none */
    uint8_t build_id[32];
    char path[PIE_CODE_MODULE_PATH_MAX]; /* as the dynamic linker says it; "": too long */
};

struct pie_object;

/* The number of the module that was just found at an address; 0: none, or there are too many. 0.5 us.
 * Context: signal. */
unsigned pie_code_module_of(const struct pie_object *object, uintptr_t address);
/* Finds it as well; PIE_CODE_MODULE_NOWHERE: there is none. Context: signal. */
unsigned pie_code_module_at(uintptr_t address);

/* The module of a number; NULL: unknown, or not known yet. Context: drain. */
const struct pie_code_module *pie_code_module(unsigned number);

/* The program may have written other code to [start, start + bytes). If a module lies there, the facts about its
 * instructions are dropped. 50 ns if none does. Context: signal. */
void pie_code_modules_rewritten(uintptr_t start, size_t bytes);
/* How often that was so. Context: signal. */
uint32_t pie_code_modules_rewrites(void);

/* Modules that found no number. Context: any. */
uint64_t pie_code_modules_refused(void);

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stacks/takers.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

/* CPython 3.15 has functions for what most instructions that call have in common, so that the evaluation loop needs
 * less stack. Whether a compiler lays such a function into the loop differs from build to build: in Debian's executable
 * it is in some places, in its shared library in none. */

static const char *const names[] = {"_Py_VectorCall_StackRefSteal",
                                    "_Py_VectorCallInstrumentation_StackRefSteal"};
enum { NAMES = sizeof names / sizeof *names };

struct pie_code_range pie_takers[NAMES + 1];

void pie_takers_find(void) {
    struct pie_code_range *next = pie_takers;
    ElfW(Sym) * symbol;
    Dl_info info;

    for (int i = 0; i < NAMES; i++) {
        void *function = dlsym(RTLD_DEFAULT, names[i]);
        if (function && dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol)
            *next++ = (struct pie_code_range){.low = (uintptr_t)function,
                                              .high = (uintptr_t)function + symbol->st_size};
    }
    *next = (struct pie_code_range){.high = 0};
}

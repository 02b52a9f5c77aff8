/* SPDX-License-Identifier: Apache-2.0 */

/* Call frame information: two bytes say where in the rest the frame description entry is. Wild pointers in it are
 * loaded from, as in a damaged library, and those loads must fail without harm. */

#include "profiler/code/cfi_sigsafe.c"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_fault(int signal, siginfo_t *info, void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t go_on = pie_safe_load_fix((uintptr_t)registers[REG_RIP]);

    if (!go_on)
        abort();
    registers[REG_RIP] = (greg_t)go_on;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { SLACK = 4096 };
    if (size < 8)
        return 0;
    uint8_t *copy = calloc(1, size + 2 * SLACK);
    memcpy(copy + SLACK, data + 2, size - 2);
    const uint8_t *at = copy + SLACK + ((size_t)data[0] << 8 | data[1]) % (size - 2);
    struct cursor c;
    struct cie cie;
    uint64_t begin = 0, bytes = 0;
    if (open_fde(at, 0, &c, &cie, &begin, &bytes) || bytes)
        for (uint64_t pc = begin; pc < begin + 4; pc++) {
            struct pie_cfi_rule rule = read_fde(at, pc);
            if (rule.kind == PIE_CFI_NORMAL && !pie_cfi_pack(rule))
                abort();
        }
    free(copy);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Marks one instruction: an exported label, and an exported number that says which source line it is on. */
#define MARK(name)                                                                                           \
    __asm__ volatile(".globl mark_" #name "\n"                                                               \
                     "mark_" #name ":\n"                                                                     \
                     "\tnop\n"                                                                               \
                     ".pushsection .rodata\n"                                                                \
                     ".globl line_" #name "\n"                                                               \
                     ".balign 4\n"                                                                           \
                     "line_" #name ":\n"                                                                     \
                     "\t.long %c0\n"                                                                         \
                     ".popsection"                                                                           \
                     :                                                                                       \
                     : "i"(__LINE__)                                                                         \
                     : "memory")

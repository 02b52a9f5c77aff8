/* SPDX-License-Identifier: Apache-2.0 */

/* Two kernels of one shape: void kernel(long rounds, long *word). The first loads the word in each round, the second
 * stores another value into it; a program that copies the second over the first changes just that. The divisions take
 * its time. */
    .macro kernel name, touch:vararg
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    mov $3, %ecx
1:  \touch
    mov %rdi, %rax
    xor %edx, %edx
    div %rcx
    xor %edx, %edx
    div %rcx
    sub $1, %rdi
    jne 1b
    ret
    .cfi_endproc
    .size \name, . - \name
    .endm

    .text
    .p2align 12
    kernel patched, mov (%rsi), %r8
    .p2align 12
    kernel patch, mov %rdi, (%rsi)
    .p2align 12
    .section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: Apache-2.0 */

/* Hand-written kernels as libraries have them: no .cfi directives, so there is no call frame information. Each counts
 * its argument down, like void kernel(long rounds). */
    .text

/* A leaf: the return address is where RSP points. */
    .globl kernel_leaf
    .type kernel_leaf, @function
kernel_leaf:
1:  sub $1, %rdi
    jne 1b
    ret
    .size kernel_leaf, . - kernel_leaf

/* RBP is a general register, and in the loop it is no address. */
    .globl kernel_rbp
    .type kernel_rbp, @function
kernel_rbp:
    push %rbp
    push %rbx
    push %r12
    mov %rdi, %rbp
    xor %ebx, %ebx
1:  add %rbp, %rbx
    sub $1, %rbp
    jne 1b
    pop %r12
    pop %rbx
    pop %rbp
    ret
    .size kernel_rbp, . - kernel_rbp

/* A frame of 24 KiB, on a stack that is aligned anew and then off by one byte. */
    .globl kernel_frame
    .type kernel_frame, @function
kernel_frame:
    push %rbp
    push %r13
    mov %rsp, %r13
    sub $24576, %rsp
    and $-64, %rsp
    sub $33, %rsp
    mov $0x1234, %ebp
1:  mov %rdi, 1(%rsp)
    sub $1, %rdi
    jne 1b
    mov %r13, %rsp
    pop %r13
    pop %rbp
    ret
    .size kernel_frame, . - kernel_frame

/* On a stack of its own, as Go runs what C calls. */
    .globl kernel_own_stack
    .type kernel_own_stack, @function
kernel_own_stack:
    push %rbp
    push %r13
    mov %rsp, %r13
    lea own_stack_end(%rip), %rsp
    xor %ebp, %ebp
    call own_stack_loop
    mov %r13, %rsp
    pop %r13
    pop %rbp
    ret
    .size kernel_own_stack, . - kernel_own_stack

/* Loads one word twice in each round: void kernel_loads(long rounds, const long *word). The divisions take its time.
 * Not in the dynamic table. */
    .globl kernel_loads
    .hidden kernel_loads
    .type kernel_loads, @function
kernel_loads:
    mov $3, %ecx
1:  mov (%rsi), %rax
    xor %edx, %edx
    div %rcx
    mov (%rsi), %rax
    xor %edx, %edx
    div %rcx
    sub $1, %rdi
    jne 1b
    ret
    .size kernel_loads, . - kernel_loads

/* Without a symbol in the dynamic table. */
    .type own_stack_loop, @function
own_stack_loop:
    sub $128, %rsp
1:  mov %rdi, (%rsp)
    sub $1, %rdi
    jne 1b
    add $128, %rsp
    ret
    .size own_stack_loop, . - own_stack_loop

    .bss
    .p2align 4
own_stack:
    .zero 65536
own_stack_end:

    .section .note.GNU-stack, "", @progbits

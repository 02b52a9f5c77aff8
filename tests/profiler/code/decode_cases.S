/* SPDX-License-Identifier: Apache-2.0 */

/* Machine code with known accesses, for test_decode.c and test_decode_hw.c. FUNCTION opens a function with call frame
 * information; AT names the next instruction. */

#define FUNCTION(name) .globl name; .type name, @function; .p2align 4; name: .cfi_startproc
#define END(name) .cfi_endproc; .globl name##_end; name##_end: .size name, . - name
#define AT(name) .globl name; name:

    .text

/* Each has an operand in memory that is no access, or one that is never watched. */
FUNCTION(case_unwatched)
    endbr64
    nopw 0x0(%rax,%rax,1)
    nopl (%rax)
    .byte 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
    prefetcht0 (%rdi)
    prefetchw 8(%rdi)
    prefetchnta (%rdi)
    lea 8(%rax,%rbx,2), %rcx
    xsave (%rdi)
    xsavec64 (%rdi)
    xrstor (%rdi)
    fxsave (%rdi)
    fxrstor (%rdi)
    fnsave (%rdi)
    frstor (%rdi)
    fnstenv (%rdi)
    fldenv (%rdi)
    clflush (%rdi)
    clflushopt (%rdi)
    clwb (%rdi)
    cldemote (%rdi)
    mov 8(%rsp), %rax
    mov %rax, (%rsp,%rcx,8)
    push %rax
    push $5
    pop %rbx
    pushf
    popf
    leave
    mov %fs:0x28, %rax
    mov %rax, %gs:(%rdi)
    mov case_unwatched(%rip), %rax
    mov 0x1000, %eax
    incl (%rdi)
    decq 8(%rdi)
    addq $1, (%rdi)
    subl $1, (%rdi)
    lock addl $-1, (%rdi)
    lock xaddl %eax, (%rdi)
    vgatherdps %ymm1, (%rax,%ymm2,4), %ymm3
    vscatterdps %zmm1, (%rax,%zmm2,4){%k1}
    mov (%eax), %ecx
    bt %rax, (%rdi)
    xlat
    movabs 0x123456789abcdef0, %al
    rdfsbase %rax
    ret
END(case_unwatched)

/* Accesses that may be watched; test_decode.c has the same list. */
FUNCTION(case_watched)
AT(watched_1) mov 0x10(%rax,%rbx,4), %ecx
AT(watched_2) mov %r9b, -1(%r13)
AT(watched_3) add %rdx, 0x12345678(%r15,%r14)
AT(watched_4) addq $2, (%rdi)
AT(watched_5) cmpb $0, (%rdi)
AT(watched_6) lock cmpxchg %rcx, 8(%rdi)
AT(watched_7) movsb
AT(watched_8) push 8(%rax)
AT(watched_9) pop 16(%rax)
AT(watched_10) rep stosl
AT(watched_11) rep movsq
AT(watched_12) cmpsw
AT(watched_13) vmovups 64(%rax), %ymm0
AT(watched_14) vmovups %zmm0, (%rax){%k1}
AT(watched_15) vaddps 4(%rax){1to16}, %zmm1, %zmm2
AT(watched_16) movups (%rsi), %xmm0
AT(watched_17) fldt (%rbp)
AT(watched_18) mov %eax, case_data(%rip)
AT(watched_19) mov 0x40(,%rcx,8), %rax
AT(watched_20) maskmovdqu %xmm0, %xmm1
AT(watched_21) btsl $3, (%rdi)
AT(watched_22) cmovne (%r12), %rax
AT(watched_23) ldmxcsr (%rdi)
AT(watched_24) movhps (%rdi), %xmm0
AT(watched_25) call *8(%rax)
    ret
END(case_watched)

/* Each is asked about when it has just run. */
FUNCTION(case_traps)
AT(trap_plain) mov 0x10(%rax,%rbx,4), %ecx
AT(trap_overwritten) mov 8(%rdx), %rdx
AT(trap_overwritten_index) mov (%rax,%rcx,8), %ecx
AT(trap_counting) incl (%rdi)
AT(trap_push) push %rbx
AT(trap_push_memory) push 8(%rax)
AT(trap_push_stack) push 8(%rsp)
AT(trap_pop) pop %rbx
AT(trap_pop_memory) pop 8(%rax)
AT(trap_pop_stack) pop 8(%rsp)
AT(trap_leave) leave
AT(trap_movs) movsq
AT(trap_lods) lodsl
AT(trap_scas) scasb
AT(trap_rep) rep movsb
AT(trap_after_rep) nop
AT(trap_tls) mov %fs:(%rdi), %rax
AT(trap_gather) vgatherdps %ymm1, (%rax,%ymm2,4), %ymm3
AT(trap_rip) mov case_data(%rip), %eax
AT(trap_narrow) mov 8(%edi), %ecx
AT(trap_xsave) xsave (%rdi)
AT(trap_fxsave) fxsave (%rdi)
AT(trap_nop) nopl (%rax)
AT(trap_call) call *8(%rax)
AT(trap_after_call) mov %rax, (%rbx)
AT(trap_before_rep) mov %rax, (%rdi)
AT(trap_rep_stos) rep stosq
AT(trap_indirect) jmp *(%rax)
AT(trap_after_jump) nop
    ret
END(case_traps)

/* A loop of six accesses, and what is around it. */
FUNCTION(case_loop)
AT(loop_entry) mov (%rdi), %rax
    xor %ecx, %ecx
    .p2align 4
AT(loop_body) mov (%rsi), %r8
AT(loop_2) add 8(%rsi), %r8
AT(loop_3) mov %r8, (%rdx,%rcx,8)
AT(loop_4) movzbl (%rdi,%rcx), %eax
AT(loop_5) movl $0, 4(%r9)
AT(loop_6) orl $2, 4(%r10)
    inc %rcx
    cmp $10, %rcx
AT(loop_branch) jb loop_body
AT(loop_behind) mov %rax, (%rdi)
    ret
END(case_loop)

/* Leaders from forward branches, from backward ones and behind calls; unlikely code at the end jumps back, which is no
 * loop. */
FUNCTION(case_branches)
    test %rdi, %rdi
    jz branch_cold
AT(branch_back) mov (%rdi), %rax
    test %rax, %rax
    js branch_forward
AT(branch_middle) mov 8(%rdi), %rax
AT(branch_forward) mov 16(%rdi), %rax
    call case_loop
AT(branch_called) mov 24(%rdi), %rax
    ret
    .p2align 4
AT(branch_cold) mov 32(%rsi), %rdi
    jmp branch_back
END(case_branches)

/* A loop around a switch; its cases are reached through a table alone. */
FUNCTION(case_switch)
    lea switch_table(%rip), %r11
AT(switch_head) movzbl (%rdi), %eax
    inc %rdi
    cmp $2, %eax
    ja switch_out
    movslq (%r11,%rax,4), %rax
    add %r11, %rax
    notrack jmp *%rax
AT(switch_case_0) mov %eax, (%rsi)
    jmp switch_head
AT(switch_case_1) mov %eax, 4(%rsi)
AT(switch_case_2) mov %eax, 8(%rsi)
    jmp switch_head
AT(switch_out) mov %eax, 12(%rsi)
    ret
END(case_switch)

/* The same with addresses in place of distances. */
FUNCTION(case_switch_addresses)
    lea switch_addresses(%rip), %r11
AT(addresses_head) movzbl (%rdi), %eax
    jmp *(%r11,%rax,8)
AT(addresses_case_0) mov %eax, (%rsi)
    jmp addresses_head
AT(addresses_case_1) mov %eax, 4(%rsi)
    ret
END(case_switch_addresses)

/* glibc's way to save a LOCK while there is one thread. */
FUNCTION(case_lock)
    cmpl $0, %fs:0x18
    je lock_without
AT(lock_with) .byte 0xf0
AT(lock_without) cmpxchg %ecx, (%rdi)
AT(lock_behind) mov %rax, (%rsi)
    ret
END(case_lock)

/* Data between the code that does not decode. */
FUNCTION(case_bad_data)
    test %rdi, %rdi
    jz bad_behind
    ret
AT(bad_inside) .byte 0x06, 0x06
AT(bad_behind) mov (%rdi), %rax
AT(bad_next) mov 8(%rdi), %rax
    ret
AT(bad_last) .byte 0x06
END(case_bad_data)

/* Data between the code that looks like the beginning of MOV with eight more bytes. */
FUNCTION(case_greedy_data)
    test %rdi, %rdi
    jz greedy_behind
    ret
AT(greedy_inside) .byte 0x48, 0xb8, 0x01
AT(greedy_behind) mov (%rdi), %rax
AT(greedy_next) mov 8(%rdi), %rax
    ret
END(case_greedy_data)

FUNCTION(case_many)
    .rept 100
    mov (%rdi), %rax
    .endr
    ret
END(case_many)

/* Larger than what is swept. */
FUNCTION(case_large)
    .rept 300000
    nop
    .endr
    ret
END(case_large)

/* A page of its own, to be made unreadable. */
    .p2align 12
FUNCTION(case_unreadable)
    mov (%rdi), %rax
    ret
END(case_unreadable)
    .p2align 12

/* To be run under a real breakpoint: run(data, more, count, pointers); each access is to `data` unless the name says
 * else. */
FUNCTION(run_load)
    mov (%rdi), %rax
    ret
END(run_load)
FUNCTION(run_store)
    movl $7, (%rdi)
    ret
END(run_store)
FUNCTION(run_overwritten)
    mov (%rdi), %rdi
    ret
END(run_overwritten)
FUNCTION(run_increment)
    incl (%rdi)
    ret
END(run_increment)
FUNCTION(run_rep_stos)
    mov %rdx, %rcx
    xor %eax, %eax
AT(run_rep_stos_at) rep stosb
    ret
END(run_rep_stos)
FUNCTION(run_rep_movs)
    mov %rdx, %rcx
AT(run_rep_movs_at) rep movsb
    ret
END(run_rep_movs)
FUNCTION(run_movs)
    movsq
    ret
END(run_movs)
FUNCTION(run_push_memory)
    .cfi_remember_state
AT(run_push_memory_at) push (%rdi)
    .cfi_adjust_cfa_offset 8
    pop %rax
    .cfi_restore_state
    ret
END(run_push_memory)
FUNCTION(run_wide)
    movups (%rdi), %xmm0
    ret
END(run_wide)
FUNCTION(run_gather)
    vpcmpeqd %xmm1, %xmm1, %xmm1
    vpxor %xmm2, %xmm2, %xmm2
AT(run_gather_at) vgatherdps %xmm1, (%rdi,%xmm2,4), %xmm3
    ret
END(run_gather)
FUNCTION(run_fxsave)
    fxsave (%rdi)
    ret
END(run_fxsave)
FUNCTION(run_call)
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
AT(run_call_at) call *(%rdi)
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    ret
END(run_call)

/* Hand-written code: no call frame information. */
    .globl case_bare
    .type case_bare, @function
    .p2align 4
case_bare:
    mov $100, %ecx
AT(bare_body) mov (%rsi), %rax
AT(bare_2) mov 8(%rsi), %rdx
AT(bare_3) sub $1, %ecx
    jne bare_body
    ret
AT(case_bare_end)
    .size case_bare, . - case_bare

    .section .rodata
    .p2align 3
switch_table:
    .long switch_case_0 - switch_table, switch_case_1 - switch_table, switch_case_2 - switch_table
    .long 0x7fffffff

    .section .data.rel.ro, "aw"
    .p2align 3
switch_addresses:
    .quad addresses_case_0, addresses_case_1, 0

    .bss
    .p2align 3
    .globl case_data
case_data:
    .zero 8

    .section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded, it makes dlsym() say that there is no _dl_find_object, as in glibc before 2.35. */
    .globl _dl_find_object
    .set _dl_find_object, 0
    .section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: Apache-2.0 */

/* The exported memcpy(), memmove() and mempcpy(), and the forms that FORTIFY makes of them. Every library calls these,
 * libpython and the profiler itself included, also in handlers and before any constructor. So each is one subtraction
 * from the thread's bytes until the next sample, a branch and a jump to the C library's function: nothing is saved, the
 * stack is not touched, and the processor keeps its arguments where they are. What is to be sampled takes a way of its
 * own to the same function.
 *
 * There is no loop here, because the compiler might make a call of memcpy() out of it. */

#include "profiler/heap/heap.h"
#include "runtime/libc/export.h"
#include "runtime/memory/copies.h"
#include "runtime/memory/tls.h"

#include <stdint.h>

#define CALLER __builtin_return_address(0)

extern __thread int64_t pie_copy_left PIE_TLS;

/* The same names as in the C library, whose headers are not asked: they would declare them as built in. */
PIE_EXPORT void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
PIE_EXPORT void *memmove(void *to, const void *from, size_t bytes);
PIE_EXPORT void *mempcpy(void *restrict to, const void *restrict from, size_t bytes);
PIE_EXPORT void *__memcpy_chk(void *restrict to, const void *restrict from, size_t bytes, size_t room);
PIE_EXPORT void *__memmove_chk(void *to, const void *from, size_t bytes, size_t room);
PIE_EXPORT void *__mempcpy_chk(void *restrict to, const void *restrict from, size_t bytes, size_t room);
void __chk_fail(void) __attribute__((noreturn)); /* glibc's: says "buffer overflow detected" and aborts */

static void *move_plainly(void *to, const void *from, size_t bytes) {
    void *at = to;

    if ((uintptr_t)to - (uintptr_t)from >= bytes) {
        __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
    } else {
        at = (char *)to + bytes - 1;
        from = (const char *)from + bytes - 1;
        __asm__ volatile("std\n\trep movsb\n\tcld" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
    }
    return to;
}

static void *append_plainly(void *to, const void *from, size_t bytes) {
    return (char *)move_plainly(to, from, bytes) + bytes;
}

static void *move_plainly_chk(void *to, const void *from, size_t bytes, size_t room) {
    if (bytes > room)
        __chk_fail();
    return move_plainly(to, from, bytes);
}

static void *append_plainly_chk(void *to, const void *from, size_t bytes, size_t room) {
    return (char *)move_plainly_chk(to, from, bytes, room) + bytes;
}

struct pie_copies_next pie_copies_next = {
    .memcpy = move_plainly,
    .memmove = move_plainly,
    .mempcpy = append_plainly,
    .memcpy_chk = move_plainly_chk,
    .memmove_chk = move_plainly_chk,
    .mempcpy_chk = append_plainly_chk,
};

/* The slow path is a jump: with a call the fast one would save registers for it. */
static inline bool is_due(size_t bytes) {
    return __builtin_expect((pie_copy_left -= (int64_t)bytes) < 0, 0);
}

static __attribute__((noinline)) void *sampled(void *to, const void *from, size_t bytes,
                                               void *(*next)(void *, const void *, size_t),
                                               const void *caller) {
    void *returned = next(to, from, bytes);

    pie_copy_slowly(to, from, bytes, caller); /* what becomes of it is watched from its end on */
    return returned;
}

static __attribute__((noinline)) void *sampled_chk(void *to, const void *from, size_t bytes, size_t room,
                                                   void *(*next)(void *, const void *, size_t, size_t),
                                                   const void *caller) {
    void *returned = next(to, from, bytes, room);

    pie_copy_slowly(to, from, bytes, caller);
    return returned;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
    if (is_due(bytes))
        return sampled(to, from, bytes, pie_copies_next.memcpy, CALLER);
    return pie_copies_next.memcpy(to, from, bytes);
}

void *memmove(void *to, const void *from, size_t bytes) {
    if (is_due(bytes))
        return sampled(to, from, bytes, pie_copies_next.memmove, CALLER);
    return pie_copies_next.memmove(to, from, bytes);
}

void *mempcpy(void *restrict to, const void *restrict from, size_t bytes) {
    if (is_due(bytes))
        return sampled(to, from, bytes, pie_copies_next.mempcpy, CALLER);
    return pie_copies_next.mempcpy(to, from, bytes);
}

void *__memcpy_chk(void *restrict to, const void *restrict from, size_t bytes, size_t room) {
    if (is_due(bytes))
        return sampled_chk(to, from, bytes, room, pie_copies_next.memcpy_chk, CALLER);
    return pie_copies_next.memcpy_chk(to, from, bytes, room);
}

void *__memmove_chk(void *to, const void *from, size_t bytes, size_t room) {
    if (is_due(bytes))
        return sampled_chk(to, from, bytes, room, pie_copies_next.memmove_chk, CALLER);
    return pie_copies_next.memmove_chk(to, from, bytes, room);
}

void *__mempcpy_chk(void *restrict to, const void *restrict from, size_t bytes, size_t room) {
    if (is_due(bytes))
        return sampled_chk(to, from, bytes, room, pie_copies_next.mempcpy_chk, CALLER);
    return pie_copies_next.mempcpy_chk(to, from, bytes, room);
}

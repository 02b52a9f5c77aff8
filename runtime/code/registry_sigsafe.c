/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/code/registry.h"

#include <stdatomic.h>

#include "profiler/base/hash.h"
#include "profiler/base/safe_load.h"
#include "profiler/stacks/cct.h"
#include "runtime/code/store.h"
#include "runtime/stacks/pyframe.h"

/* Code object addresses -> records, for handlers.
 *
 * The danger: an entry (address, id) outlives its code object, another code object is made at the address, and its
 * samples get the dead one's name. The entry is removed when the object is deallocated: every code object ends in
 * PyCode_Type.tp_dealloc, which code/registry.c has taken over. Why no entry slips through:
 *
 * 1. A handler interns only code that its own thread runs. A running frame owns a reference to its code object, and
 *    it is unlinked from the chain that the walker follows before that reference is dropped: 3.11 (from .1) and 3.12
 *    set cframe.current_frame, and later versions tstate->current_frame, to the caller before they clear the frame; the
 *    outermost frame of a loop is cleared by the loop's caller after the loop has restored tstate->cframe. A
 *    generator's frame is in the chain only while it runs, and then the chain's next frame keeps the generator alive.
 *    So between the start of the handler and its end the object cannot die, be it on this thread, which is in the
 *    handler, or on another one, which would need the last reference. Therefore "insert" never comes after "remove" of
 *    the same life.
 * 2. The removal sees the insertion: thread A inserted while it owned a reference; it gave that up later, with the GIL
 *    held; thread B that deallocates took the GIL after that. Without the GIL, A gave a counted reference up by an
 *    atomic operation, or it owns the object and deallocates it itself. A reference that is not counted (deferred) is
 *    missed by garbage collections only, which look at the frames of all threads while these are stopped or detached.
 * 3. Removal looks at every slot where the address can be, in both halves' tables (one may be cleared meanwhile, which
 *    does no harm), so two entries of one address are both removed.
 *
 * What is left is the window of 3.11 and 3.12 in which the walker may see the remains of a returned frame
 * (pyframe_datastack_sigsafe.c refuses nearly all of those). Three more nets are under it:
 * - while a code object is being deallocated on this thread, its address is refused (`deaths`), and removed once more
 *   at the end, before another object can be made there (the memory is freed with the GIL held, last of all). Without
 *   the GIL another thread may be faster: then its entry goes too, and its next sample makes it again;
 * - an entry carries a check word made of the addresses of the code object's name and line table: an entry of an
 *   earlier life does not match and is replaced;
 * - content is read by fault-tolerant loads and each object's type is verified; what is not whole gets no id.
 *
 * Ids can be wasted by all this, but that is harmless: equal contents share a record (code/store_sigsafe.c). */

/* Innermost first. Written by the thread itself, read by its handlers: the fences order it for the compiler. */
static __thread struct pie_code_death *volatile deaths;

static bool is_dying(uintptr_t code) {
    for (const struct pie_code_death *death = deaths; death; death = death->outer)
        if (death->code == code)
            return true;
    return false;
}

static bool read_check(uintptr_t code, uint32_t *ret_check) {
    uintptr_t qualname, linetable;

    if (!pie_safe_load((const void *)(code + offsetof(PyCodeObject, co_qualname)), &qualname) ||
        !pie_safe_load((const void *)(code + offsetof(PyCodeObject, co_linetable)), &linetable))
        return false;
    *ret_check = (uint32_t)(pie_hash_upper((qualname >> 3) * 31 + (linetable >> 3)) >> 32);
    return true;
}

uint32_t pie_code_registry_find(uintptr_t code) {
    struct pie_code_table *addresses = pie_code_store_own_addresses();
    uint32_t check;

    return addresses && read_check(code, &check) ? pie_code_table_find(addresses, code, check) : 0;
}

uint32_t pie_code_registry_intern(uintptr_t code) {
    struct pie_code_table *addresses = pie_code_store_own_addresses();
    struct pie_code_content content;
    uint32_t check, id;

    if (!addresses || is_dying(code) || !read_check(code, &check))
        return 0;
    id = pie_code_table_find(addresses, code, check);
    if (id)
        return id;
    if (!pie_code_content_read(code, &content))
        return 0;
    /* Code that is about to be called has no frame yet; when it runs, it is looked at again. */
    bool is_whole = !pie_code_is_sent(&content) || pie_code_sent_find(pie_pyframe_current_tstate(), code,
                                                                      &content.file) != PIE_CODE_SENT_RESTS;
    id = pie_code_store_add(&content);
    if (id && id != PIE_CCT_CODE_FULL && is_whole) {
        pie_code_table_remove(addresses, code);
        pie_code_table_insert(addresses, code, check, id);
    }
    return id;
}

static void forget(uintptr_t code) {
    for (unsigned half = 0; half < 2; half++) {
        struct pie_code_table *addresses = pie_code_store_addresses(half);
        if (addresses)
            pie_code_table_remove(addresses, code);
    }
}

void pie_code_registry_begin_death(struct pie_code_death *death, uintptr_t code) {
    death->code = code;
    death->outer = deaths;
    atomic_signal_fence(memory_order_seq_cst);
    deaths = death;
    atomic_signal_fence(memory_order_seq_cst);
    forget(code);
}

void pie_code_registry_end_death(struct pie_code_death *death) {
    forget(death->code);
    atomic_signal_fence(memory_order_seq_cst);
    deaths = death->outer;
}

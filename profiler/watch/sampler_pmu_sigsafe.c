/* SPDX-License-Identifier: Apache-2.0 */

/* The signal carries the data address, but its context is where the interrupt took effect, some instructions after the
 * access: which instruction it was is in the event's ring. One signal may stand for several samples (a second one does
 * not queue), so the ring is searched for the one whose address the signal carries.
 *
 * The ring is mapped read-only, which lets the kernel overwrite it and never stop. Records hold the hardware's word for
 * it: nothing in them is believed without a look. */

#include "profiler/watch/sampler_pmu.h"

#include "profiler/base/trap_info.h"
#include "profiler/code/access.h"
#include "profiler/thread/thread.h"

#include <signal.h>
#include <string.h>

enum { COOKIE_KINDS = 4 }; /* the lowest two bits: PIE_ACCESS_LOAD, PIE_ACCESS_STORE */

/* The lower half of the address space, but for the first page. */
#define USER_ADDRESS_MIN UINT64_C(0x1000)
#define USER_ADDRESS_END UINT64_C(0x0100000000000000) /* 57 bits: five-level page tables */

uint64_t pie_pmu_cookie(unsigned index, uint8_t kind) {
    return PIE_PMU_COOKIE | (uint64_t)index * COOKIE_KINDS | kind;
}

_Atomic(struct pie_pmu_thread *) pie_pmu_chunks[PIE_PMU_CHUNKS];

struct pie_pmu_thread *pie_pmu_thread_of(const struct pie_thread *thread) {
    size_t slot = pie_thread_index(thread), chunk = slot / PIE_PMU_CHUNK_THREADS;

    if (chunk >= PIE_PMU_CHUNKS)
        return NULL;
    /* acquire: pairs with the release in thread_make() */
    struct pie_pmu_thread *threads = atomic_load_explicit(&pie_pmu_chunks[chunk], memory_order_acquire);
    return threads ? &threads[slot % PIE_PMU_CHUNK_THREADS] : NULL;
}

bool pie_access_sampler_pmu_is_ours(const siginfo_t *info) {
    return pie_trap_is_perf(info) && (pie_trap_data(info) & PIE_PMU_COOKIE_MASK) == PIE_PMU_COOKIE;
}

static bool is_user_address(uint64_t address) {
    return address >= USER_ADDRESS_MIN && address < USER_ADDRESS_END;
}

static void copy_out(const struct perf_event_mmap_page *page, uint64_t at, void *ret_bytes, size_t size) {
    const char *data = (const char *)page + page->data_offset;
    size_t from = at % PIE_PMU_RING_BYTES, first = PIE_PMU_RING_BYTES - from;

    if (first > size)
        first = size;
    memcpy(ret_bytes, data + from, first);
    memcpy((char *)ret_bytes + first, data, size - first);
}

/* The first whole record: what was overwritten is lost. All of ours are of one size, so that a record begins there. */
static uint64_t first_of(uint64_t head, uint64_t seen) {
    if (seen <= head && head - seen <= PIE_PMU_RING_BYTES)
        return seen;
    return head < PIE_PMU_RING_BYTES ? 0 : head - PIE_PMU_RING_BYTES;
}

bool pie_pmu_ring_read(const struct perf_event_mmap_page *page, uint64_t address, uint64_t *seen,
                       struct pie_pmu_record *ret_record) {
    /* acquire: the kernel's barrier before it moves the head */
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    bool found = false;
    struct pie_pmu_record record;

    for (uint64_t at = first_of(head, *seen); at + sizeof record.header <= head; at += record.header.size) {
        copy_out(page, at, &record.header, sizeof record.header);
        if (record.header.size < sizeof record.header || record.header.size % 8 ||
            record.header.size > head - at)
            break; /* not the beginning of a record */
        if (record.header.type != PERF_RECORD_SAMPLE || record.header.size != sizeof record)
            continue;
        copy_out(page, at, &record, sizeof record);
        if (address && record.address != address)
            continue;
        *ret_record = record;
        found = true;
    }
    *seen = head;
    return found;
}

/* What IBS says that a tagged operation did. */
static uint8_t kind_of(uint64_t data_src) {
    union perf_mem_data_src source = {.val = data_src};
    bool is_load = source.mem_op & PERF_MEM_OP_LOAD, is_store = source.mem_op & PERF_MEM_OP_STORE;

    if (is_load == is_store)
        return 0; /* neither, or nobody knows which */
    return is_load ? PIE_ACCESS_LOAD : PIE_ACCESS_STORE;
}

/* Completes what the signal says by what the ring has. */
static bool refine(const struct pie_pmu_record *record, struct pie_access_sample *sample) {
    if (!is_user_address(record->ip))
        return false; /* the kernel was hit */
    if (sample->kind == (PIE_ACCESS_LOAD | PIE_ACCESS_STORE))
        sample->kind = kind_of(record->data_src);
    if (record->header.misc & PERF_RECORD_MISC_EXACT_IP) {
        sample->ip = record->ip;
        sample->is_precise = true;
    }
    if (!sample->address && is_user_address(record->address))
        sample->address = record->address;
    return true;
}

bool pie_access_sampler_pmu_read(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext,
                                 struct pie_access_sample *ret_sample) {
    unsigned index = (unsigned)(pie_trap_data(info) & ~PIE_PMU_COOKIE_MASK) / COOKIE_KINDS;
    struct pie_pmu_thread *state = pie_pmu_thread_of(thread);
    uint64_t address = (uintptr_t)info->si_addr;
    struct pie_access_sample sample = {
        .ip = (uint64_t)ucontext->uc_mcontext.gregs[REG_RIP],
        .address = is_user_address(address) ? address : 0,
        .kind = pie_trap_data(info) % COOKIE_KINDS,
    };
    struct pie_pmu_record record;

    if (!state || index >= PIE_PMU_EVENTS_MAX)
        return false;
    atomic_fetch_add_explicit(&state->signals[index], 1, memory_order_relaxed);
    const struct perf_event_mmap_page *page =
        atomic_load_explicit(&state->rings[index], memory_order_acquire);
    bool found = page && pie_pmu_ring_read(page, address, &state->seen[index], &record);
    if (pie_trap_is_late(info))
        return false;
    if (found && !refine(&record, &sample))
        return false;
    if (sample.kind != PIE_ACCESS_LOAD && sample.kind != PIE_ACCESS_STORE)
        return false;
    *ret_sample = sample;
    return true;
}

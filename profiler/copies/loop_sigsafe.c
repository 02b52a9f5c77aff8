/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/copies/loop.h"

#include "profiler/base/counters.h"
#include "profiler/base/home.h"
#include "profiler/code/access.h"
#include "profiler/code/modules.h"
#include "profiler/heap/heap.h"
#include "profiler/stacks/call_path.h"
#include "profiler/thread/thread.h"
#include "profiler/time/sample.h"

struct pie_thread_part pie_copy_loop_part = {.bytes = sizeof(struct pie_copy_ring)};

static uint32_t clipped(uint64_t ns) {
    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* Every call of a library makes an object at least: as long as nothing was allocated it is the same call. */
static uint64_t allocated_so_far(void) {
    const struct pie_heap_thread *heap = pie_heap_self;

    return heap
               ? heap->counts[PIE_HEAP_NATIVE].allocated_bytes + heap->counts[PIE_HEAP_PYTHON].allocated_bytes
               : 0;
}

static void locate(const struct pie_copy_site *site, const ucontext_t *ucontext,
                   struct pie_copy_record *record) {
    uint64_t registers[PIE_ACCESS_REGISTERS];

    pie_access_registers(ucontext, registers);
    record->address = (uint64_t)(int64_t)site->disp;
    if (site->base < PIE_ACCESS_REGISTERS)
        record->address += registers[site->base];
    if (site->index < PIE_ACCESS_REGISTERS)
        record->address += registers[site->index] * site->scale;
    if (site->step_register < PIE_ACCESS_REGISTERS)
        record->step = (int64_t)registers[site->step_register];
}

void pie_copy_loop_sampled(struct pie_thread *thread, const struct pie_sample *sample) {
    const struct pie_call_path *taken = sample->stacks;
    uint64_t ip = (uint64_t)sample->ucontext->uc_mcontext.gregs[REG_RIP];

    if (!taken->is_foreign || !taken->node.value || pie_home_contains((uintptr_t)ip) ||
        taken->native[0].module == PIE_CODE_MODULE_NOWHERE) /* another code may lie there next time */
        return;
    uint16_t generation = pie_copy_sites_generation();
    int site = pie_copy_site_find(ip);
    if (site == PIE_COPY_SITE_NONE)
        return;
    struct pie_copy_record record = {
        .cpu_ns = sample->cpu_ns,
        .address = ip,
        .stack = taken->native[taken->hybrid.native_on_top - 1].sp, /* foreign: there is a native frame */
        .allocated = allocated_so_far(),
        .user_ns = clipped(sample->time.user_ns),
        .system_ns = clipped(sample->time.system_ns),
        .node = taken->node,
        .site = site > 0 ? (uint16_t)site : 0,
        .generation = generation,
    };
    if (site > 0)
        locate(pie_copy_site_at(site), sample->ucontext, &record);
    if (!pie_copy_ring_push(pie_copy_loop_of(thread), &record))
        pie_counter_add(PIE_COUNTER_COPY_LOOP_RING_FULL, 1);
}

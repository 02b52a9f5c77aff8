/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/memory/facts.h"

#include "profiler/collect/engine.h"
#include "profiler/ports/facts.h"
#include "runtime/interpreter/finalizing.h"
#include "runtime/memory/allocator.h"
#include "runtime/retention/retention.h"
#include "runtime/stacks/gil.h"

static struct pie_memory_facts facts = {.is_finalizing = pie_python_is_finalizing};

/* Without the GIL Python's allocator reserves memory in large pieces, which would count as the program's. */
const struct pie_memory_facts *pie_memory_facts(void) {
    facts.is_counted = pie_gil_is_there && pie_allocator_check();
    facts.allocator = pie_allocator_name();
    facts.retention = pie_gil_is_there ? pie_runtime_retention_ops() : NULL;
    if (pie_gil_is_there && !facts.is_counted)
        pie_memory_facts_note(pie_allocator_refusal());
    return &facts;
}

void pie_memory_facts_note(const char *note) {
    atomic_store_explicit(&facts.note, note, memory_order_relaxed);
}

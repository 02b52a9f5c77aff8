/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/u64map.h"
#include "storage/own/source_text.h"
#include "storage/write/contexts.h"
#include "storage/write/writer_internal.h"

/* A program that makes code as long as it runs makes ever new names. What the writer remembers of them is there so that
 * a name is written once; one that no known location has is forgotten, and written anew should it come again. */

struct names {
    const struct pie_in_use *in_use;
    struct pie_u64map files, functions; /* of locations in use */
    bool is_short;                      /* of memory: all are kept */
};

static void note(struct names *names, struct pie_u64map *map, uint32_t id) {
    if (id && pie_u64map_put(map, id, 1) < 0)
        names->is_short = true;
}

static void see_owner(void *data, uint32_t id, void *entry) {
    struct names *names = data;
    const struct pie_writer_owner *owner = entry;

    if (!owner->function.value || !names->in_use->location(names->in_use->data, (struct pie_location_id){id}))
        return;
    note(names, &names->files, owner->file);
    note(names, &names->functions, owner->function.value);
}

static bool keeps_file(void *data, uint32_t file) {
    const struct names *names = data;

    return names->is_short || pie_u64map_get(&names->files, file);
}

static bool keeps_function(void *data, uint32_t id) {
    const struct names *names = data;

    return names->is_short || pie_u64map_get(&names->functions, id);
}

static bool keeps_location(void *data, uint32_t id) {
    const struct names *names = data;

    return names->in_use->location(names->in_use->data, (struct pie_location_id){id});
}

/* A part is a node's blocks of one size (writer_memory.c). */
static bool keeps_part(void *data, uint64_t part) {
    const struct names *names = data;

    return names->in_use->node(names->in_use->data, (struct pie_node_id){(uint32_t)(part / PIE_SIZES)});
}

static uint32_t keeps_cause(void *data, uint64_t key, uint32_t id) {
    const struct pie_in_use *in_use = data;

    return in_use->node(in_use->data, (struct pie_node_id){(uint32_t)key}) ? id : 0;
}

/* A map that cannot be shrunk stays as it is. */
void pie_writer_forget(struct pie_writer *writer, const struct pie_in_use *in_use) {
    struct names names = {.in_use = in_use};

    pie_sparse_each(&writer->owners, see_owner, &names);
    (void)pie_idmap_forget(&writer->files, keeps_file, &names);
    (void)pie_idmap_forget(&writer->functions, keeps_function, &names);
    (void)pie_idmap_forget(&writer->lines, keeps_location, &names);
    pie_sparse_forget(&writer->file_is_own, keeps_file, &names, NULL);
    pie_sparse_forget(&writer->owners, keeps_location, &names, NULL);
    pie_source_text_forget(writer->source, keeps_file, &names);
    writer->source_path = NULL;
    pie_line_curves_forget(writer->line_curves, keeps_part, &names);
    pie_contexts_forget(writer->contexts, in_use);
    pie_u64map_filter(&writer->first_causes, keeps_cause, (void *)in_use);
    pie_u64map_finish(&names.files);
    pie_u64map_finish(&names.functions);
}

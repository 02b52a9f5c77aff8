/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "profiler/memory.h"
#include "storage/contexts.h"
#include "storage/writer_internal.h"

/* Whose is code of a name that is no path, such as "<__array_function__ internals>"? Its file says nothing, and its module can
 * be asked only of the running interpreter. But it is made to stand between a library's code and others: whoever calls it
 * or is called by it directly and belongs to a distribution names it, the caller before the called. The standard library
 * names nobody: all code calls it, and it calls all code. */

struct pie_writer_owner {
    uint32_t file;       /* of a Python location */
    const char *library; /* NULL: nobody's that is known */
    bool is_nameless;    /* generated, and not known by whom */
};

static struct pie_writer_owner *entry_of(struct pie_writer *writer, uint32_t location) {
    if (location >= writer->owners_room) {
        uint32_t room = location + 256;
        struct pie_writer_owner *grown = pie_realloc(writer->owners, room * sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + writer->owners_room, 0, (room - writer->owners_room) * sizeof *grown);
        writer->owners = grown;
        writer->owners_room = room;
    }
    return &writer->owners[location];
}

int pie_writer_note_owner(struct pie_writer *writer, const struct pie_location *location, uint32_t file,
                          const char *library, bool is_own) {
    struct pie_writer_owner *owner = entry_of(writer, location->id);
    if (!owner)
        return -ENOMEM;
    *owner = (struct pie_writer_owner){
        .file = file,
        .library = library && strcmp(library, "python") != 0 ? library : NULL,
        .is_nameless = location->kind == PIE_LOCATION_PYTHON && location->file && location->file[0] == '<' &&
                       !is_own && !library,
    };
    return 0;
}

/* All locations of the file have its owner from now on. */
static int name(struct pie_writer *writer, uint32_t file, const char *library) {
    for (uint32_t i = 0; i < writer->owners_room; i++) {
        if (writer->owners[i].is_nameless && writer->owners[i].file == file) {
            writer->owners[i].library = library;
            writer->owners[i].is_nameless = false;
        }
    }
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_FILE_LIBRARY, "iit", writer->process, (int64_t)file,
                          library);
}

int pie_writer_name_generated(struct pie_writer *writer, const struct pie_node_row *node) {
    uint32_t above = node->parent ? pie_contexts_get_node(writer->contexts, node->parent).line_location : 0;
    const struct pie_writer_owner none = {0};
    const struct pie_writer_owner *called =
        node->location < writer->owners_room ? &writer->owners[node->location] : &none;
    const struct pie_writer_owner *caller = above < writer->owners_room ? &writer->owners[above] : &none;
    if (called->is_nameless && caller->library)
        return name(writer, called->file, caller->library);
    if (caller->is_nameless && called->library)
        return name(writer, caller->file, called->library);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "profiler/base/own_memory.h"
#include "storage/write/contexts.h"
#include "storage/write/writer_internal.h"

/* Whose is code of a name that is no path, such as "<__array_function__ internals>"? Its file says nothing, and its
 * module can be asked only of the running interpreter. But it is made to stand between a library's code and others:
 * whoever calls it or is called by it directly and belongs to a distribution names it, the caller before the called.
 * The standard library names nobody: all code calls it, and it calls all code. */

int pie_writer_note_owner(struct pie_writer *writer, const struct pie_location *location, uint32_t file,
                          struct pie_function_id function, const char *library, bool is_own) {
    struct pie_writer_owner *owner = pie_sparse_make(&writer->owners, location->id.value);
    if (!owner)
        return -ENOMEM;
    *owner = (struct pie_writer_owner){
        .file = file,
        .function = function,
        .library = library && strcmp(library, "python") != 0 ? library : NULL,
        .is_nameless = location->kind == PIE_LOCATION_PYTHON && location->file && location->file[0] == '<' &&
                       !is_own && !library,
    };
    return 0;
}

struct named {
    uint32_t file;
    const char *library;
};

static void name_if_of_file(void *data, uint32_t id, void *entry) {
    const struct named *named = data;
    struct pie_writer_owner *owner = entry;
    if (!owner->is_nameless || owner->file != named->file)
        return;
    owner->library = named->library;
    owner->is_nameless = false;
}

/* All locations of the file have its owner from now on. */
static int name(struct pie_writer *writer, uint32_t file, const char *library) {
    struct named named = {file, library};
    pie_sparse_each(&writer->owners, name_if_of_file, &named);
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_FILE_LIBRARY, "iit", writer->process, (int64_t)file,
                          library);
}

int pie_writer_name_generated(struct pie_writer *writer, const struct pie_node_row *node) {
    struct pie_location_id above = {0};
    if (node->parent.value)
        above = pie_contexts_get_node(writer->contexts, node->parent).line_location;
    const struct pie_writer_owner none = {0}, *called = pie_sparse_get(&writer->owners, node->location.value),
                                  *caller = pie_sparse_get(&writer->owners, above.value);
    called = called ? called : &none;
    caller = caller ? caller : &none;
    if (called->is_nameless && caller->library)
        return name(writer, called->file, caller->library);
    if (caller->is_nameless && called->library)
        return name(writer, caller->file, called->library);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/code/lines.h"

#include "runtime/code/line_table.h"
#include "runtime/code/store.h"

enum { PLACES = 64 };

/* The entry that was read last, for codes whose hashes end alike: a code's content never changes, and its hash stands
 * for it. The collection thread's own. */
static struct place {
    uint64_t hash; /* never 0 of a record */
    struct pie_line_entry entry;
} places[PLACES];

int32_t pie_code_lines_find(uint32_t code_id, uint32_t unit) {
    const struct pie_code_record *record = pie_code_store_get(code_id);

    if (!record)
        return 0;
    struct place *place = &places[(record->hash >> 32) % PLACES];
    if (place->hash != record->hash || unit < place->entry.first_unit)
        *place = (struct place){.hash = record->hash, .entry = {.current = (uint32_t)record->first_line}};
    do
        if (unit - place->entry.first_unit < place->entry.units)
            return place->entry.line;
    while (pie_line_table_next(pie_code_record_linetable(record), record->linetable_bytes, &place->entry));
    return 0;
}

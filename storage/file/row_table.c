/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/row_table.h"

#include <string.h>

struct registered {
    const struct pie_row_table_kind *kind;
    const void *data;
};

static const struct pie_row_table_kind *kind_of(const sqlite3_vtab_cursor *cursor) {
    return ((const struct pie_row_table *)cursor->pVtab)->kind;
}

static void *make_zeroed(size_t bytes) {
    void *memory = sqlite3_malloc64(bytes);

    return memory ? memset(memory, 0, bytes) : NULL;
}

static int connect(sqlite3 *db, void *data, int count, const char *const *words, sqlite3_vtab **ret_table,
                   char **ret_message) {
    const struct registered *registered = data;
    char *declaration = registered->kind->declare(db, registered->data);
    int code = declaration ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;

    sqlite3_free(declaration);
    if (code == SQLITE_OK)
        code = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    struct pie_row_table *table = code == SQLITE_OK ? make_zeroed(registered->kind->table_bytes) : NULL;
    if (!table)
        return code == SQLITE_OK ? SQLITE_NOMEM : code;
    table->db = db;
    table->kind = registered->kind;
    table->data = registered->data;
    *ret_table = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base) {
    struct pie_row_table *table = (struct pie_row_table *)base;

    if (table->kind->forget)
        table->kind->forget(table);
    sqlite3_free(table);
    return SQLITE_OK;
}

/* --- Planning --- */

/* NULL: it is none of ours. */
static const struct pie_row_table_condition *find(const struct pie_row_table_kind *kind,
                                                  const struct sqlite3_index_constraint *constraint) {
    bool is_comparison = constraint->op <= SQLITE_INDEX_CONSTRAINT_GE;

    for (const struct pie_row_table_condition *ours = kind->conditions; ours->operators; ours++)
        if (constraint->usable && ours->column == constraint->iColumn && is_comparison &&
            ours->operators & constraint->op)
            return ours;
    return NULL;
}

/* idxStr has a letter for each parameter of filter(): its values' bits. */
static unsigned take_conditions(const struct pie_row_table_kind *kind, sqlite3_index_info *info,
                                char *letters) {
    unsigned all = 0;
    int taken = 0;

    for (int i = 0; i < info->nConstraint; i++) {
        const struct pie_row_table_condition *ours = find(kind, &info->aConstraint[i]);
        if (!ours || all & ours->values)
            continue;
        all |= ours->values;
        letters[taken++] = (char)('0' + ours->values);
        info->aConstraintUsage[i].argvIndex = taken;
        info->aConstraintUsage[i].omit = ours->is_exact;
    }
    letters[taken] = 0;
    return all;
}

/* What one process costs makes SQLite ask for each process once. */
static int plan(sqlite3_vtab *base, sqlite3_index_info *info) {
    const struct pie_row_table_kind *kind = ((const struct pie_row_table *)base)->kind;
    char *letters = sqlite3_malloc(info->nConstraint + 1);

    if (!letters)
        return SQLITE_NOMEM;
    info->idxStr = letters;
    info->needToFreeIdxStr = 1;
    bool has_first = take_conditions(kind, info, letters) & 1;
    if (!has_first && kind->needs_first)
        return SQLITE_CONSTRAINT;
    info->estimatedCost = has_first ? kind->cost : kind->cost_of_all;
    info->estimatedRows = has_first ? kind->rows : kind->rows_of_all;
    return SQLITE_OK;
}

/* --- Reading --- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor) {
    const struct pie_row_table *table = (const struct pie_row_table *)base;
    struct pie_row_cursor *cursor = make_zeroed(table->kind->cursor_bytes);

    if (!cursor)
        return SQLITE_NOMEM;
    *ret_cursor = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    kind_of(base)->end((struct pie_row_cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *letters, int count,
                  sqlite3_value **arguments) {
    struct pie_row_cursor *cursor = (struct pie_row_cursor *)base;
    sqlite3_value *values[PIE_ROW_TABLE_VALUES] = {NULL};

    for (int i = 0; i < count; i++)
        for (int bit = 0; bit < PIE_ROW_TABLE_VALUES; bit++)
            if ((letters[i] - '0') & 1 << bit)
                values[bit] = arguments[i];
    cursor->nth = 0;
    return kind_of(base)->begin(cursor, values);
}

static int next(sqlite3_vtab_cursor *base) {
    struct pie_row_cursor *cursor = (struct pie_row_cursor *)base;

    cursor->nth++;
    return kind_of(base)->next(cursor);
}

static int is_at_end(sqlite3_vtab_cursor *base) {
    return !kind_of(base)->has_row((const struct pie_row_cursor *)base);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number) {
    kind_of(base)->answer((const struct pie_row_cursor *)base, number, context);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid) {
    *ret_rowid = ((const struct pie_row_cursor *)base)->nth;
    return SQLITE_OK;
}

struct pie_row_table *pie_row_table_of(const struct pie_row_cursor *cursor) {
    return (struct pie_row_table *)cursor->base.pVtab;
}

int pie_row_table_fail(struct pie_row_table *table, int code, char *message) {
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = message;
    return code;
}

int pie_row_table_add(sqlite3 *db, const char *name, const struct pie_row_table_kind *kind,
                      const void *data) {
    static const sqlite3_module module = {.iVersion = 1,
                                          .xCreate = connect,
                                          .xConnect = connect,
                                          .xBestIndex = plan,
                                          .xDisconnect = disconnect,
                                          .xDestroy = disconnect,
                                          .xOpen = open_cursor,
                                          .xClose = close_cursor,
                                          .xFilter = filter,
                                          .xNext = next,
                                          .xEof = is_at_end,
                                          .xColumn = column,
                                          .xRowid = rowid};
    struct registered *registered = sqlite3_malloc(sizeof *registered);

    if (!registered)
        return SQLITE_NOMEM;
    *registered = (struct registered){kind, data};
    return sqlite3_create_module_v2(db, name, &module, registered, sqlite3_free);
}

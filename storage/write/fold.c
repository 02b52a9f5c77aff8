/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/write/fold.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "profiler/base/own_memory.h"
#include "profiler/ports/sink.h"
#include "storage/file/db.h"
#include "storage/write/fold_sql.h"

/* A node stays if it is kept, if it and what it called have some weight, or if they were seen lately. All three hold of
 * a node's caller if they hold of the node, so what stays is a tree, and what folds below one node of it is gathered in
 * one place. Weight is the greatest share that the node has of anything the process did: computing, waiting,
 * allocating, … */

static const double WEIGHT_MAX = 0.001;

struct fold_node {
    uint32_t id, parent; /* parent 0: a root */
    uint32_t above;      /* id of the nearest caller that stays; 0: none */
    int32_t last_s;      /* slice in which it or what it called was seen last */
    double weight;
    bool stays;
};

struct tree {
    sqlite3 *db;
    int64_t process;
    struct fold_node *nodes; /* by id, so callers come first */
    size_t count;
};

/* Runs a statement with ?1 bound to the process and hands its rows on. Returns 0 or -errno. */
static int each_row(const struct tree *tree, const char *sql, int (*see)(void *data, sqlite3_stmt *row),
                    void *data) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(tree->db, sql, -1, &statement, NULL), r = 0;

    if (code == SQLITE_OK && sqlite3_bind_parameter_count(statement) > 0)
        code = sqlite3_bind_int64(statement, 1, tree->process);
    while (code == SQLITE_OK && r == 0) {
        int stepped = sqlite3_step(statement);
        if (stepped != SQLITE_ROW) {
            code = stepped;
            break;
        }
        r = see ? see(data, statement) : 0;
    }
    if (r == 0 && code != SQLITE_DONE)
        r = pie_db_errno(tree->db, code);
    sqlite3_finalize(statement);
    return r;
}

/* --- Reading --- */

static int add_node(void *data, sqlite3_stmt *row) {
    struct tree *tree = data;

    if (tree->count % 4096 == 0) {
        struct fold_node *grown = pie_realloc(tree->nodes, (tree->count + 4096) * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        tree->nodes = grown;
    }
    tree->nodes[tree->count++] = (struct fold_node){.id = (uint32_t)sqlite3_column_int64(row, 0),
                                                    .parent = (uint32_t)sqlite3_column_int64(row, 1)};
    return 0;
}

static int by_id(const void *key, const void *node) {
    uint32_t id = *(const uint32_t *)key, other = ((const struct fold_node *)node)->id;

    return id < other ? -1 : id > other;
}

static struct fold_node *find(const struct tree *tree, uint32_t id) {
    return bsearch(&id, tree->nodes, tree->count, sizeof *tree->nodes, by_id);
}

struct adding {
    const struct tree *tree;
    double *weights; /* of one table, by index; added up over callees below */
    double whole;
};

static int add_whole(void *data, sqlite3_stmt *row) {
    ((struct adding *)data)->whole = sqlite3_column_double(row, 0);
    return 0;
}

static int add_weight(void *data, sqlite3_stmt *row) {
    struct adding *adding = data;
    struct fold_node *node = find(adding->tree, (uint32_t)sqlite3_column_int64(row, 0));
    int last_s = sqlite3_column_int(row, 1);

    if (!node)
        return 0;
    node->last_s = last_s > node->last_s ? last_s : node->last_s;
    adding->weights[node - adding->tree->nodes] += sqlite3_column_double(row, 2);
    return 0;
}

/* Callees come after their callers. */
static void add_up(const struct adding *adding) {
    for (size_t i = adding->tree->count; i-- > 0;) {
        struct fold_node *node = &adding->tree->nodes[i], *caller = find(adding->tree, node->parent);
        double share = adding->whole > 0 ? adding->weights[i] / adding->whole : 0;
        node->weight = share > node->weight ? share : node->weight;
        if (caller)
            adding->weights[caller - adding->tree->nodes] += adding->weights[i];
        if (caller && caller->last_s < node->last_s)
            caller->last_s = node->last_s;
    }
}

static int weigh(const struct tree *tree, const struct pie_fold_weight *table) {
    struct adding adding = {.tree = tree, .weights = pie_calloc(tree->count, sizeof(double))};
    int r = adding.weights ? each_row(tree, table->whole, add_whole, &adding) : -ENOMEM;

    if (r == 0)
        r = each_row(tree, table->parts, add_weight, &adding);
    if (r == 0)
        add_up(&adding);
    pie_free(adding.weights);
    return r;
}

static int read_tree(struct tree *tree) {
    int r = each_row(tree, "SELECT id, coalesce(parent, 0) FROM node WHERE process = ?1 ORDER BY id",
                     add_node, tree);

    for (size_t i = 0; r == 0 && tree->count > 0 && i < PIE_FOLD_WEIGHTS; i++)
        r = weigh(tree, &pie_fold_weights[i]);
    return r;
}

/* --- Choosing --- */

static bool may_fold(const struct fold_node *node, const struct pie_in_use *in_use) {
    return node->weight < WEIGHT_MAX &&
           !(in_use && in_use->node(in_use->data, (struct pie_node_id){node->id}));
}

static int by_number(const void *a, const void *b) {
    int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;

    return first < second ? -1 : first > second;
}

/* What was seen last in this slice or before folds; -1: nothing does. */
static int64_t oldest_part(const struct tree *tree, const struct pie_in_use *in_use, double share) {
    int32_t *slices = pie_malloc((tree->count + 1) * sizeof *slices);
    size_t count = 0;

    if (!slices)
        return -1;
    for (size_t i = 0; i < tree->count; i++)
        if (may_fold(&tree->nodes[i], in_use))
            slices[count++] = tree->nodes[i].last_s;
    qsort(slices, count, sizeof *slices, by_number);
    int64_t last_s = count > 0 ? slices[(size_t)((double)(count - 1) * share)] : -1;
    pie_free(slices);
    return last_s;
}

static bool is_other(const struct fold_node *node) {
    return node->id == PIE_FOLD_OTHER_ID - node->parent;
}

/* Returns how many fold. What is "(other)" already goes with what it stands below. */
static size_t choose(struct tree *tree, const struct pie_in_use *in_use, double share) {
    int64_t last_s = oldest_part(tree, in_use, share);
    size_t folding = 0;

    for (size_t i = 0; i < tree->count; i++) {
        struct fold_node *node = &tree->nodes[i], *caller = find(tree, node->parent);
        node->above = caller ? caller->stays ? caller->id : caller->above : 0;
        if (is_other(node))
            node->stays = !caller || caller->stays;
        else
            node->stays = !may_fold(node, in_use) || node->last_s > last_s;
        folding += !node->stays;
    }
    return folding;
}

/* --- Folding --- */

static int note_folded(const struct tree *tree) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(tree->db, "INSERT INTO temp.folded VALUES (?, ?)", -1, &statement, NULL);

    for (size_t i = 0; i < tree->count && code == SQLITE_OK; i++) {
        const struct fold_node *node = &tree->nodes[i];
        if (node->stays)
            continue;
        sqlite3_bind_int64(statement, 1, node->id);
        sqlite3_bind_int64(statement, 2, PIE_FOLD_OTHER_ID - node->above);
        code = sqlite3_step(statement) == SQLITE_DONE ? sqlite3_reset(statement) : sqlite3_errcode(tree->db);
    }
    sqlite3_finalize(statement);
    return code == SQLITE_OK ? 0 : pie_db_errno(tree->db, code);
}

static int run_all(const struct tree *tree, const char *const *statements) {
    int r = 0;

    for (; r == 0 && *statements; statements++)
        r = each_row(tree, *statements, NULL, NULL);
    return r;
}

static void is_location_in_use(sqlite3_context *context, int count, sqlite3_value **values) {
    const struct pie_in_use *in_use = sqlite3_user_data(context);
    int64_t id = sqlite3_value_int64(values[0]);

    sqlite3_result_int(context,
                       in_use && in_use->location(in_use->data, (struct pie_location_id){(uint32_t)id}));
}

static int make_tables(const struct tree *tree) {
    static const char *const statements[] = {
        "CREATE TEMP TABLE IF NOT EXISTS folded (node INTEGER PRIMARY KEY, target INTEGER)",
        "CREATE TEMP TABLE IF NOT EXISTS repacked (slice_s, kind, block, rows)", "DELETE FROM temp.folded",
        "DELETE FROM temp.repacked", NULL};

    return run_all(tree, statements);
}

static int fold(const struct tree *tree, const struct pie_in_use *in_use) {
    int r = make_tables(tree);

    if (r == 0)
        r = note_folded(tree);
    if (r == 0 && sqlite3_create_function(tree->db, "pie_location_in_use", 1, SQLITE_UTF8, (void *)in_use,
                                          is_location_in_use, NULL, NULL) != SQLITE_OK)
        r = -ENOMEM;
    if (r == 0)
        r = run_all(tree, pie_fold_contexts_sql);
    return r < 0 ? r : each_row(tree, "DELETE FROM temp.folded", NULL, NULL);
}

int64_t pie_fold_contexts(sqlite3 *db, int64_t process, const struct pie_in_use *in_use, double share) {
    struct tree tree = {.db = db, .process = process};
    int r = read_tree(&tree);
    size_t folding = r == 0 ? choose(&tree, in_use, share) : 0;

    if (folding > 0)
        r = fold(&tree, in_use);
    pie_free(tree.nodes);
    return r < 0 ? r : (int64_t)folding;
}

/* --- Threads --- */

/* "Thread-17 (work)" and "Thread-18 (work)" do the same. */
static void kind_of_name(sqlite3_context *context, int count, sqlite3_value **values) {
    const char *name = (const char *)sqlite3_value_text(values[0]);
    char kind[256];
    size_t used = 0;

    for (; name && *name && used < sizeof kind - 1; name++) {
        bool is_digit = *name >= '0' && *name <= '9';
        if (!is_digit)
            kind[used++] = *name;
        else if (used == 0 || kind[used - 1] != '#')
            kind[used++] = '#';
    }
    if (name)
        sqlite3_result_text(context, kind, (int)used, SQLITE_TRANSIENT);
}

static int count_rows(void *count, sqlite3_stmt *row) {
    *(int64_t *)count = sqlite3_column_int64(row, 0);
    return 0;
}

int64_t pie_fold_threads(sqlite3 *db, int64_t process) {
    const struct tree tree = {.db = db, .process = process};
    int64_t folded = 0;
    int r = make_tables(&tree);

    if (r == 0 && sqlite3_create_function(db, "pie_kind_of_name", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                          kind_of_name, NULL, NULL) != SQLITE_OK)
        r = -ENOMEM;
    if (r == 0)
        r = each_row(&tree, pie_fold_threads_choose, NULL, NULL);
    if (r == 0)
        r = each_row(&tree, "SELECT count(*) FROM temp.folded", count_rows, &folded);
    if (r == 0 && folded > 0)
        r = run_all(&tree, pie_fold_threads_sql);
    return r < 0 ? r : folded;
}

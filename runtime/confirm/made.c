/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/confirm/confirm.h"

#include "profiler/base/hash.h"

/* What cannot be read is known by what it was made of: in XSLT(fromstring(TEXT)) the tree is the text's. That goes for
 * what a call made of long text and handed straight to the next call of its line. Nobody else holds it, so it has not
 * changed. Text is parsed, decoded or compiled, which leaves nothing to chance. Training with the same numbers may. */

enum { MADE_MAX = 4, TEXT_BYTES_MIN = 256 };

static struct made {
    const PyObject *object; /* not held: its address */
    const PyTypeObject *type;
    uint64_t hash;
    size_t text_bytes;
    uint32_t line;
} all_made[MADE_MAX]; /* the latest first */

static void drop(unsigned at) {
    for (; at < MADE_MAX - 1; at++)
        all_made[at] = all_made[at + 1];
    all_made[at] = (struct made){0};
}

static unsigned place_of(const PyObject *object) {
    unsigned at = 0;

    while (at < MADE_MAX && all_made[at].object != object)
        at++;
    return at;
}

bool pie_confirm_made_add(struct pie_confirm_digest *digest, uint32_t line, PyObject *object) {
    unsigned at = object && Py_REFCNT(object) == 1 ? place_of(object) : MADE_MAX;

    if (at == MADE_MAX || all_made[at].line != line || all_made[at].type != Py_TYPE(object))
        return false;
    digest->hash = pie_hash_mix(digest->hash, all_made[at].hash);
    digest->size_bytes += all_made[at].text_bytes;
    digest->text_bytes += all_made[at].text_bytes;
    digest->is_derived = true;
    digest->is_single = false;
    drop(at);
    return true;
}

void pie_confirm_made_note(const struct pie_confirm_digest *arguments, uint32_t line, PyObject *result,
                           bool is_value) {
    unsigned at = place_of(result);

    if (at < MADE_MAX) /* another object lay there */
        drop(at);
    if (is_value || !arguments->is_value || arguments->elements > 0 ||
        arguments->text_bytes < TEXT_BYTES_MIN || Py_REFCNT(result) != 1)
        return;
    for (at = MADE_MAX - 1; at > 0; at--)
        all_made[at] = all_made[at - 1];
    all_made[0] = (struct made){.object = result,
                                .type = Py_TYPE(result),
                                .hash = arguments->hash,
                                .text_bytes = arguments->text_bytes,
                                .line = line};
}

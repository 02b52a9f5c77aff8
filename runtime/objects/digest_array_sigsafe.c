/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/digest.h"

#include "profiler/base/hash.h"
#include "profiler/base/safe_load.h"
#include "runtime/objects/kind.h"

/* An array's value: its shape, and elements evenly spread over it. Those of a column, or of every n-th element, are
 * followed; of other views only the place is compared, since what lies between the elements is another's. */

/* Bytes of the floating-point numbers that elements consist of; 0: of others. */
static uint64_t float_bytes(const struct pie_array_layout *layout) {
    bool is_native = layout->byte_order == '=' || layout->byte_order == '<';

    if (!is_native || (layout->kind != 'f' && layout->kind != 'c'))
        return 0;
    return layout->kind == 'f' ? layout->element_bytes : layout->element_bytes / 2;
}

static void add_column(struct pie_digest *digest, const struct pie_array_layout *layout) {
    uint64_t seen = layout->count < digest->data_words_max ? layout->count : digest->data_words_max;

    if (seen < layout->count)
        digest->traits |= PIE_DIGEST_SAMPLED;
    for (uint64_t i = 0; i < seen && !digest->is_broken; i++) {
        uint64_t at = seen < layout->count ? i * (layout->count - 1) / (seen - 1) : i;
        uintptr_t element = layout->data + (uintptr_t)((int64_t)at * layout->stride_bytes);
        pie_digest_add_floats(digest, element, layout->element_bytes, 2, float_bytes(layout));
    }
}

static void add_place(struct pie_digest *digest, uintptr_t array, const struct pie_array_layout *layout) {
    digest->state = pie_hash_mix(digest->state, array);
    digest->state = pie_hash_mix(digest->state, layout->data);
    digest->traits |= PIE_DIGEST_OPAQUE;
    digest->is_blank = false;
    digest->is_unread = true;
}

bool pie_digest_add_array(struct pie_digest *digest, uintptr_t array) {
    struct pie_array_layout layout;
    uintptr_t length;

    if (!pie_object_array_layout(array, &layout))
        return false;
    pie_digest_add_word(digest, layout.element_bytes << 16 | layout.kind << 8 | layout.byte_order);
    for (int32_t i = 0; i < layout.n_dimensions; i++)
        if (pie_safe_load((const void *)(layout.dimensions + (size_t)i * sizeof length), &length))
            pie_digest_add_word(digest, length);
    if (layout.has_references)
        add_place(digest, array, &layout);
    else if (layout.is_dense)
        pie_digest_add_floats(digest, layout.data, layout.count * layout.element_bytes,
                              digest->data_words_max, float_bytes(&layout));
    else if (layout.n_dimensions == 1)
        add_column(digest, &layout);
    else
        add_place(digest, array, &layout);
    return true;
}

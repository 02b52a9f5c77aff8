/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runtime/confirm/confirm.h"

/* Between the files that read values. Context: gil. */

/* Adds bytes by their hash, if the budget still has as many. */
void pie_confirm_digest_add_bytes(struct pie_confirm_digest *digest, const void *bytes, size_t size);

/* tensors.c: adds a tensor of PyTorch by its content. False: it is none that can be read, and nothing was added. */
bool pie_confirm_digest_add_tensor(struct pie_confirm_digest *digest, struct _object *object);

/* Where the elements of an array lie. strides: in bytes. */
enum { PIE_CONFIRM_DIMENSIONS_MAX = 64 };
struct pie_confirm_array {
    const char *data;
    size_t element_bytes, count;
    int n_dimensions;
    int64_t shape[PIE_CONFIRM_DIMENSIONS_MAX], strides[PIE_CONFIRM_DIMENSIONS_MAX];
};

/* tensors.c: … of a tensor, while the object that is returned lives, which the caller releases. NULL: it is none that
 * can be read. */
struct _object *pie_confirm_tensor_array(struct _object *object, struct pie_confirm_array *ret_array);

/* tables.c: adds a range, or a frame, series or index of pandas by its content, as far as it can be read. False: it is
 * none, and nothing was added. */
bool pie_confirm_digest_add_table(struct pie_confirm_digest *digest, struct _object *object);

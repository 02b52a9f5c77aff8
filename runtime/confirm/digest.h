/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runtime/confirm/confirm.h"

/* Between the files that read values. Context: gil. */

/* Adds bytes by their hash, if the budget still has as many. */
void pie_confirm_digest_add_bytes(struct pie_confirm_digest *digest, const void *bytes, size_t size);

/* tensors.c: adds a tensor of PyTorch by its content. False: it is none that can be read, and nothing was added. */
bool pie_confirm_digest_add_tensor(struct pie_confirm_digest *digest, struct _object *object);

/* tables.c: adds a range, or a frame, series or index of pandas by its content, as far as it can be read. False: it is
 * none, and nothing was added. */
bool pie_confirm_digest_add_table(struct pie_confirm_digest *digest, struct _object *object);

/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/answers/held.h"

#include <errno.h>
#include <stdlib.h>

#include "launcher/answers/hard_end.h"

enum { HELD_BYTES = 4 << 20, PIECE_BYTES = 256 << 10 };

static bool has_printed;

bool pie_held_has_printed(void) {
    return has_printed;
}

static int begin(struct pie_held *held) {
    held->buffer = NULL;
    held->size = 0;
    held->text = open_memstream(&held->buffer, &held->size);
    return held->text ? 0 : -ENOMEM;
}

int pie_held_open(struct pie_held *held, FILE *out) {
    *held = (struct pie_held){.out = out};
    return begin(held);
}

static int end(struct pie_held *held, bool is_wanted) {
    int r = fclose(held->text) == 0 ? 0 : -ENOMEM;
    if (r == 0 && is_wanted && held->size > 0) {
        pie_hard_end_pause();
        held->is_through = has_printed = true;
        r = fwrite(held->buffer, 1, held->size, held->out) == held->size ? 0 : -EPIPE;
        pie_hard_end_resume();
    }
    free(held->buffer);
    held->text = NULL;
    return r;
}

int pie_held_row(struct pie_held *held) {
    long printed = ftell(held->text);
    if (printed < (held->is_through ? PIECE_BYTES : HELD_BYTES))
        return 0;
    int r = end(held, true), begun = begin(held);
    return r < 0 ? r : begun;
}

int pie_held_close(struct pie_held *held, bool is_wanted) {
    return held->text ? end(held, is_wanted) : -ENOMEM;
}

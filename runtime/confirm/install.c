/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/confirm/confirm.h"

#include <pthread.h>

#include "runtime/confirm/sites.h"

/* What counting begins with, whichever way this Python's calls are seen. */

static void after_fork_in_parent(void) {
    if (pie_confirm_board)
        pie_confirm_board->forks++;
}

static void after_fork_in_child(void) {
    pie_confirm_board = NULL; /* the memory is the parent's too */
}

int pie_confirm_install(struct pie_confirm_board *board) {
    int r = pie_confirm_codes_init();

    if (r < 0)
        return r;
    r = pthread_atfork(NULL, after_fork_in_parent, after_fork_in_child);
    if (r != 0)
        return -r;
    pie_confirm_board = board;
    r = pie_confirm_see_calls();
    board->is_counting = r == 0;
    if (r < 0)
        pie_confirm_board = NULL;
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct pie_reader;

/* SIGINT, SIGTERM and SIGHUP end the server, also while an answer is made. One in a process. Context: cli. */

/* Takes the signals over. Returns a descriptor that can be read from once one has come, or -errno. */
int pie_stop_init(void);
bool pie_stop_is_wanted(void);
/* What is asked of this reader ends, too; NULL before it is closed. */
void pie_stop_watch(struct pie_reader *reader);

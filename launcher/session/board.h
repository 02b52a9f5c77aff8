/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

struct pie_confirm_board;

/* The memory in which a second run counts (runtime/confirm/board.h), and how the process of that run finds it. */

/* A board that a child process can take over. Returns 0, with *ret_fd, or -errno. Context: cli. */
int pie_confirm_board_create(struct pie_confirm_board **ret_board, int *ret_fd);
/* The setting for that child, "NAME=value". Context: cli. */
void pie_confirm_board_variable(int fd, char *text, size_t size);
/* In that child: maps it, and removes all signs of it. NULL: this process counts nothing. Context: launcher. */
struct pie_confirm_board *pie_confirm_board_take(void);

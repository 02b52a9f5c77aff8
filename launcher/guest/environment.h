/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct pie_child_env;
struct pie_confirm_board;

/* What the core finds in the environment of its process, in the order of pie_guest_enter(): nothing of it stays there,
 * neither for the program and its children nor in /proc/self/environ. */

/* Takes our entries out. argv: that of main(), behind which the kernel has put the environment. *ret_preload is the
 * LD_PRELOAD that has brought us here, without the libraries of the program's (heap). *ret_board: where calls are to be
 * counted, NULL: nowhere. Returns false, with nothing changed, where we were not invited. Context: launcher (before
 * Python starts). */
bool pie_guest_take(int argc, char **argv, struct pie_child_env *ret_child,
                    struct pie_confirm_board **ret_board, char **ret_preload);

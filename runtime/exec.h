/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Children that start the same interpreter. The program exports execve and its family and posix_spawn; a call whose
 * path is the target interpreter (same device and inode, a --copies copy of it, or a script whose #! names it) gets our
 * image instead, argv untouched, and one environment variable that ties the child to the run. Everything else passes
 * through. Works in a vfork child: no allocation, no locks.
 * Context: hook. */

/* target: the interpreter we impersonate; self: our own image; child_variable: "NAME=value" to add to the environment
 * of redirected children, or NULL not to redirect. Strings are borrowed for the life of the process.
 * Context: launcher, before Python starts. */
void pie_exec_set_target(const char *target, const char *self);
/* May be called again when the value changes (the run id becomes known). Context: any. */
void pie_exec_set_child_variable(const char *name_and_value);

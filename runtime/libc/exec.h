/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Children that start the same interpreter. The program exports execve and its family and posix_spawn. A call may name
 * the target interpreter: same device and inode, a --copies copy of it, or a script whose #! names it. Such a call gets
 * our image instead, argv untouched. It also gets two environment variables that tie the child to the run: the one
 * given here, and PIE_EXEC_RUN_VARIABLE. The same goes for our own image under a Python name. Everything else passes
 * through. A program that replaces itself ends its profile first. Works in a vfork child: no allocation, no locks.
 * Context: hook. */

/* In the environment of redirected children: "<run id>:<pid of the process that started it>". Run id 0: the
 * parent itself is not being profiled. */
#define PIE_EXEC_RUN_VARIABLE "_PIEPROF_RUN"

/* target: the interpreter we impersonate, or NULL where only our own image is to be tied to the run; self:
 * our own image. Strings are borrowed for the life of the process. Context: launcher (before Python starts).
 */
void pie_exec_set_target(const char *target, const char *self);
/* preload: "LD_PRELOAD=…", with which an interpreter takes us in as a guest; children then stay the interpreter that
 * was called, with this entry behind those of their environment: of two the loader takes the last one. NULL (as at the
 * start): children become our image. Borrowed. Context: launcher (before Python starts). */
void pie_exec_set_preload(const char *preload);
/* child_variable: "NAME=value" to add to the environment of redirected children, or NULL (as at the start)
 * not to redirect. Borrowed. May be called again when the value changes. Context: any. */
void pie_exec_set_child_variable(const char *child_variable);

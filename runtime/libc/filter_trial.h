/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A seccomp filter that this program was started under, as a service of systemd, in a container or in a sandbox. Most
 * filters refuse a call with an error, which the profiler survives. A filter that ends the process for a call of the
 * profiler alone would end a program that runs well under python3. */

/* Makes each of the profiler's own kinds of system calls once, without effect, in a child, where the process is under a
 * filter. Returns NULL, or the name of the first that ended the child. The caller sees neither SIGCHLD nor a child to
 * wait for. Takes 20 us without a filter. Context: launcher (before Python starts and before threads exist). */
const char *pie_filter_trial(void);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Everything the runtime takes over in the C library and in CPython before Python starts: fork handlers, the
 * exported pthread_create, sigaction and friends become active, PyCode_Type.tp_dealloc is watched.
 * Returns 0 or -errno. Context: launcher (before Python starts). */
int pie_runtime_install(void);

/* The table through which the engine reads Python stacks, for the Python this program is built with. */
struct pie_pystack_ops;
const struct pie_pystack_ops *pie_runtime_pystack_ops(void);

/* Why Python stacks cannot be read here (the libpython loaded is not the one built against), one sentence for people,
 * or NULL. Then the table above says that no thread runs Python. Context: any. */
const char *pie_runtime_pystack_refusal(void);

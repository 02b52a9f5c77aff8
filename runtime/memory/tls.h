/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How the counted functions reach variables of their thread. In a program that takes one instruction, in the core,
 * which is loaded into one (design/46-guest.md), two. */
#ifdef PIE_IS_CORE
#define PIE_TLS __attribute__((tls_model("initial-exec")))
#else
#define PIE_TLS __attribute__((tls_model("local-exec")))
#endif

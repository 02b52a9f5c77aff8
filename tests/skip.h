/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cmocka's skip() has no place for a reason: it goes on the line before, where scripts/test finds it. */
#define skip_because(reason) (print_message("# " reason "\n"), skip())

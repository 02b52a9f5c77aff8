/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A function of the C library that the program defines itself: exported, so that libpython and every library
 * loaded later calls it instead of the C library's. */
#define PIE_EXPORT __attribute__((visibility("default")))

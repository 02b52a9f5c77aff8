/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interpreter/lock_methods.h"

void pie_lock_methods_install(void) {}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Holders of threading.Lock and RLock from CPython 3.14 on. Before, a lock is a semaphore, and
 * runtime/libc/semaphores.c sees who takes it. Context: gil. */
void pie_lock_methods_install(void);

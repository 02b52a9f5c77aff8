/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <pthread.h>

/* Functions of the C library that this program exports versions of its own of (runtime/): the originals. */

/* Resolves them. Context: launcher (before anything else). */
void pie_real_init(void);

/* Context: any. */
int pie_real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                            void *argument);

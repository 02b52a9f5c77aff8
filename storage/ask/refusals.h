/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The line for people who ask for what a profile does not have, or what another command does; NULL: the words are none
 * of these. Context: cli. */
const char *pie_refusal_find(const char *words);

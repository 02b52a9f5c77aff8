/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The collectors that there are. */

/* Gives each its part of threads' slots. Context: engine start, before the first thread begins. */
void pie_collectors_lay_out_threads(void);

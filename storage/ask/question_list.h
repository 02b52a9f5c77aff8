/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

#include "storage/ask/questions.h"

/* Questions about pieprof itself. Context: cli. */

/* Writes a subquery with the rows of a list: nth, and question, view, also (other ways to say it); or name, type
 * ("view" or "table") and columns of all that SQL can read. */
void pie_question_write_list(FILE *out, enum pie_question_list list);

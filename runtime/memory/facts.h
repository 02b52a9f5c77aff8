/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_memory_facts;

/* The facts about this process's memory for the engine. Context: launcher. */
const struct pie_memory_facts *pie_memory_facts(void);

/* Sets the note on memory that is not measured, and the reason, in one sentence; it replaces an earlier one.
 * Context: launcher. */
void pie_memory_facts_note(const char *note);

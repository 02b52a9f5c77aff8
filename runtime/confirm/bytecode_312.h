/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_confirm_code;

/* A code object's bytecode as the interpreter has specialised it. Events take that away, and the interpreter would
 * begin anew; 3.12 never puts a superinstruction back. Called with the GIL held. */

/* Keeps it, before events are switched on. Where somebody else's events are on already, nothing is kept. */
void pie_confirm_bytecode_keep(struct pie_confirm_code *code);
/* Puts it back, after events are switched off; nothing if somebody else's are on. */
void pie_confirm_bytecode_put_back(struct pie_confirm_code *code);

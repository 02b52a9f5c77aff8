/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Our tool of sys.monitoring, which is there only while nobody else watches the program (monitoring_312.c). All of it
 * is called with the GIL held. */

struct _object;
struct pie_confirm_code;

/* Called for an event with the code object and the offset of the instruction in bytes. Returns whether this place needs
 * no more events of this kind. Never raises an exception. */
typedef bool pie_monitoring_callback(struct _object *code, struct _object *offset);

struct pie_monitoring_callbacks {
    pie_monitoring_callback *start;       /* a frame begins, of any code */
    pie_monitoring_callback *unwind;      /* a frame is left by an exception */
    pie_monitoring_callback *instruction; /* of code that is armed */
    void (*gone)(void);                   /* no events come any more, until further notice */
};

/* Takes a tool, unless somebody else watches. Returns 0 or -errno. */
int pie_monitoring_begin(const struct pie_monitoring_callbacks *callbacks);

/* Does somebody else watch: another tool, a trace or a profile function? */
bool pie_monitoring_has_others(void);

/* The tool is given back, and taken again when nobody else watches any more. */
void pie_monitoring_step_aside(void);

/* Switches the events of instructions of a code object on. */
void pie_monitoring_arm(struct pie_confirm_code *code);

/* --- A tool that is there only for a short while at a time --- */

/* In place of pie_monitoring_begin(): callbacks->gone() is called before somebody else comes, and gives the tool back.
 * Returns 0 or -errno; -ENOSYS: this interpreter's structures are others than those of the headers. */
int pie_monitoring_prepare(const struct pie_monitoring_callbacks *callbacks);
/* Takes a tool. No event is on before a code object is armed, then those of its instructions and beginnings are. False:
 * somebody else watches, or has all tools. */
bool pie_monitoring_take(void);
/* Switches all events off and gives the tool back. False: it is still taken, since this is another interpreter. */
bool pie_monitoring_give_back(void);

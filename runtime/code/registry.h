/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/code/store.h"
#include "runtime/objects/pystr.h"

struct PyCodeObject;

/* Which record belongs to the code object at an address, kept right although code objects die and their addresses are
 * used again. The life-time argument is at the head of code/registry_sigsafe.c. */

/* Watches the death of code objects (PyCode_Type.tp_dealloc) from now on. To be called before Python starts: a code
 * object that died unseen could leave its name to another one. Idempotent. Context: launcher (before Python starts). */
void pie_code_registry_install(void);

/* hook() sees the code of each module that dies, which is when it has been run. Context: launcher (before Python
 * starts; the hook's: gil). */
void pie_code_registry_on_module_run(void (*hook)(struct PyCodeObject *code));

/* See pie_pystack_ops.intern and .intern_by_content. Context: signal, drain. */
uint32_t pie_code_registry_intern(uintptr_t code);
uint32_t pie_code_registry_intern_by_content(uintptr_t code, uintptr_t tstate);

/* The id that the code object at this address was interned under by the thread that ran it; 0: none. Context: signal,
 * drain. */
uint32_t pie_code_registry_find(uintptr_t code);

/* Calls visit() with each code object that samples have met and that is still there. It must not drop any. Context:
 * gil. */
void pie_code_registry_visit(void (*visit)(struct PyCodeObject *code));

/* --- between code/registry.c and code/registry_sigsafe.c; Context: gil --- */

/* One code object that is being deallocated on this thread; deallocations nest (constants hold code objects). */
struct pie_code_death {
    uintptr_t code;
    struct pie_code_death *outer;
};

/* Forgets the address and refuses to intern it on this thread, until end. */
void pie_code_registry_begin_death(struct pie_code_death *death, uintptr_t code);
void pie_code_registry_end_death(struct pie_code_death *death);

/* --- between these files --- */

/* Functions that were sent to another process by value. joblib, Dask, Ray and PySpark send those of the main program,
 * by cloudpickle, which writes "<dynamic-code>" for the file of the code object. The lines stay those of the program,
 * and its __file__ is among the globals that are sent along. */

/* Was this code sent? Context: signal, drain. */
bool pie_code_is_sent(const struct pie_code_content *content);

enum pie_code_sent_state {
    PIE_CODE_SENT_RESTS,     /* the thread does not run it: of its function nothing is known */
    PIE_CODE_SENT_NO_FILE,   /* it has none, as in a notebook */
    PIE_CODE_SENT_FROM_FILE, /* *ret_file was set */
};

/* The file that code which was sent was written in, as a thread with this Python thread state runs it. Context: signal,
 * drain. */
enum pie_code_sent_state pie_code_sent_find(uintptr_t tstate, uintptr_t code, struct pie_pystr *ret_file);

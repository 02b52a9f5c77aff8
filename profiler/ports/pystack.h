/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The engine's view of the interpreter: a table that runtime/ fills in, so that profiler/ needs no Python.h.
 *
 * A Python frame as read from the interpreter's own structures. `marker` is an address inside the C frame of the
 * evaluation loop that runs this frame as its outermost one (3.11: the _PyCFrame; 3.12+: the entry frame that
 * lies on the C stack), or 0 for a frame that the same loop runs inlined under another. See
 * runtime/stacks/pyframe_*.c for where each version keeps it. */
struct pie_pyframe {
    uintptr_t code;   /* address of the PyCodeObject */
    uintptr_t instr;  /* address of the current code unit inside the code object */
    uintptr_t marker; /* see above */
};

enum pie_pystack_flags {
    PIE_PYSTACK_PYTHON_THREAD = 1, /* the thread has a Python thread state */
    PIE_PYSTACK_TRUNCATED = 2,     /* deeper than max: the outer part is missing */
    PIE_PYSTACK_INVALID = 4, /* the chain was being changed: frames hold what could be read before that */
    PIE_PYSTACK_IN_CALL =
        8, /* the innermost frame is at an instruction that calls (CALL…, not an operator) */
};

/* The operation of a code unit, which shows the purpose of a native call. */
enum pie_operation {
    PIE_OPERATION_OTHER,
    PIE_OPERATION_SUBSCRIPT,       /* a[i] is read */
    PIE_OPERATION_STORE_SUBSCRIPT, /* a[i] is written or deleted */
    PIE_OPERATION_CALL,
    PIE_OPERATION_OPERATOR, /* a + b, -a, a += b, a < b, a in b */
    PIE_OPERATION_ITERATE,  /* the next one of a for loop; unpacking */
    PIE_OPERATION_ATTRIBUTE,
    PIE_OPERATION_MASK = 15,
    PIE_OPERATION_IN_LOOP = 16, /* flag: lies in a loop of its function's own code */
    PIE_OPERATION_IN_FOLD = 32, /* flag: … in one that only sums up, counts or compares single elements */
    PIE_OPERATION_IN_FILL = 64, /* flag: … in one that sets them, too, to what is the same or is copied */
};

/* The kind of object at an address. */
enum pie_object_kind {
    PIE_OBJECT_NONE,  /* no Python object */
    PIE_OBJECT_PLAIN, /* an object */
    PIE_OBJECT_TYPE,  /* a type */
    PIE_OBJECT_DTYPE, /* a NumPy dtype */
    PIE_OBJECT_ARRAY, /* a NumPy array */
};

/* What a call returned. It was made by the call, and says something of it, unless it is None, arrays of zeros, what is
 * empty, or an object that is kept and handed out again; small numbers and short text, which Python keeps, count.
 *
 * is_read_out: text, a list, a dict or a set, which calls often read out of something, such as a file. It is to be
 * compared by itself only beside arguments that are read in full, or where there are none. */
struct pie_value {
    uintptr_t object; /* its address */
    uint64_t content; /* digest of its value; 0: it cannot be read */
    uint64_t variety; /* a bit for each of its words, by its hash: no more bits than different words */
    bool is_made;
    bool is_new;        /* … and an object of its own, none that Python keeps */
    bool is_comparable; /* … all of which can be read, so an equal content is the same result */
    bool is_read_out;   /* see above */
};

/* The floating-point numbers of a value, to be compared within a tolerance: sums of at most 32 of those that the digest
 * looks at, the n-th number in sum n % PIE_VALUE_SUMS. So up to 32 numbers each have a sum of their own. If numbers
 * differ by at most a part of themselves, so do the sums, by at most the same part of the sizes. */
enum { PIE_VALUE_SUMS = 32 };
struct pie_value_floats {
    uint64_t rest; /* digest of all else: types, lengths, integers, text, what is not finite */
    uint32_t count;
    double sums[PIE_VALUE_SUMS], sizes[PIE_VALUE_SUMS]; /* sizes: the sums of the absolute values */
};

/* Words of the data of an array, evenly spread. */
enum { PIE_VALUE_WORDS_MAX = 32 };
struct pie_value_words {
    uint64_t bytes; /* of the whole data */
    uint32_t step_bytes, count;
    uint64_t words[PIE_VALUE_WORDS_MAX];
};

/* What the digest of a value leaves open. */
enum pie_digest_traits {
    PIE_DIGEST_OPAQUE =
        1, /* a part of it has no value that can be read: its place and first words are in `state` */
    PIE_DIGEST_SAMPLED = 2, /* a part of it is long, and was not read in full */
};

/* The arguments of a call, with its self and what is called, and its result. Digests are 64 bits: of equal values the
 * same, of others hardly. */
struct pie_call_digest {
    uint64_t content; /* of the values; another one means other arguments, for certain */
    uint64_t state;   /* of what has no value that can be read; another one may mean other arguments */
    uint64_t result;  /* of the result's value; 0: it cannot be read */
    uint8_t traits;   /* pie_digest_traits, of the arguments */
    bool is_telling;  /* would a call with the same three be the same call again? */
    bool is_likely;   /* … most likely, but for what was left out of long arguments */
    bool is_new;      /* the result is an object of its own, no small number that Python keeps */
    uint64_t kept;    /* the result's address, if it is an object that others keep, and no argument; else 0 */
};

/* The arguments of a call, with its self, as its caller's evaluation stack has them. */
enum { PIE_CALL_OBJECTS = 8 };
struct pie_call_arguments {
    uint64_t content, state; /* as in struct pie_call_digest */
    uint8_t traits;          /* pie_digest_traits */
    bool is_constructor;     /* a type is called, or with types alone */
    bool has_iterator;       /* one of them has a next item, which may lie in an object that is used again */
    uint32_t count;
    uintptr_t objects[PIE_CALL_OBJECTS]; /* the first of them */
};

/* A call of a Python function that the caller's evaluation loop makes by itself, without a native call: it moves the
 * arguments from the caller's evaluation stack into the function's frame, and its result onto that stack when it
 * returns. */
struct pie_python_call {
    struct pie_call_arguments arguments;
    uintptr_t unit;        /* the code unit that calls */
    uintptr_t frame, code; /* of the caller */
    uintptr_t callee;      /* code of the function */
    uintptr_t result_at; /* where the result will be stored, a word; nothing else is until the call is over */
    uintptr_t result;    /* once it has returned */
};

/* A long value that a native call reads, of one kind. */
enum pie_read_kind {
    PIE_READ_NONE,
    PIE_READ_SEARCH = 1, /* an item is searched for in a list or tuple, from its beginning */
    PIE_READ_ARGUMENT =
        2, /* the longest argument: text, bytes, the data of an array or tensor, a list, a tuple */
    PIE_READ_SORT = 3,    /* list.sort(); size is 0 while it is at work, since its list is empty then */
    PIE_READ_JOIN = 4,    /* + copies a list or tuple */
    PIE_READ_CHOICE = 5,  /* min(), max() or sorted() of a list or set */
    PIE_READ_PATTERN = 6, /* text, in which a compiled pattern is searched */
    PIE_READ_SKIP = 7,    /* itertools.islice() of an iterator that was made for it */
    PIE_READ_FIELD = 8,   /* struct.unpack() and its like */
    PIE_READ_READER = 9,  /* csv.reader() is made */
    PIE_READ_FOLD = 10,   /* no call: an instruction that may lie in a loop with PIE_OPERATION_IN_FOLD, … */
    PIE_READ_FILL = 11,   /* … or with PIE_OPERATION_IN_FILL, as the collection thread finds out */
    PIE_READ_KINDS,
};

/* SKIP, FIELD, READER, FOLD and FILL are not compared. Each sample says something by itself. */
enum pie_read_saying {
    PIE_READ_SAYS_NOTHING, /* FOLD: it stands at no a[i], or it is not known how long the range was */
    PIE_READ_SAYS_YES, /* SKIP: it passes over items that nobody gets; FIELD: one number is unpacked; READER: of one
                          line; FOLD: at a[i] of text, bytes, a list, a tuple or an array, in a range of 16 or more;
                          FILL: the same, or at a[i] = x */
    PIE_READ_SAYS_NO,
};

struct pie_call_read {
    uint64_t object; /* its address */
    uint64_t
        size; /* SEARCH, CHOICE: items; SKIP: those before the first that is handed out; FIELD, READER: what it
                        is for; FOLD, FILL: rounds, from 3.12 on those that are left; else bytes, those of an item's
                        address for a list or tuple */
    uint64_t
        beginning; /* digest of words at the beginning and, ever farther apart, up to a fourth of it at least */
    uint64_t
        beginning_up; /* the same for one that is half as long: what a longer one is compared by; CHOICE: digest of
                              all items */
    uint64_t rest;     /* ARGUMENT, SORT: digest of what is called and of all other arguments; PATTERN: of the
                              pattern; CHOICE: of the first items */
    uint8_t kind;      /* pie_read_kind */
    uint8_t octave;    /* binary logarithm of its words, rounded down */
    uint8_t saying;    /* pie_read_saying */
    bool is_temporary; /* SEARCH: only the call has it */
};

/* Such calls. Context: signal (all functions). */
struct pie_python_call_ops {
    /* The code unit of the call that a frame waits for at instr; 0: it is no such call. */
    uintptr_t (*find_unit)(uintptr_t code, uintptr_t instr);
    /* The evaluation loop has just come to the code unit, and the arguments lie on the stack. False: it has not, or
     * what is called is no Python function, or one that hands out a generator or coroutine. */
    bool (*begin)(uintptr_t unit, struct pie_python_call *ret_call);
    /* result_at has just been stored to. Was that the call's end? Notes the result. False: the call was left by an
     * exception, or its frame is gone. */
    bool (*end)(struct pie_python_call *call);
    /* Does the function itself change what may outlive its call: a variable of others, an attribute, an item, or by a
     * call whose result it drops? True also where that cannot be seen. */
    bool (*acts)(uintptr_t callee);
    /* See call_digest; of a call that has ended. */
    void (*digest)(const struct pie_python_call *call, const struct pie_value *result,
                   struct pie_call_digest *ret_digest);
};

/* Whose code an interned code object is. */
enum pie_code_owner {
    PIE_CODE_OWNER_UNKNOWN, /* nobody has said so yet */
    PIE_CODE_OWNER_OWN,     /* the user's, from a file */
    PIE_CODE_OWNER_LIBRARY, /* a library's, the standard library among them; or made from a string */
};

/* A task of an event loop that is suspended. */
enum { PIE_AWAIT_NAME_CHARACTERS = 40, PIE_AWAIT_NAME_BYTES = 4 * PIE_AWAIT_NAME_CHARACTERS + 4 };
struct pie_await {
    uintptr_t task;
    uintptr_t awaits;      /* the future or task that it waits for; 0: not known */
    uintptr_t awaiter;     /* the task that waits for this one, alone or among others; 0: not known */
    uintptr_t group;       /* the object whose method is called when it is done; 0: none */
    uintptr_t self;        /* the first local variable of its innermost coroutine; 0: none */
    uint32_t first, count; /* its coroutines, outermost first, in the array of frames */
    bool is_gather;        /* waits for several others */
    /* That the program gave it, in UTF-8; empty: none that is more than a number, or not known. A long one ends in
     * U+2026. It may hold anything. */
    char name[PIE_AWAIT_NAME_BYTES];
};

/* The task of an event loop that a thread runs a step of. */
struct pie_running_task {
    uintptr_t code;                  /* of the task's own coroutine; 0: it has not begun, or has just ended */
    char name[PIE_AWAIT_NAME_BYTES]; /* as in struct pie_await */
};

enum pie_task_found {
    PIE_TASK_FOUND_NONE,       /* no task runs */
    PIE_TASK_FOUND,            /* it was written */
    PIE_TASK_FOUND_UNREADABLE, /* one runs that cannot be read */
};

/* The lock that one thread of an interpreter holds while it runs Python code. */
struct pie_gil {
    uintptr_t low, high; /* its structure in memory: [low, high) */
    uintptr_t holder;    /* Python thread state that holds it; 0: none */
};

/* Code in memory: [low, high). */
struct pie_code_range {
    uintptr_t low, high;
};

struct pie_pystack_ops {
    /* The function that runs Python frames; NULL: not known. */
    void (*eval_loop)(void);

    /* Functions by which it makes calls for a frame, and that empty the frame's evaluation stack before they return:
     * the arguments are gone where the loop goes on. The last one has no end. May be NULL. */
    const struct pie_code_range *takers;

    /* Walks the calling thread's Python frames, innermost first. Writes at most max frames, returns their number;
     * *ret_flags is a set of pie_pystack_flags. Every load is fault-tolerant.
     * Context: signal. Async-signal-safe, no lock, no allocation, at most 4 us for 100 frames. */
    size_t (*walk)(struct pie_pyframe *frames, size_t max, unsigned *ret_flags);

    /* The same for another thread whose Python thread state is `tstate` (from current_tstate() on that thread).
     * The caller checks by the thread's CPU clock that it did not run meanwhile, and discards the result if it
     * did. Context: drain. */
    size_t (*walk_thread)(uintptr_t tstate, struct pie_pyframe *frames, size_t max, unsigned *ret_flags);

    /* Address of the Python thread state of the thread with this kernel id, 0 if it has none: found in the
     * interpreters' lists of threads by fault-tolerant reads, for threads that no sample has hit yet. The list may
     * change meanwhile: the answer is a guess that walk_thread() survives. Context: drain. */
    uintptr_t (*find_tstate)(int32_t tid);

    /* Address of the calling thread's Python thread state, 0 if it has none. Context: signal. */
    uintptr_t (*current_tstate)(void);

    /* Interns a code object: the id (from 1) under which its names were copied into the shared region; 0 if it is
     * being deallocated or unreadable, PIE_CCT_CODE_FULL if the region has no room. Two ids may exist for one code
     * object. Only for code objects that are alive because the calling thread runs them. Context: signal. */
    uint32_t (*intern)(uintptr_t code);

    /* As intern, for a frame of a stopped thread (see walk_thread; tstate 0: of none, as a suspended coroutine's):
     * matches by content, publishes nothing that a handler would find under this address. Context: drain. */
    uint32_t (*intern_by_content)(uintptr_t code, uintptr_t tstate);

    /* The id of the same code in the calling thread's half, for an id of either half (turn.h); PIE_CCT_CODE_FULL as
     * above. NULL: ids do not change. Context: drain. */
    uint32_t (*intern_again)(uint32_t code_id);

    /* Bytes interned in the current half; forgets all of the other one. NULL: there are no halves. Context:
     * drain. */
    size_t (*code_bytes)(void);
    void (*forget_code)(void);

    /* The offset of instr in its code, in code units, as CCT key. Context: signal. */
    uint32_t (*instr_offset)(uintptr_t code, uintptr_t instr);

    /* Describes an interned code object. Strings are UTF-8 and live in the region. Returns 0 or -ENOENT.
     * Context: drain. */
    int (*describe)(uint32_t code_id, const char **ret_file, const char **ret_qualname,
                    int32_t *ret_first_line);

    /* Says whose an interned code object is. Both may be NULL. Context: drain. */
    void (*set_owner)(uint32_t code_id, enum pie_code_owner owner);
    /* The owner as last said. Context: signal. */
    enum pie_code_owner (*owner)(uint32_t code_id);

    /* The 1-based source line of a code unit; 0 if it has none. Context: drain. */
    int32_t (*line)(uint32_t code_id, uint32_t instr_offset);

    /* The operation of a code unit, with PIE_OPERATION_IN_LOOP, IN_FOLD and IN_FILL; PIE_OPERATION_OTHER if it
     * is not known. Context: drain. */
    unsigned (*operation)(uint32_t code_id, uint32_t instr_offset);
    /* Does a call at a line lie in a loop of this code? Of a line without calls: does any part of it? May be NULL.
     * Context: drain. */
    bool (*line_is_in_loop)(uint32_t code_id, int32_t line);

    /* The kind of object at an address, by its type's type; every load is fault-tolerant. A wrong guess is possible
     * and must be harmless. Context: signal. */
    enum pie_object_kind (*object_at)(uintptr_t address);

    /* The bytes of a NumPy array's data, [*ret_low, *ret_high), for an object that object_at() called an array. False:
     * unreadable, or no such bytes. Context: signal. */
    bool (*array_data)(uintptr_t array, uintptr_t *ret_low, uintptr_t *ret_high);

    /* The value of what a call has just returned: numbers, text, NumPy arrays and PyTorch tensors with data of their
     * own, tuples, lists and dicts of them. object may be no object. May be NULL. At most 1024 words are looked at.
     * Context: signal. */
    void (*value)(uintptr_t object, struct pie_value *ret_value);

    /* The numbers of such a value, for a comparison within a tolerance; count 0: it has none. float and complex, and
     * NumPy's with 32 and 64 bits for each part count, those of tensors do not. May be NULL. Context: signal. */
    void (*value_floats)(uintptr_t object, struct pie_value_floats *ret_floats);

    /* Words of such an array or tensor, with count 0 for all else. With step_bytes 0 they are spread over all of it;
     * else they are taken at that distance as far as the data goes, to be compared with those of another. May be NULL.
     * Context: signal. */
    void (*value_words)(uintptr_t object, struct pie_value_words *words);

    /* The digest of the native call that has just returned an object of this value to the calling thread's evaluation
     * loop. False: it is no call, or its arguments cannot be found. May be NULL. At most 1024 words are looked at.
     * Context: signal. */
    bool (*call_digest)(const struct pie_value *result, struct pie_call_digest *ret_digest);

    /* The long value that the calling thread's innermost frame, as walk() has just found it, is having read by a call
     * or an operator, or what else enum pie_read_kind has. False: none of 512 bytes or 32 items. May be NULL.
     * Context: signal. */
    bool (*call_read)(const struct pie_pyframe *frame, struct pie_call_read *ret_read);

    /* Reads the list of a SORT that is over; it may be no list any more. beginning is a digest of the items in whatever
     * order, by which a list with one more is mostly the same. False: it has no items, or is none. NULL where call_read
     * is. Context: signal. */
    bool (*sorted_read)(struct pie_call_read *read);

    /* Calls of Python functions; NULL: in this Python they are not looked at. */
    const struct pie_python_call_ops *python_calls;

    /* Bytes of the data of the NumPy array that this address lies in, if the native call, or operator, that has just
     * returned `result` to the calling thread's evaluation loop got it as an argument, and no other array of more
     * than one element, and asked something of it. (A result that has as many elements, other than True and False, is
     * the array made into another one.) Else 0. May be NULL. Context: signal. */
    uint64_t (*array_argument)(uintptr_t address, uintptr_t result);

    /* Does an address lie in the calling thread's stack of Python frames? Context: signal. */
    bool (*is_frame_memory)(uintptr_t address);

    /* The suspended tasks of the event loop that runs on a stopped thread (see walk_thread). At most max of them, from
     * a place among them that `random` chooses; returns their number. A third of max is for tasks that wait for one of
     * the others. Tasks may change meanwhile: all of it is a guess that intern_by_content() survives. May be NULL.
     * Context: drain. */
    size_t (*awaits)(uintptr_t tstate, uint64_t random, struct pie_pyframe *frames, size_t max_frames,
                     struct pie_await *awaits, size_t max);

    /* Does a stopped thread run another event loop than asyncio's own, such as uvloop's, and no step of a task in it?
     * May be NULL. Context: drain. */
    bool (*foreign_loop)(uintptr_t tstate);

    /* The task that the calling thread runs a step of. May be NULL. Context: signal. */
    enum pie_task_found (*running_task)(uintptr_t tstate, struct pie_running_task *ret_task);

    /* The generation of objects that a thread's interpreter collects garbage of at this moment; -1: it collects none,
     * or which is not known. May be NULL. Context: signal. */
    int (*collects)(uintptr_t tstate);

    /* Where threads run Python side by side, without a GIL: what is not collected there, one sentence for people. Loads
     * and stores are not watched then, and loops not traced. NULL: one thread at a time runs Python. */
    const char *without_gil;

    /* The GIL of a thread's interpreter. False: unreadable. May be NULL. Context: drain. */
    bool (*gil)(uintptr_t tstate, struct pie_gil *ret_gil);
};

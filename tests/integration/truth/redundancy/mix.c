/* SPDX-License-Identifier: Apache-2.0 */

/* An extension module whose functions load and store at known addresses with a known share of redundancy.
 *
 * Each store_<p>() writes all words of its own array; values[p][k % PERIOD] says what at call k. Each change_<p>()
 * writes those words of an array that are to change, each read_<p>() reads all of them. The code is straight and slow
 * (a division between any two accesses), so that all accesses of a function are one basic block and most of the time is
 * spent there. Tables lie in the module's image, whose loads nobody watches; what is watched is on the heap. No other
 * word is stored, so of the second accesses exactly redundant(p) find or leave the value that was there. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <stdlib.h>

enum { WORDS = 12, PERIOD = 256, MIXES = 3 };

/* The value of each word at each call, round and round. Two runs of the same value are redundant accesses. */
static uint64_t values[MIXES][PERIOD][WORDS];

/* On the heap: of the stores, of the loads, of the accumulator. */
static uint64_t *stored[MIXES], *loaded[MIXES], *sum_word;

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Each word keeps its value with probability `share` at each call. */
static void fill(int mix, double share, uint64_t seed) {
    uint64_t random = seed;

    for (int word = 0; word < WORDS; word++)
        for (int call = 0; call < PERIOD; call++) {
            int keeps = call > 0 && (double)(next_random(&random) >> 11) / 9007199254740992.0 < share;
            values[mix][call][word] =
                keeps ? values[mix][call - 1][word] : 1000 + (uint64_t)call * WORDS + (uint64_t)word;
        }
}

/* The share of re-accesses of the first `words` words that are redundant, the step from the last call of a period to
 * the first one included. */
static double redundant_share(int mix, int words) {
    int redundant = 0;

    for (int word = 0; word < words; word++)
        for (int call = 0; call < PERIOD; call++)
            redundant += values[mix][call][word] == values[mix][(call + 1) % PERIOD][word];
    return (double)redundant / (PERIOD * words);
}

/* Takes some ns and leaves x as it is; the compiler knows neither. */
#define PAUSE(x)                                                                                             \
    __asm__ volatile("xor %%edx, %%edx\n\tmov %0, %%rax\n\tdiv %1\n\txor %%edx, %%edx\n\tdiv %1"             \
                     :                                                                                       \
                     : "r"(x), "r"((uint64_t)3)                                                              \
                     : "rax", "rdx", "cc")

#define EACH_WORD(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

#define STORE(i)                                                                                             \
    to[i] = from[i];                                                                                         \
    PAUSE(call);

#define READ(i)                                                                                              \
    sum += from[i];                                                                                          \
    PAUSE(sum);

static __attribute__((noinline)) void store_all(volatile uint64_t *to, const uint64_t *from, uint64_t call) {
    EACH_WORD(STORE)
}

static __attribute__((noinline)) uint64_t read_all(const volatile uint64_t *from) {
    uint64_t sum = 0;

    EACH_WORD(READ)
    return sum;
}

static __attribute__((noinline)) void change_some(volatile uint64_t *to, const uint64_t *from,
                                                  const uint64_t *before) {
    for (int i = 0; i < WORDS; i++)
        if (from[i] != before[i])
            to[i] = from[i];
}

#define FUNCTIONS(name, mix)                                                                                 \
    static PyObject *store_##name(PyObject *module, PyObject *argument) {                                    \
        uint64_t call = PyLong_AsUnsignedLong(argument);                                                     \
        store_all(stored[mix], values[mix][call % PERIOD], call);                                            \
        Py_RETURN_NONE;                                                                                      \
    }                                                                                                        \
    static PyObject *change_##name(PyObject *module, PyObject *argument) {                                   \
        uint64_t call = PyLong_AsUnsignedLong(argument);                                                     \
        change_some(loaded[mix], values[mix][call % PERIOD], values[mix][(call + PERIOD - 1) % PERIOD]);     \
        Py_RETURN_NONE;                                                                                      \
    }                                                                                                        \
    static PyObject *read_##name(PyObject *module, PyObject *unused) {                                       \
        volatile uint64_t sum = read_all(loaded[mix]);                                                       \
        (void)sum;                                                                                           \
        Py_RETURN_NONE;                                                                                      \
    }

FUNCTIONS(20, 0)
FUNCTIONS(50, 1)
FUNCTIONS(80, 2)

/* Adds to one word on the heap, n times within this one call; every addition is a load and a store of its own. */
static PyObject *accumulate(PyObject *module, PyObject *argument) {
    uint64_t n = PyLong_AsUnsignedLong(argument);
    volatile uint64_t *word = sum_word;

    for (uint64_t i = 0; i < n; i++)
        *word = *word + 3;
    Py_RETURN_NONE;
}

/* A new number, which is the first word's value: that of the call before with the share of half. */
static PyObject *compute(PyObject *module, PyObject *argument) {
    uint64_t call = PyLong_AsUnsignedLong(argument);

    for (int i = 0; i < 100; i++)
        store_all(stored[1], values[1][call % PERIOD], call);
    return PyFloat_FromDouble((double)values[1][call % PERIOD][0]);
}

static PyObject *nothing(PyObject *module, PyObject *unused) {
    Py_RETURN_NONE;
}

static PyObject *redundant(PyObject *module, PyObject *argument) {
    unsigned long percent = PyLong_AsUnsignedLong(argument);

    return PyFloat_FromDouble(redundant_share(percent == 20 ? 0 : percent == 50 ? 1 : 2, WORDS));
}

static PyObject *redundant_results(PyObject *module, PyObject *unused) {
    return PyFloat_FromDouble(redundant_share(1, 1));
}

#define METHODS(name)                                                                                        \
    {"store_" #name, store_##name, METH_O, NULL}, {"change_" #name, change_##name, METH_O, NULL}, {          \
        "read_" #name, read_##name, METH_NOARGS, NULL                                                        \
    }

static PyMethodDef methods[] = {
    METHODS(20),
    METHODS(50),
    METHODS(80),
    {"accumulate", accumulate, METH_O, NULL},
    {"compute", compute, METH_O, NULL},
    {"nothing", nothing, METH_NOARGS, NULL},
    {"redundant_results", redundant_results, METH_NOARGS, "the exact share of compute()"},
    {"redundant", redundant, METH_O, "redundant(percent): the exact share behind the functions of this name"},
    {0},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "mix", .m_size = -1,
                                        .m_methods = methods};

static uint64_t *words(size_t n) {
    return aligned_alloc(64, n * sizeof(uint64_t));
}

PyMODINIT_FUNC PyInit_mix(void) {
    static const double shares[MIXES] = {0.2, 0.5, 0.8};

    for (int mix = 0; mix < MIXES; mix++) {
        fill(mix, shares[mix], 88172645463325252u + (uint64_t)mix);
        stored[mix] = words(16);
        loaded[mix] = words(16);
        if (!stored[mix] || !loaded[mix])
            return PyErr_NoMemory();
        for (int i = 0; i < WORDS; i++)
            stored[mix][i] = loaded[mix][i] = values[mix][PERIOD - 1][i];
    }
    sum_word = words(8);
    if (!sum_word)
        return PyErr_NoMemory();
    *sum_word = 0;
    return PyModule_Create(&definition);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "runtime/embed/install.h"
#include "runtime/stacks/verify.h"
#include "tests/pystack/sampler.h"

/* Samples where there is no Python, not yet, or not any more. */

/* The frames of _sample()'s caller and how they looked, as Python code under test leaves them. */
static size_t frames_seen;
static unsigned flags_seen;
static char name_seen[64];

static void take(void) {
    const struct sampler_sample *sample = sampler_take();
    const char *file, *qualname = "";
    int32_t first_line;

    frames_seen = sample->n;
    flags_seen = sample->flags;
    if (sample->n)
        sampler_ops()->describe(sample->frames[0].id, &file, &qualname, &first_line);
    snprintf(name_seen, sizeof name_seen, "%s", qualname);
}

static PyObject *python_take(PyObject *module, PyObject *none) {
    take();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"take", python_take, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_take", .m_size = -1,
                                        .m_methods = methods};

static PyObject *make_module(void) {
    return PyModule_Create(&definition);
}

static void start_python(void) {
    sampler_take_signals();
    Py_InitializeEx(0);
    assert_true(Py_IsInitialized());
}

static const char source[] = "import _take\ndef here():\n    _take.take()\nhere()\n";

static void assert_sampled_in_here(size_t n) {
    assert_int_equal(frames_seen, n);
    assert_int_equal(flags_seen, PIE_PYSTACK_PYTHON_THREAD | PIE_PYSTACK_IN_CALL);
    assert_string_equal(name_seen, "here");
}

static void test_the_interpreter_is_known(void **state) {
    assert_null(pie_runtime_pystack_refusal());
}

static void test_before_python_starts(void **state) {
    sampler_take_signals();
    take();
    assert_int_equal(frames_seen, 0);
    assert_int_equal(flags_seen, 0);
    assert_int_equal(sampler_ops()->find_tstate(1), 0);
}

static void test_again_after_each_start(void **state) {
    for (int round = 0; round < 3; round++) {
        start_python();
        take();
        assert_int_equal(frames_seen, 0);
        assert_int_equal(flags_seen, PIE_PYSTACK_PYTHON_THREAD);
        assert_int_equal(PyRun_SimpleString(source), 0);
        assert_sampled_in_here(2);
        assert_int_equal(Py_FinalizeEx(), 0);
        take();
        assert_int_equal(frames_seen, 0);
        assert_int_equal(flags_seen, 0);
    }
}

static void *take_there(void *none) {
    take();
    return NULL;
}

static void *take_in_python(void *none) {
    PyGILState_STATE gil = PyGILState_Ensure();

    PyRun_SimpleString(source);
    PyGILState_Release(gil);
    return NULL;
}

static void in_thread(void *(*body)(void *)) {
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
    Py_BEGIN_ALLOW_THREADS;
    pthread_join(thread, NULL);
    Py_END_ALLOW_THREADS;
}

static void test_threads_that_python_did_not_make(void **state) {
    start_python();
    in_thread(take_there);
    assert_int_equal(frames_seen, 0);
    assert_int_equal(flags_seen, 0);
    in_thread(take_in_python);
    assert_sampled_in_here(2);
    Py_FinalizeEx();
}

static void test_subinterpreters(void **state) {
    start_python();
    PyThreadState *main_state = PyThreadState_Get();

    for (int round = 0; round < 3; round++) {
        PyThreadState *sub = Py_NewInterpreter();

        assert_non_null(sub);
        assert_int_equal(PyRun_SimpleString(source), 0);
        assert_sampled_in_here(2);
        Py_EndInterpreter(sub);
        PyThreadState_Swap(main_state);
        assert_int_equal(PyRun_SimpleString(source), 0);
        assert_sampled_in_here(2);
    }
    Py_FinalizeEx();
}

static const char *said_elsewhere;

static void *verify_there(void *tstate) {
    said_elsewhere = pie_stacks_verify((uintptr_t)tstate, (int32_t)gettid());
    return NULL;
}

/* What a thread knows of itself is what its lists and the GIL say; where they say something else they are switched
 * off. The last test: nothing switches them on again. */
static void test_what_is_not_where_it_should_be_is_off(void **state) {
    struct pie_gil gil;
    int32_t tid = (int32_t)gettid();
    start_python();
    PyThreadState *own = PyThreadState_Get();

    assert_null(pie_stacks_verify((uintptr_t)own, tid));
    assert_true(sampler_ops()->gil((uintptr_t)own, &gil));
    assert_int_equal(gil.holder, own);

    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, verify_there, own), 0); /* as if the lists were wrong */
    pthread_join(thread, NULL);
    assert_string_equal(said_elsewhere, "waits have no Python lines");
    assert_int_equal(sampler_ops()->find_tstate(tid), 0);
    assert_true(sampler_ops()->gil((uintptr_t)own, &gil));

    PyEval_SaveThread(); /* nobody holds the GIL, as if it were elsewhere */
    assert_string_equal(pie_stacks_verify((uintptr_t)own, tid),
                        "waits have no Python lines, and those for the GIL are told as other waits");
    PyEval_RestoreThread(own);
    assert_false(sampler_ops()->gil((uintptr_t)own, &gil));
    take();
    assert_int_equal(flags_seen, PIE_PYSTACK_PYTHON_THREAD); /* stacks are read as before */
    Py_FinalizeEx();
}

/* Timers that run from before the first start to after the last end. */
static void test_a_storm_over_starts_and_ends(void **state) {
    struct sampler_verdict verdict;

    sampler_take_signals();
    int timer = sampler_arm(400);
    assert_true(timer >= 0);
    for (int round = 0; round < 5; round++) {
        start_python();
        PyRun_SimpleString("import json, threading\n"
                           "def work():\n"
                           "    for i in range(300): json.loads(json.dumps([{'a': i}]))\n"
                           "threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]\n"
                           "[t.start() for t in threads]\n"
                           "work()\n");
        PyThreadState *main_state = PyThreadState_Get();
        PyThreadState *sub = Py_NewInterpreter();
        PyRun_SimpleString("import json; json.dumps([1] * 10000)");
        Py_EndInterpreter(sub);
        PyThreadState_Swap(main_state);
        Py_FinalizeEx();
    }
    sampler_disarm(timer);
    sampler_judge(&verdict);
    assert_true(verdict.samples > 50);
    assert_int_equal(verdict.wrong, 0);
    assert_true(verdict.invalid <= verdict.samples / 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_interpreter_is_known),
        cmocka_unit_test(test_before_python_starts),
        cmocka_unit_test(test_again_after_each_start),
        cmocka_unit_test(test_threads_that_python_did_not_make),
        cmocka_unit_test(test_subinterpreters),
        cmocka_unit_test(test_a_storm_over_starts_and_ends),
        cmocka_unit_test(test_what_is_not_where_it_should_be_is_off),
    };

    if (!sampler_init() || PyImport_AppendInittab("_take", make_module) < 0)
        return 99;
    return cmocka_run_group_tests_name("pystack-lifecycle", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "storage/write/contexts.h"
#include "storage/own/ownership.h"
#include "tests/storage/folder.h"

#define PACKAGES "venv/lib/python3.11/site-packages"

static struct pie_ownership *make(const char *only, const char *exclude) {
    struct pie_ownership *ownership;
    assert_int_equal(pie_ownership_create(only, exclude, &ownership), 0);
    return ownership;
}

static struct pie_owner find(struct pie_ownership *ownership, const char *path) {
    struct pie_owner owner;
    assert_int_equal(pie_ownership_find(ownership, path, &owner), 0);
    return owner;
}

static void test_the_standard_library_is_not_own(void **state) {
    static const char *const library[] = {"/usr/lib/python3.11/json/decoder.py",
                                          "/usr/local/lib/python3.13/os.py",
                                          "/usr/local/lib/python3.14t/os.py",
                                          "/usr/local/lib/python314t.zip/os.py",
                                          "/home/me/.pyenv/versions/3.11.2/lib/python3.11/abc.py",
                                          "/usr/lib64/python3.11/re.py",
                                          "/usr/lib/python311.zip/os.py",
                                          "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
                                          "<frozen os>",
                                          "<multiprocessing>"};
    static const char *const own[] = {"/home/me/app.py",
                                      "/home/me/lib/python/x.py",
                                      "/srv/python3.11/app.py",
                                      "<string>",
                                      "<stdin>",
                                      "/home/me/site-packages.py",
                                      "/tmp/ipykernel_123/456.py",
                                      "<doctest a.f[0]>",
                                      "<ipython-input-7-0123456789ab>",
                                      "<attrs generated init a.B>",
                                      "<lambdifygenerated-1>"};
    struct pie_ownership *ownership = make(NULL, NULL);
    for (size_t i = 0; i < sizeof library / sizeof *library; i++) {
        assert_false(find(ownership, library[i]).is_own);
        assert_string_equal(find(ownership, library[i]).library, "python");
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        assert_true(find(ownership, own[i]).is_own);
        assert_null(find(ownership, own[i]).library);
    }
    assert_false(find(ownership, "<decorator-gen-3>").is_own);
    assert_false(find(ownership, "<__array_function__ internals>").is_own);
    pie_ownership_destroy(ownership);
}

static void write_packages(const char *folder) {
    pie_folder_write(folder, PACKAGES "/numpy-2.1.0.dist-info/METADATA",
                     "Metadata-Version: 2.1\nName: numpy\nVersion: 2.1.0\n");
    pie_folder_write(folder, PACKAGES "/PyYAML-6.0.dist-info/METADATA",
                     "Name: PyYAML\r\nVersion: 6.0\r\n\r\nName: no\n");
    pie_folder_write(folder, PACKAGES "/PyYAML-6.0.dist-info/top_level.txt", "_yaml\nyaml\n");
    pie_folder_write(folder, PACKAGES "/google_a-1.dist-info/METADATA", "Name: google-a\nVersion: 1\n");
    pie_folder_write(folder, PACKAGES "/google_a-1.dist-info/RECORD", "google/a/__init__.py,sha256=x,3\n");
    pie_folder_write(folder, PACKAGES "/google_b-2.dist-info/METADATA", "Name: google-b\nVersion: 2\n");
    pie_folder_write(folder, PACKAGES "/google_b-2.dist-info/RECORD",
                     "google/b/__init__.py,,\ngoogle/b/c.py,,\n");
    pie_folder_write(folder, PACKAGES "/old_style-3.egg-info", "Name: old-style\nVersion: 3\n");
    pie_folder_write(folder, PACKAGES "/broken-1.dist-info/RECORD", "");
    pie_folder_write(folder, PACKAGES "/engine_runtime-4.dist-info/METADATA",
                     "Name: engine-runtime\nVersion: 4\n");
    pie_folder_write(folder, PACKAGES "/engine_runtime-4.dist-info/RECORD",
                     "../../../bin/engine,sha256=x,1\n_engine_32/__init__.py,,\n_engine_32/a.so,,\nsix.py,,\n"
                     "_engine_32/b.py,,\ngoogle/__init__.py,,\n");
}

static void test_a_package_has_the_name_and_version_of_its_distribution(void **state) {
    static const struct {
        const char *file, *name, *version;
    } cases[] = {
        {PACKAGES "/numpy/linalg/linalg.py", "numpy", "2.1.0"},
        {PACKAGES "/numpy/version.py", "numpy", "2.1.0"},
        {PACKAGES "/num/py.py", "num", NULL},
        {PACKAGES "/numpyx/linalg.py", "numpyx", NULL},
        {PACKAGES "/numpy.libs/libopenblas.so", "numpy", "2.1.0"},
        {PACKAGES "/yaml/loader.py", "PyYAML", "6.0"},
        {PACKAGES "/_yaml.cpython-311-x86_64-linux-gnu.so", "PyYAML", "6.0"},
        {PACKAGES "/google/a/__init__.py", "google-a", "1"},
        {PACKAGES "/google/b/c.py", "google-b", "2"},
        {PACKAGES "/google/__init__.py", "engine-runtime", "4"},
        {PACKAGES "/google/b/__init__.py", "google-b", "2"},
        {PACKAGES "/_engine_32/a.so", "engine-runtime", "4"},
        {PACKAGES "/_engine_32/not_listed.py", "engine-runtime", "4"},
        {PACKAGES "/six.py", "engine-runtime", "4"},
        {PACKAGES "/bin/x.py", "bin", NULL},
        {PACKAGES "/Old.Style/x.py", "Old", NULL},
        {PACKAGES "/old_style/x.py", "old-style", "3"},
        {PACKAGES "/broken/x.py", "broken", "1"},
        {PACKAGES "/stray.py", "stray", NULL},
    };
    const char *folder = pie_folder_make();
    struct pie_ownership *ownership = make(NULL, NULL);
    write_packages(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pie_owner owner = find(ownership, pie_folder_path(folder, cases[i].file));
        assert_false(owner.is_own);
        assert_string_equal(owner.library, cases[i].name);
        if (cases[i].version)
            assert_string_equal(owner.version, cases[i].version);
        else
            assert_null(owner.version);
    }
    pie_ownership_destroy(ownership);
    pie_folder_remove(folder);
}

static void test_only_and_exclude_decide(void **state) {
    struct pie_ownership *ownership =
        make("/srv/app:/usr/lib/python3/dist-packages/mine/", "/srv/app/vendor");
    assert_true(find(ownership, "/srv/app/main.py").is_own);
    assert_true(find(ownership, "/srv/app").is_own);
    assert_false(find(ownership, "/srv/application.py").is_own);
    assert_false(find(ownership, "/srv/app/vendor/x.py").is_own);
    assert_false(find(ownership, "/home/me/x.py").is_own);
    assert_true(find(ownership, "/usr/lib/python3/dist-packages/mine/x.py").is_own);
    pie_ownership_destroy(ownership);
    ownership = make(NULL, "/home/me/old");
    assert_true(find(ownership, "/home/me/new.py").is_own);
    assert_false(find(ownership, "/home/me/old/x.py").is_own);
    pie_ownership_destroy(ownership);
}

static void test_the_interpreters_home_is_known_by_its_files(void **state) {
    static const char *const home[] = {"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
                                       "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2",
                                       "/lib/libc-2.31.so"};
    static const char *const foreign[] = {"/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/libcrypto.so.3",
                                          "/usr/lib/python3.11/lib-dynload/_json.cpython-311.so",
                                          "/home/me/libc.py/fast.so", "libpython3.11.so"};
    struct pie_ownership *ownership = make(NULL, NULL);
    char self[4096];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(size > 0);
    self[size] = 0;
    assert_true(find(ownership, self).is_home);
    for (size_t i = 0; i < sizeof home / sizeof *home; i++)
        assert_true(find(ownership, home[i]).is_home);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        assert_false(find(ownership, foreign[i]).is_home);
    pie_ownership_destroy(ownership);
}

enum { OWN_CODE = 1, LIBRARY_CODE, HOME_CODE, TEXT_CODE, FOREIGN_CODE, INLINED_CODE, INLINED_TWICE, UNSEEN };
enum { MODULE = 77, FUNCTION = 88, INLINED_FUNCTION = 89 };

static struct pie_contexts *make_contexts(void) {
    static const struct pie_context_location locations[] = {
        [OWN_CODE] = {.flags = PIE_CONTEXT_PYTHON | PIE_CONTEXT_OWN},
        [LIBRARY_CODE] = {.flags = PIE_CONTEXT_PYTHON},
        [HOME_CODE] = {.flags = 0},
        [TEXT_CODE] = {.flags = PIE_CONTEXT_PYTHON | PIE_CONTEXT_OWN | PIE_CONTEXT_TEXT},
        [FOREIGN_CODE] = {.flags = PIE_CONTEXT_FOREIGN, .library_module = MODULE, .function = {FUNCTION}},
        [INLINED_CODE] = {.flags = PIE_CONTEXT_FOREIGN,
                          .library_module = MODULE,
                          .function = {INLINED_FUNCTION},
                          .caller = {FOREIGN_CODE}},
        [INLINED_TWICE] = {.flags = PIE_CONTEXT_FOREIGN,
                           .library_module = MODULE,
                           .function = {INLINED_FUNCTION},
                           .caller = {INLINED_CODE}},
    };
    struct pie_contexts *contexts;
    assert_int_equal(pie_contexts_create(&contexts), 0);
    for (uint32_t id = OWN_CODE; id < UNSEEN; id++)
        assert_int_equal(pie_contexts_set_location(contexts, (struct pie_location_id){id}, &locations[id]),
                         0);
    return contexts;
}

static struct pie_context_node add(struct pie_contexts *contexts, uint32_t node, uint32_t parent,
                                   uint32_t location) {
    struct pie_node_id id = {node};
    struct pie_context_node added;
    assert_int_equal(pie_contexts_add_node(contexts, id, (struct pie_node_id){parent},
                                           (struct pie_location_id){location}, &added),
                     0);
    struct pie_context_node found = pie_contexts_get_node(contexts, id);
    assert_memory_equal(&added, &found, sizeof added);
    return added;
}

static void expect(struct pie_context_node node, uint32_t line, uint32_t own, uint32_t own_depth) {
    assert_int_equal(node.line_location.value, line);
    assert_int_equal(node.own_location.value, own);
    if (own)
        assert_int_equal(node.own_depth, own_depth);
}

static void test_a_node_knows_the_innermost_python_and_own_line(void **state) {
    struct pie_contexts *contexts = make_contexts();
    const uint32_t large = 4000000000u;
    expect(add(contexts, 10, 0, OWN_CODE), OWN_CODE, OWN_CODE, 0);
    expect(add(contexts, large, 10, LIBRARY_CODE), LIBRARY_CODE, OWN_CODE, 1);
    expect(add(contexts, 12, large, HOME_CODE), LIBRARY_CODE, OWN_CODE, 1);
    expect(add(contexts, 13, large, TEXT_CODE), TEXT_CODE, OWN_CODE, 2);
    expect(add(contexts, 14, 10, TEXT_CODE), TEXT_CODE, TEXT_CODE, 0);
    expect(add(contexts, 15, 999, HOME_CODE), 0, 0, 0);
    expect(add(contexts, 16, 15, LIBRARY_CODE), LIBRARY_CODE, 0, 0);
    expect(add(contexts, 17, 12, OWN_CODE), OWN_CODE, OWN_CODE, 0);
    expect(add(contexts, 18, 10, UNSEEN), OWN_CODE, OWN_CODE, 0);
    expect(pie_contexts_get_node(contexts, (struct pie_node_id){12345}), 0, 0, 0);
    pie_contexts_destroy(contexts);
}

static void test_a_node_knows_the_native_code_below_its_line(void **state) {
    struct pie_contexts *contexts = make_contexts();
    add(contexts, 10, 0, OWN_CODE);
    struct pie_context_node home = add(contexts, 11, 10, HOME_CODE);
    assert_int_equal(home.library_module, 0);
    assert_int_equal(home.entry_function.value, 0);
    struct pie_context_node entered = add(contexts, 12, 11, FOREIGN_CODE);
    assert_int_equal(entered.library_module, MODULE);
    assert_int_equal(entered.entry_function.value, FUNCTION);
    struct pie_context_node deeper = add(contexts, 13, 12, HOME_CODE);
    assert_int_equal(deeper.library_module, MODULE);
    assert_int_equal(deeper.entry_function.value, FUNCTION);
    assert_int_equal(add(contexts, 14, 13, INLINED_CODE).entry_function.value, FUNCTION);
    struct pie_context_node called_back = add(contexts, 15, 13, OWN_CODE);
    assert_int_equal(called_back.library_module, 0);
    assert_int_equal(called_back.entry_function.value, 0);
    assert_int_equal(add(contexts, 16, 15, INLINED_TWICE).entry_function.value, FUNCTION);
    pie_contexts_destroy(contexts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_standard_library_is_not_own),
        cmocka_unit_test(test_a_package_has_the_name_and_version_of_its_distribution),
        cmocka_unit_test(test_only_and_exclude_decide),
        cmocka_unit_test(test_the_interpreters_home_is_known_by_its_files),
        cmocka_unit_test(test_a_node_knows_the_innermost_python_and_own_line),
        cmocka_unit_test(test_a_node_knows_the_native_code_below_its_line),
    };
    return cmocka_run_group_tests_name("ownership", tests, NULL, NULL);
}

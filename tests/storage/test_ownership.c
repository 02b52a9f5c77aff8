/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "storage/contexts.h"
#include "storage/ownership.h"
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
                                          "/home/me/.pyenv/versions/3.11.2/lib/python3.11/abc.py",
                                          "/usr/lib64/python3.11/re.py",
                                          "/usr/lib/python311.zip/os.py",
                                          "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
                                          "<frozen os>"};
    static const char *const own[] = {
        "/home/me/app.py", "/home/me/lib/python/x.py", "/srv/python3.11/app.py", "<string>",
        "<stdin>",         "/home/me/site-packages.py"};
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
}

static void test_a_package_has_the_name_and_version_of_its_distribution(void **state) {
    static const struct {
        const char *file, *name, *version;
    } cases[] = {
        {PACKAGES "/numpy/linalg/linalg.py", "numpy", "2.1.0"},
        {PACKAGES "/numpy.libs/libopenblas.so", "numpy", "2.1.0"},
        {PACKAGES "/yaml/loader.py", "PyYAML", "6.0"},
        {PACKAGES "/_yaml.cpython-311-x86_64-linux-gnu.so", "PyYAML", "6.0"},
        {PACKAGES "/google/a/__init__.py", "google-a", "1"},
        {PACKAGES "/google/b/c.py", "google-b", "2"},
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

/* main(1, own) -> library(2) -> native(3) -> a distribution's native code(5) -> native(3) -> own(1);
 * library(2) -> exec'd text(4); main -> text(4) */
static void test_a_node_knows_the_innermost_python_and_own_line(void **state) {
    struct pie_contexts *contexts;
    struct pie_context_node node;
    assert_int_equal(pie_contexts_create(&contexts), 0);
    assert_int_equal(pie_contexts_set_location(contexts, 1, PIE_CONTEXT_PYTHON | PIE_CONTEXT_OWN, 0), 0);
    assert_int_equal(pie_contexts_set_location(contexts, 2, PIE_CONTEXT_PYTHON, 0), 0);
    assert_int_equal(
        pie_contexts_set_location(contexts, 4, PIE_CONTEXT_PYTHON | PIE_CONTEXT_OWN | PIE_CONTEXT_TEXT, 0),
        0);
    assert_int_equal(pie_contexts_set_location(contexts, 5, 0, 77), 0);
    assert_int_equal(pie_contexts_add_node(contexts, 10, 0, 1, &node), 0);
    assert_int_equal(node.line_location, 1);
    assert_int_equal(node.own_location, 1);
    assert_int_equal(pie_contexts_add_node(contexts, 4000000000u, 10, 2, &node), 0);
    assert_int_equal(node.line_location, 2);
    assert_int_equal(node.own_location, 1);
    assert_int_equal(pie_contexts_add_node(contexts, 12, 4000000000u, 3, &node), 0);
    assert_int_equal(node.line_location, 2);
    assert_int_equal(node.own_location, 1);
    assert_int_equal(pie_contexts_add_node(contexts, 13, 4000000000u, 4, &node), 0);
    assert_int_equal(node.own_location, 1);
    assert_int_equal(pie_contexts_add_node(contexts, 14, 10, 4, &node), 0);
    assert_int_equal(node.own_location, 4);
    assert_int_equal(pie_contexts_add_node(contexts, 15, 999, 3, &node), 0);
    assert_int_equal(node.line_location, 0);
    assert_int_equal(pie_contexts_add_node(contexts, 16, 12, 5, &node), 0);
    assert_int_equal(node.library_module, 77);
    assert_int_equal(pie_contexts_add_node(contexts, 17, 16, 3, &node), 0); /* libc below it */
    assert_int_equal(node.library_module, 77);
    assert_int_equal(pie_contexts_add_node(contexts, 18, 17, 1, &node), 0); /* calls back into own code */
    assert_int_equal(node.library_module, 0);
    pie_contexts_destroy(contexts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_standard_library_is_not_own),
        cmocka_unit_test(test_a_package_has_the_name_and_version_of_its_distribution),
        cmocka_unit_test(test_only_and_exclude_decide),
        cmocka_unit_test(test_a_node_knows_the_innermost_python_and_own_line),
    };
    return cmocka_run_group_tests_name("ownership", tests, NULL, NULL);
}

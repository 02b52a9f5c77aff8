/* SPDX-License-Identifier: Apache-2.0 */
/* A library that test_object_table.c loads and unloads. */
int object_module_function(int value);

int object_module_function(int value) {
    return value + 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Programs with the exported symbols of a static CPython, one for each of what the compiler is given. */
#ifdef VERSION
extern const unsigned long Py_Version;
const unsigned long Py_Version = VERSION;
#endif
#ifndef STRIPPED
int Py_BytesMain(int argc, char **argv);
int Py_BytesMain(int argc, char **argv) {
    return argc > 1 && argv[1];
}
#endif
#ifdef FREE_THREADED
void _Py_MergeZeroLocalRefcount(void *object);
void _Py_MergeZeroLocalRefcount(void *object) {}
#endif
#ifdef DEBUG
void _Py_NegativeRefcount(void);
void _Py_NegativeRefcount(void) {}
#endif

int main(void) {
    return 99; /* nothing is run */
}

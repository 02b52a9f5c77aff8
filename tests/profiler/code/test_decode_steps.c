/* SPDX-License-Identifier: Apache-2.0 */

/* Decoding against what the processor really did: library code is stepped through, so the instruction before each stop,
 * the registers on both sides of it and the way it took are known for certain. The address of each operand is computed
 * by Zydis from the registers before; pie_decode_trap() sees those after. */

#include "profiler/code/cfi.h"
#include "profiler/code/decode.h"
#include "tests/profiler/code/stepping.h"

#include <Zydis/Zydis.h>

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

enum { OPERANDS_MAX = 4, FAR_BYTES = 1 << 28 };

struct instruction {
    ZydisDecodedInstruction zydis;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint64_t rip;
};

struct touched {
    uint64_t address;
    uint32_t size_bytes;
    bool is_load, is_store, is_gather,
        is_evident; /* evident: the registers that its address is made of are as before */
};

struct verdicts {
    long steps, operands, named, named_by_prefix, no_function, wrong, refused;
    long elsewhere,
        elsewhere_named; /* RIP is not behind the instruction: a call, jump or return through memory */
    long far_refused, far_accepted, hidden_accepted, hidden_refused;
    long blocks, no_block, split_blocks, listed, listed_wrong;
    long entries, entries_wrong;          /* by direct transfers inside a function */
    long foreign_entries, foreign_inside; /* by others, and from parts that the compiler split off */
    uint64_t first_wrong, first_refused, first_split, first_listed_wrong, first_entry_wrong, first_unknown;
};

static ZydisDecoder decoder;

static bool decode(uint64_t rip, struct instruction *ret) {
    ret->rip = rip;
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (const void *)rip, 15, &ret->zydis, ret->operands));
}

static uint64_t thread_pointer(void) {
    uint64_t fs;

    __asm__("mov %%fs:0, %0" : "=r"(fs));
    return fs;
}

static bool is_written(const struct instruction *in, ZydisRegister name) {
    if (name == ZYDIS_REGISTER_NONE)
        return false;
    for (unsigned i = 0; i < in->zydis.operand_count; i++) {
        const ZydisDecodedOperand *operand = &in->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
            ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) == name)
            return true;
    }
    return false;
}

static uint64_t operand_address(const struct instruction *in, const ZydisDecodedOperand *operand,
                                const struct step *before, const struct step *after) {
    static ZydisRegisterContext context;
    bool is_implied = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    uint64_t address = 0;

    if (is_implied &&
        operand->mem.base == ZYDIS_REGISTER_RSP) /* pushed: where RSP is now; popped: where it was */
        return operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? after->registers[PIE_ACCESS_RSP]
                                                                  : before->registers[PIE_ACCESS_RSP];
    for (int i = 0; i < PIE_ACCESS_REGISTERS; i++)
        context.values[ZYDIS_REGISTER_RAX + i] = before->registers[i];
    if (in->zydis.mnemonic == ZYDIS_MNEMONIC_POP && operand->mem.base == ZYDIS_REGISTER_RSP)
        context.values[ZYDIS_REGISTER_RSP] += 8;
    ZydisCalcAbsoluteAddressEx(&in->zydis, operand, in->rip, &context, &address);
    return operand->mem.segment == ZYDIS_REGISTER_FS ? address + thread_pointer() : address;
}

static bool is_hint(const ZydisDecodedInstruction *in) {
    return in->meta.category == ZYDIS_CATEGORY_NOP || in->meta.category == ZYDIS_CATEGORY_WIDENOP ||
           in->meta.category == ZYDIS_CATEGORY_PREFETCH || in->meta.category == ZYDIS_CATEGORY_CLFLUSHOPT;
}

static int operands_touched(const struct instruction *in, const struct step *before, const struct step *after,
                            struct touched touched[OPERANDS_MAX]) {
    int n = 0;

    for (unsigned i = 0; i < in->zydis.operand_count && n < OPERANDS_MAX && !is_hint(&in->zydis); i++) {
        const ZydisDecodedOperand *operand = &in->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
            operand->mem.type == ZYDIS_MEMOP_TYPE_MIB)
            continue;
        touched[n++] = (struct touched){
            .address = operand_address(in, operand, before, after),
            .size_bytes = operand->size / 8,
            .is_load = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ,
            .is_store = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE,
            .is_gather = operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB,
            .is_evident = operand->mem.type == ZYDIS_MEMOP_TYPE_MEM &&
                          operand->mem.segment != ZYDIS_REGISTER_FS && !is_written(in, operand->mem.base) &&
                          !is_written(in, operand->mem.index),
        };
    }
    return n;
}

static bool is_transfer(const ZydisDecodedInstruction *in) {
    return in->meta.category == ZYDIS_CATEGORY_CALL || in->meta.category == ZYDIS_CATEGORY_RET ||
           in->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
}

/* The trap flag stops after each iteration of a repeated instruction. */
static bool is_behind(const struct instruction *in, const struct step *after) {
    return after->rip == in->rip || (after->rip == in->rip + in->zydis.length && !is_transfer(&in->zydis));
}

/* glibc jumps over a LOCK prefix when there is one thread: two instructions end at the same place. */
static bool differs_by_prefix(uint64_t named, uint64_t rip) {
    return (named == rip + 1 && *(const uint8_t *)rip == 0xf0) ||
           (named == rip - 1 && *(const uint8_t *)named == 0xf0);
}

/* A breakpoint on this operand must name this instruction. */
static void check_operand(const struct instruction *in, const struct touched *touched,
                          const struct step *after, struct verdicts *v) {
    struct pie_access access;
    int r = pie_decode_trap(after->rip, after->registers, touched->address, touched->size_bytes, &access);
    bool is_right = r == 0 && access.ip == in->rip;

    v->operands++;
    if (!is_behind(in, after)) {
        v->elsewhere++;
        v->elsewhere_named += r == 0 && !is_right;
    } else if (r == -ENOENT) {
        v->first_unknown = v->no_function++ ? v->first_unknown : in->rip;
    } else if (r < 0) {
        v->first_refused = v->refused++ ? v->first_refused : in->rip;
    } else if (is_right || differs_by_prefix(access.ip, in->rip)) {
        v->named += is_right;
        v->named_by_prefix += !is_right;
    } else {
        v->first_wrong = v->wrong++ ? v->first_wrong : in->rip;
    }
}

/* … and one on memory far away must not, where the registers tell. */
static void check_elsewhere(const struct instruction *in, const struct touched *touched,
                            const struct step *after, struct verdicts *v) {
    struct pie_access access;
    int r = pie_decode_trap(after->rip, after->registers, touched->address + FAR_BYTES, touched->size_bytes,
                            &access);

    if (!is_behind(in, after) || r == -ENOENT)
        return;
    v->far_refused += touched->is_evident && r == -ENXIO;
    v->far_accepted += touched->is_evident && r == 0;
    v->hidden_accepted += !touched->is_evident && r == 0;
    v->hidden_refused += !touched->is_evident && r == -ENXIO;
}

/* Each access that a block lists at this instruction is one that was made. */
static void check_listed(const struct instruction *in, const struct touched *touched, int n,
                         const struct step *before, const struct pie_access *accesses, size_t n_accesses,
                         struct verdicts *v) {
    for (size_t i = 0; i < n_accesses; i++) {
        const struct pie_access *access = &accesses[i];
        bool is_made = false;
        if (access->ip != in->rip)
            continue;
        uint64_t address = pie_access_address(access, before->registers);
        for (int j = 0; j < n; j++)
            is_made |= address == touched[j].address && access->size_bytes == touched[j].size_bytes &&
                       !(access->flags & PIE_ACCESS_LOAD) == !touched[j].is_load &&
                       !(access->flags & PIE_ACCESS_STORE) == !touched[j].is_store;
        v->listed++;
        if (!is_made)
            v->first_listed_wrong = v->listed_wrong++ ? v->first_listed_wrong : in->rip;
    }
}

static bool is_direct(const struct instruction *in) {
    return in->zydis.raw.imm[0].size && in->zydis.raw.imm[0].is_relative;
}

/* Blocks are left at their last instruction and entered at their first. */
static void check_flow(const struct instruction *in, const struct pie_decode_basic_block *block,
                       const struct step *after, struct verdicts *v) {
    bool goes_on = after->rip == in->rip + in->zydis.length || after->rip == in->rip;
    struct pie_decode_basic_block next;
    struct pie_access accesses[64];

    if (goes_on)
        return;
    if (in->rip + in->zydis.length != block->high)
        v->first_split = v->split_blocks++ ? v->first_split : in->rip;
    int r = pie_decode_basic_block(after->rip, accesses, 64, &next);
    if (r < 0 && r != -E2BIG)
        return;
    bool is_inside = next.low != after->rip;
    if (is_direct(in) && pie_cfi_function(in->rip) == pie_cfi_function(after->rip)) {
        v->entries++;
        if (is_inside)
            v->first_entry_wrong = v->entries_wrong++ ? v->first_entry_wrong : in->rip;
    } else {
        v->foreign_entries++;
        v->foreign_inside += is_inside;
    }
}

static void check_block(const struct instruction *in, const struct touched *touched, int n,
                        const struct step *before, const struct step *after, struct verdicts *v) {
    struct pie_access accesses[256];
    struct pie_decode_basic_block block;
    int r = pie_decode_basic_block(in->rip, accesses, 256, &block);

    if (r == -ENOENT) {
        v->no_block++;
        return;
    }
    v->blocks++;
    if (r < 0 || in->rip < block.low || in->rip >= block.high) {
        v->first_split = v->split_blocks++ ? v->first_split : in->rip;
        return;
    }
    check_listed(in, touched, n, before, accesses, block.count, v);
    check_flow(in, &block, after, v);
}

static void check_steps(const struct step *steps, size_t n, struct verdicts *v) {
    for (size_t i = 0; i + 1 < n; i++) {
        struct instruction in;
        struct touched touched[OPERANDS_MAX];
        if (steps[i + 1].is_gap || !decode(steps[i].rip, &in) ||
            in.zydis.meta.category == ZYDIS_CATEGORY_SYSCALL)
            continue;
        int n_touched = operands_touched(&in, &steps[i], &steps[i + 1], touched);
        v->steps++;
        for (int j = 0; j < n_touched; j++) {
            check_operand(&in, &touched[j], &steps[i + 1], v);
            check_elsewhere(&in, &touched[j], &steps[i + 1], v);
        }
        check_block(&in, touched, n_touched, &steps[i], &steps[i + 1], v);
    }
}

static void tell_place(const char *what, uint64_t address) {
    Dl_info info = {0};

    if (address && dladdr((void *)address, &info))
        print_message("# first %s: %#lx %s+%#lx (%s)\n", what, address, info.dli_fname,
                      address - (uint64_t)(uintptr_t)info.dli_fbase, info.dli_sname ? info.dli_sname : "?");
}

static void tell(const char *name, const struct verdicts *v) {
    long judged = v->operands - v->elsewhere - v->no_function;

    print_message("# %s: %ld steps, %ld operands behind their instruction: %.4f %% named (%ld by the other "
                  "beginning of a "
                  "LOCK), %ld wrong, %ld refused; %ld without a function\n",
                  name, v->steps, judged, 100.0 * (double)(v->named + v->named_by_prefix) / (double)judged,
                  v->named_by_prefix, v->wrong, v->refused, v->no_function);
    print_message("# %ld operands of transfers: %ld named wrongly\n", v->elsewhere, v->elsewhere_named);
    print_message("# far addresses: evident %ld refused, %ld accepted; hidden %ld refused, %ld accepted\n",
                  v->far_refused, v->far_accepted, v->hidden_refused, v->hidden_accepted);
    print_message("# %ld in blocks (%ld not), %ld split; entries: %ld direct, %ld of them inside; %ld "
                  "others, %ld inside; "
                  "%ld accesses listed, %ld wrong\n",
                  v->blocks, v->no_block, v->split_blocks, v->entries, v->entries_wrong, v->foreign_entries,
                  v->foreign_inside, v->listed, v->listed_wrong);
    tell_place("wrong", v->first_wrong);
    tell_place("refused", v->first_refused);
    tell_place("split", v->first_split);
    tell_place("entered inside", v->first_entry_wrong);
    tell_place("without a function", v->first_unknown);
    tell_place("listed wrongly", v->first_listed_wrong);
}

/* steps: at most, and at least half as many. */
static void check_work(const char *name, void (*work)(void), size_t steps_max) {
    struct verdicts v = {0};
    const struct step *steps;
    size_t n = stepping_run(work, steps_max, &steps);

    stepping_catch_faults();
    check_steps(steps, n, &v);
    tell(name, &v);
    assert_true((size_t)v.steps >= steps_max / 2);
    assert_int_equal(v.wrong, 0);
    assert_int_equal(v.refused, 0);
    assert_int_equal(v.far_accepted, 0);
    assert_int_equal(v.split_blocks, 0);
    assert_int_equal(v.listed_wrong, 0);
    assert_int_equal(v.entries_wrong, 0);
    assert_true(v.listed > 0);
    assert_true((double)v.no_function <= 0.02 * (double)v.operands);
    assert_true((double)v.foreign_inside <= 0.02 * (double)v.foreign_entries);
    assert_true((double)v.elsewhere_named <= 0.02 * (double)v.elsewhere);
}

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static void c_library(void) {
    static char from[1 << 13], to[1 << 13];
    int numbers[50];
    char text[64];

    for (int i = 0; i < 50; i++)
        numbers[i] = i * 7 % 50;
    qsort(numbers, 50, sizeof *numbers, compare);
    for (size_t size = 1; size <= sizeof from; size += size / 2 + 1) {
        memcpy(to, from, size);
        memmove(to + 1, to, size - 1);
        memset(from, (int)size, size);
        if (memcmp(from, to, size) > 1000 || memchr(from, 1, size) == to)
            return;
    }
    for (int i = 0; i < 20; i++) {
        snprintf(text, sizeof text, "%d %.17g %s %p", numbers[i], 1e100 / (i + 3), "abc", (void *)text);
        numbers[i] = (int)strtod(text, NULL) + (int)wcslen(L"some text") + (int)strlen(text);
        free(realloc(malloc((size_t)numbers[i] % 5000), 100000));
    }
}

static void test_the_c_library(void **state) {
    c_library(); /* lazy binding is done before */
    check_work("libc", c_library, 60000);
}

static struct {
    int (*compress)(unsigned char *, unsigned long *, const unsigned char *, unsigned long);
    int (*uncompress)(unsigned char *, unsigned long *, const unsigned char *, unsigned long);
} zlib;

static void zlib_work(void) {
    static unsigned char text[4000], packed[5000], back[4000];
    unsigned long packed_size = sizeof packed, back_size = sizeof back;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)(i * i / 97 % 61);
    zlib.compress(packed, &packed_size, text, sizeof text);
    zlib.uncompress(back, &back_size, packed, packed_size);
}

static void test_zlib(void **state) {
    void *library = dlopen("libz.so.1", RTLD_NOW);

    if (!library) {
        print_message("# no libz.so.1 here\n");
        skip();
    }
    *(void **)&zlib.compress = dlsym(library, "compress");
    *(void **)&zlib.uncompress = dlsym(library, "uncompress");
    zlib_work();
    check_work("zlib", zlib_work, 80000);
}

/* The interpreter and NumPy, without their headers. */
static struct {
    void (*initialize)(int);
    int (*run)(const char *);
    void *(*add_module)(const char *);
    void *(*get_attribute)(void *, const char *);
    void *(*call)(void *);
    void *function;
} python;

static bool python_start(void) {
    void *library = dlopen("libpython" PIEPROF_PYTHON_VERSION ".so.1.0", RTLD_NOW | RTLD_GLOBAL);

    if (!library)
        return false;
    setenv("PYTHONHOME", PIEPROF_PYTHON_PREFIX, 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    *(void **)&python.initialize = dlsym(library, "Py_InitializeEx");
    *(void **)&python.run = dlsym(library, "PyRun_SimpleString");
    *(void **)&python.add_module = dlsym(library, "PyImport_AddModule");
    *(void **)&python.get_attribute = dlsym(library, "PyObject_GetAttrString");
    *(void **)&python.call = dlsym(library, "PyObject_CallNoArgs");
    python.initialize(0);
    return true;
}

static bool python_define(const char *source) {
    if (python.run(source) != 0)
        return false;
    python.function = python.get_attribute(python.add_module("__main__"), "work");
    return python.call(python.function) && python.call(python.function); /* caches are warm */
}

static void python_work(void) {
    python.call(python.function);
}

static void test_the_interpreter(void **state) {
    if (!python_start()) {
        print_message("# no shared libpython here\n");
        skip();
    }
    assert_true(python_define("import json, re\n"
                              "def work():\n"
                              "    data = {str(i): [i * 1.5, -i, 'x' * i, {i: None}] for i in range(30)}\n"
                              "    text = json.dumps(data, sort_keys=True)\n"
                              "    assert json.loads(text) and re.findall(r'(\\d+)\\.5', text)\n"
                              "    return sorted(text.split(), key=len)[:3], 3**200 % 10**40, hash(text)\n"));
    check_work("libpython", python_work, 100000);
}

static void test_numpy(void **state) {
    if (!python.run || python.run("import numpy as np") != 0) {
        print_message("# no NumPy here\n");
        skip();
    }
    assert_true(
        python_define("import numpy as np\n"
                      "rng = np.random.default_rng(1)\n"
                      "def work():\n"
                      "    a = np.arange(40.0).reshape(8, 5); b = a.T.copy(); m = a > 3\n"
                      "    s = a[2, 3] + a[1:3].sum() + (a * 2 + 1).max() + a[m].mean()\n"
                      "    c = np.sort(rng.random(70)); d = np.exp(c) + np.sin(c.astype('f4')) / np.sqrt(c)\n"
                      "    e = np.take(c, [1, 5, 3]); e[[0, 1]] = 4; f = np.concatenate([c, e])\n"
                      "    g = np.array(['b', 'a']); g.sort(); h = (a @ b).argmax()\n"
                      "    return s, d, np.cumsum(f), np.where(m, a, -a), g, h, a.astype('i4').tobytes()\n"));
    check_work("numpy", python_work, 240000);
}

static int set_up(void **state) {
    return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ? 0
                                                                                                      : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_c_library),
        cmocka_unit_test(test_zlib),
        cmocka_unit_test(test_the_interpreter),
        cmocka_unit_test(test_numpy),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */

/* The first call comes from the dynamic linker, before any constructor: it looks up malloc() and its like as soon as
 * everything is relocated, and finds ours. So nothing here may need to be set up. Each pointer begins at a function
 * that asks dlsym() for all of them, which is then never called again; a later call costs no test.
 *
 * dlsym() may allocate. What it is given comes from a small arena, whose blocks free() recognises by their address,
 * realloc() and malloc_usable_size(); these three are only replaced by the successors themselves if there is no such
 * block. Of a new glibc dlsym() allocates nothing as long as it succeeds, so mostly there is none.
 *
 * glibc also exports its functions as __libc_malloc() and so on. They are the same addresses that dlsym() returns, and
 * only show whether the next allocator is glibc's: calling them before that is known would leave blocks behind that a
 * preloaded allocator cannot free. */

#include "runtime/memory/allocator_base.h"

#include "runtime/memory/allocator.h"
#include "runtime/memory/mappings.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ARENA_BYTES = 32 << 10, ALIGNMENT = 16, NOTE_BYTES = 16 };

/* Both survive a fork as they are. */
static _Alignas(64) char arena[ARENA_BYTES];
static _Atomic size_t arena_used;

/* dlsym() was called by this thread and has not returned. volatile: it is declared as one that never calls back, so the
 * compiler would drop what only such a call sees. That of glibc 2.31 calls calloc(). */
static __thread volatile bool is_resolving;

enum pie_allocator_measure pie_allocator_measure;
bool pie_allocator_is_foreign;
static char refusal[256] = "it was not looked at";
static char library[256];

static bool is_of_arena(const void *block) {
    return (uintptr_t)block - (uintptr_t)arena < sizeof arena;
}

/* With glibc's note before it, so that its size is found in either way. The arena is zeroed memory and no block of it
 * is used again. */
static void *take_from_arena(size_t alignment, size_t bytes) {
    if (bytes > sizeof arena || alignment > sizeof arena) {
        errno = ENOMEM;
        return NULL;
    }
    if (alignment < ALIGNMENT)
        alignment = ALIGNMENT;
    bytes =
        (bytes + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - 8; /* the last word is the next one's note */
    size_t needed = NOTE_BYTES + alignment + bytes;
    size_t begin = atomic_fetch_add_explicit(&arena_used, needed, memory_order_relaxed);
    if (begin > sizeof arena || needed > sizeof arena - begin) {
        errno = ENOMEM;
        return NULL;
    }
    uintptr_t at = ((uintptr_t)arena + begin + NOTE_BYTES + alignment - 1) & ~(uintptr_t)(alignment - 1);
    ((size_t *)at)[-1] = (bytes + 8) | 1;
    return (void *)at;
}

static struct pie_allocator_base next; /* what dlsym() found */

static void free_checked(void *block) {
    if (!is_of_arena(block))
        next.free(block);
}

static void *realloc_checked(void *block, size_t size) {
    if (!is_of_arena(block))
        return next.realloc(block, size);
    void *moved = next.malloc(size);
    if (moved) {
        size_t old_size = pie_allocator_noted_size(block);
        memcpy(moved, block, old_size < size ? old_size : size);
    }
    return moved;
}

static size_t usable_size_checked(void *block) {
    return is_of_arena(block) ? pie_allocator_noted_size(block) : next.malloc_usable_size(block);
}

/* False: this is a call that dlsym() itself makes. Threads do not meet here, because creating one allocates. */
static bool resolve(void) {
    int kept = errno;

    if (is_resolving)
        return false;
    is_resolving = true;
    next = (struct pie_allocator_base){
        .malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc"),
        .free = (void (*)(void *))dlsym(RTLD_NEXT, "free"),
        .calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc"),
        .realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc"),
        .memalign = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "memalign"),
        .aligned_alloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc"),
        .posix_memalign = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign"),
        .valloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "valloc"),
        .pvalloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "pvalloc"),
        .malloc_usable_size = (size_t (*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size"),
    };
    is_resolving = false;
    pie_allocator_base = next;
    if (atomic_load_explicit(&arena_used, memory_order_relaxed)) {
        pie_allocator_base.free = free_checked;
        pie_allocator_base.realloc = realloc_checked;
        pie_allocator_base.malloc_usable_size = usable_size_checked;
    }
    errno = kept;
    return true;
}

static void *first_malloc(size_t size) {
    return resolve() ? pie_allocator_base.malloc(size) : take_from_arena(ALIGNMENT, size);
}

static void first_free(void *block) {
    if (!is_of_arena(block) && resolve())
        pie_allocator_base.free(block);
}

static void *first_calloc(size_t count, size_t size) {
    size_t bytes;

    if (resolve())
        return pie_allocator_base.calloc(count, size);
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    return take_from_arena(ALIGNMENT, bytes);
}

static void *first_realloc(void *block, size_t size) {
    if (resolve())
        return pie_allocator_base.realloc(block, size);
    void *moved = take_from_arena(ALIGNMENT, size);
    if (moved && block) {
        size_t old_size = pie_allocator_noted_size(block);
        memcpy(moved, block, old_size < size ? old_size : size);
    }
    return moved;
}

static void *first_memalign(size_t alignment, size_t size) {
    return resolve() ? pie_allocator_base.memalign(alignment, size) : take_from_arena(alignment, size);
}

static void *first_aligned_alloc(size_t alignment, size_t size) {
    return resolve() ? pie_allocator_base.aligned_alloc(alignment, size) : take_from_arena(alignment, size);
}

static int first_posix_memalign(void **ret_block, size_t alignment, size_t size) {
    int kept = errno;

    if (resolve())
        return pie_allocator_base.posix_memalign(ret_block, alignment, size);
    void *block = take_from_arena(alignment, size);
    errno = kept;
    if (!block)
        return ENOMEM;
    *ret_block = block;
    return 0;
}

static void *first_valloc(size_t size) {
    return resolve() ? pie_allocator_base.valloc(size) : take_from_arena(4096, size);
}

static void *first_pvalloc(size_t size) {
    return resolve() ? pie_allocator_base.pvalloc(size)
                     : take_from_arena(4096, (size + 4095) & ~(size_t)4095);
}

static size_t first_usable_size(void *block) {
    if (is_of_arena(block))
        return pie_allocator_noted_size(block);
    return resolve() ? pie_allocator_base.malloc_usable_size(block) : 0;
}

struct pie_allocator_base pie_allocator_base = {
    .malloc = first_malloc,
    .free = first_free,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .memalign = first_memalign,
    .aligned_alloc = first_aligned_alloc,
    .posix_memalign = first_posix_memalign,
    .valloc = first_valloc,
    .pvalloc = first_pvalloc,
    .malloc_usable_size = first_usable_size,
};

/* Where a function comes from; NULL: unknown. */
static void *library_of(void *function, const char **ret_path) {
    Dl_info info;

    if (!function || !dladdr(function, &info))
        return NULL;
    if (ret_path)
        *ret_path = info.dli_fname;
    return info.dli_fbase;
}

/* The addresses of the library that `wanted` is of. dladdr() would look for the nearest of all of its names as well,
 * for each function anew. */
struct place {
    uintptr_t wanted, begin, end;
};

static int note_place(struct dl_phdr_info *info, size_t size, void *context) {
    struct place *place = context;
    uintptr_t begin = UINTPTR_MAX, end = 0;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD)
            continue;
        begin = at < begin ? at : begin;
        end = at + header->p_memsz > end ? at + header->p_memsz : end;
    }
    if (place->wanted < begin || place->wanted >= end)
        return 0;
    place->begin = begin;
    place->end = end;
    return 1;
}

/* Who owns blocks must be who measures them. */
static bool is_of_one_library(const struct pie_allocator_base *base) {
    struct place owner = {.wanted = (uintptr_t)base->malloc};
    void *const others[] = {(void *)base->free,
                            (void *)base->calloc,
                            (void *)base->realloc,
                            (void *)base->memalign,
                            (void *)base->posix_memalign,
                            (void *)base->aligned_alloc,
                            (void *)base->malloc_usable_size};

    if (!dl_iterate_phdr(note_place, &owner))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if ((uintptr_t)others[i] < owner.begin || (uintptr_t)others[i] >= owner.end)
            return false;
    return true;
}

/* Sanitizers that replace malloc() all define this beside it (sanitizer/allocator_interface.h). */
static bool is_of_sanitizer(const struct pie_allocator_base *base) {
    void *its_own = dlsym(RTLD_DEFAULT, "__sanitizer_get_allocated_size");

    if (!its_own)
        dlerror(); /* not the program's failure */
    return its_own && library_of(its_own, NULL) == library_of((void *)base->malloc, NULL);
}

/* Whether a block's note says what the allocator says. block: may be NULL. Frees it. */
static bool agrees(const struct pie_allocator_base *base, void *block) {
    bool same = block && pie_allocator_noted_size(block) == base->malloc_usable_size(block);

    base->free(block);
    return same;
}

/* glibc's tunables, its debugging library, other versions: small, large and mapped blocks, aligned ones too. The mapped
 * one is larger than DEFAULT_MMAP_THRESHOLD_MAX: freeing one that is smaller would change how the program's large
 * blocks are made from then on. */
static bool has_notes(const struct pie_allocator_base *base) {
    static const size_t sizes[] = {0, 1, 24, 25, 40, 100, 1000, 1032, 4096, 70000, (32 << 20) + 12345};
    static const size_t alignments[] = {16, 64, 4096};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (!agrees(base, base->malloc(sizes[i])))
            return false;
        for (size_t k = 0; k < sizeof alignments / sizeof *alignments; k++)
            if (!agrees(base, base->memalign(alignments[k], sizes[i])))
                return false;
    }
    return agrees(base, base->realloc(base->malloc(10), 5000)) && agrees(base, base->calloc(3, 333));
}

bool pie_allocator_check(void) {
    const struct pie_allocator_base *base = &next;

    pie_allocator_base.free(pie_allocator_base.malloc(1)); /* now they are known */
    void *glibc_malloc = dlsym(RTLD_DEFAULT, "__libc_malloc");
    const char *path = "an unknown library";
    void *owner = library_of((void *)base->malloc, &path);

    pie_allocator_is_foreign = !glibc_malloc || (void *)base->malloc != glibc_malloc;
    snprintf(library, sizeof library, "%s", path);
    refusal[0] = '\0';
    pie_allocator_measure = PIE_ALLOCATOR_UNKNOWN;
    if (is_of_sanitizer(base))
        snprintf(refusal, sizeof refusal, "%.200s checks this process's memory", path);
    else if (!owner || !is_of_one_library(base))
        snprintf(refusal, sizeof refusal, "%.150s replaces only a part of the C library's allocator", path);
    else
        pie_allocator_measure =
            !pie_allocator_is_foreign && has_notes(base) ? PIE_ALLOCATOR_HEADER : PIE_ALLOCATOR_ASK;
    if (pie_allocator_is_foreign && owner)
        pie_mappings_set_allocator((void *)base->malloc);
    return pie_allocator_is_counted();
}

bool pie_allocator_is_counted(void) {
    return pie_allocator_measure != PIE_ALLOCATOR_UNKNOWN;
}

const char *pie_allocator_refusal(void) {
    return pie_allocator_is_counted() ? NULL : refusal;
}

const char *pie_allocator_name(void) {
    if (!library[0])
        pie_allocator_check();
    if (!pie_allocator_is_foreign)
        return "glibc";
    const char *file = strrchr(library, '/');
    file = file ? file + 1 : library;
    return strncmp(file, "libjemalloc", strlen("libjemalloc")) == 0 ? "jemalloc" : library;
}

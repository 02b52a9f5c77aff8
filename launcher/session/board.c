/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/session/board.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/confirm/board.h"

#define NAME "_PIEPROF_CONFIRM"

static struct pie_confirm_board *map(int fd) {
    void *memory = mmap(NULL, sizeof(struct pie_confirm_board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

int pie_confirm_board_create(struct pie_confirm_board **ret_board, int *ret_fd) {
    int fd = memfd_create("pieprof confirm", MFD_CLOEXEC);

    if (fd < 0)
        return -errno;
    struct pie_confirm_board *board = ftruncate(fd, sizeof *board) == 0 ? map(fd) : NULL;
    if (!board) {
        int r = -errno;
        close(fd);
        return r;
    }
    *ret_board = board;
    *ret_fd = fd;
    return 0;
}

void pie_confirm_board_variable(int fd, char *text, size_t size) {
    snprintf(text, size, NAME "=%d", fd);
}

/* Memory of exactly this size, whoever has set the variable. */
static bool is_board(int fd) {
    struct stat status;

    return fstat(fd, &status) == 0 && status.st_size == sizeof(struct pie_confirm_board) &&
           fcntl(fd, F_GET_SEALS) >= 0;
}

struct pie_confirm_board *pie_confirm_board_take(void) {
    const char *value = getenv(NAME);
    char *end = NULL;
    long fd = value ? strtol(value, &end, 10) : -1;
    bool is_number = value && end != value && !*end && fd > 2;

    if (value)
        unsetenv(NAME);
    if (!is_number || getauxval(AT_SECURE) || !is_board((int)fd))
        return NULL;
    struct pie_confirm_board *board = map((int)fd);
    close((int)fd);
    return board;
}

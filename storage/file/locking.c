/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/locking.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

/* Far beyond any byte that SQLite locks. A profile has paths, command lines and source text: it is made for its user
 * alone, and so are its log and the log's index, to which SQLite gives its mode. */
enum { PROBE_OFFSET = 0x7ffffff0, MODE = 0600 };

int pie_locking_check(const char *path) {
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = PROBE_OFFSET, .l_len = 1};
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, MODE);
    bool is_ours = fd >= 0;
    if (fd < 0) /* there already, or a link to where nothing is */
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, MODE);
    if (fd < 0)
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    int r = fcntl(fd, F_SETLK, &lock) < 0 ? -errno : 0;
    close(fd);
    bool has_none = r == -ENOLCK || r == -ENOSYS || r == -EOPNOTSUPP || r == -EINVAL || r == -EIO;
    if (has_none && is_ours)
        unlink(path);
    return has_none ? -ENOLCK : 0;
}

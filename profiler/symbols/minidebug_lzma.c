/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/base/own_memory.h"
#include "profiler/symbols/minidebug.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

/* What the decoder may use for its dictionary; xz -9 needs 65 MiB. */
static const uint64_t decoder_bytes_max = 80 * 1024 * 1024;

static int decode(lzma_stream *stream, size_t max_bytes, unsigned char **bytes, size_t *ret_size) {
    size_t capacity = 0;
    for (;;) {
        if (stream->avail_out == 0) {
            size_t grown = capacity ? capacity * 2 : 256 * 1024;
            unsigned char *larger = capacity < max_bytes ? pie_realloc(*bytes, grown) : NULL;
            if (!larger)
                return capacity < max_bytes ? -ENOMEM : -EFBIG;
            *bytes = larger;
            stream->next_out = larger + capacity;
            stream->avail_out = grown - capacity;
            capacity = grown;
        }
        lzma_ret r = lzma_code(stream, LZMA_FINISH);
        if (r == LZMA_STREAM_END) {
            *ret_size = capacity - stream->avail_out;
            return 0;
        }
        if (r != LZMA_OK)
            return r == LZMA_MEM_ERROR || r == LZMA_MEMLIMIT_ERROR ? -ENOMEM : -ENOEXEC;
    }
}

int pie_minidebug_unpack(const void *packed, size_t packed_bytes, size_t max_bytes, void **ret_bytes,
                         size_t *ret_size) {
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, decoder_bytes_max, 0) != LZMA_OK)
        return -ENOMEM;
    stream.next_in = packed;
    stream.avail_in = packed_bytes;
    unsigned char *bytes = NULL;
    size_t size;
    int r = decode(&stream, max_bytes, &bytes, &size);
    lzma_end(&stream);
    if (r < 0) {
        pie_free(bytes);
        return r;
    }
    *ret_bytes = bytes;
    *ret_size = size;
    return 0;
}

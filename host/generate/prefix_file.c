/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/prefix_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "kernels/kv_cache.h"

/* VERSION is raised when the format changes, or when the same model computes other keys and values. */
enum { VERSION = 1, MOST_TOKENS = 1 << 26 };

static const char magic[8] = "graftkv";

/* The header of a file. It is followed by the token ids [tokens] i32; the sizes of the layers [layers], each a struct
 * graft_kv_layer; and for each layer its keys, head by head, then its values. Numbers have the machine's byte order,
 * which is little-endian on all supported machines. */
struct header {
    char magic[8];
    uint32_t version;
    uint32_t layers;
    uint64_t tokens;
    uint64_t sum; /* checksum of the header, with 0 in this field, and of everything after it */
    char identity[GRAFT_SHA256_DIGITS];
};

/* A checksum in four lanes, each over every fourth 64-bit word, so that it runs as fast as memory. It detects
 * accidental damage, not forgery. Each part is added in whole words, with the rest of it byte by byte. */
struct sum {
    uint64_t lanes[4];
    size_t words;
};

static uint64_t mix(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return sum ^ (sum >> 29);
}

static void sum_add(struct sum *sum, const void *bytes, size_t length) {
    const char *at = bytes;
    for (; length >= sizeof(uint64_t); at += sizeof(uint64_t), length -= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        uint64_t *lane = &sum->lanes[sum->words++ % 4];
        *lane = mix(*lane, word);
    }
    for (; length > 0; at++, length--) {
        uint64_t *lane = &sum->lanes[sum->words++ % 4];
        *lane = mix(*lane, (unsigned char)*at + UINT64_C(0x100));
    }
}

static uint64_t sum_of(const struct sum *sum) {
    uint64_t all = sum->words;
    for (int i = 0; i < 4; i++) {
        all = mix(all, sum->lanes[i]);
    }
    return all;
}

static void sum_header(struct sum *sum, const struct header *header) {
    struct header counted = *header;
    counted.sum = 0;
    sum_add(sum, &counted, sizeof counted);
}

/* --- Writing --- */

struct pieces {
    struct graft_file_piece *items;
    size_t n, capacity;
    int failed;
};

static void add_piece(struct pieces *pieces, const void *data, size_t bytes) {
    if (pieces->failed || graft_grow(&pieces->items, &pieces->capacity, pieces->n, sizeof *pieces->items) != 0) {
        pieces->failed = 1;
        return;
    }
    pieces->items[pieces->n++] = (struct graft_file_piece){data, bytes};
}

static void add_layer(struct pieces *pieces, const struct graft_kv_cache *kv, int32_t layer,
                      const struct graft_run_prefix *prefix) {
    const struct graft_kv_layer sizes = graft_kv_cache_layer(kv, layer, prefix->slot);
    for (int values = 0; values < 2; values++) {
        const int64_t bytes = values ? sizes.value_bytes : sizes.key_bytes;
        for (int64_t head = 0; head < sizes.kv_heads && bytes > 0; head++) {
            add_piece(pieces, graft_kv_cache_head(kv, layer, prefix->slot, head, values),
                      prefix->count * (size_t)bytes);
        }
    }
}

int64_t graft_prefix_file_bytes(const struct graft_session *session, const struct graft_run_prefix *prefix) {
    const struct graft_kv_cache *kv = graft_session_kv(session);
    const int32_t layers = graft_kv_cache_layers(kv);
    int64_t bytes = (int64_t)sizeof(struct header) + layers * (int64_t)sizeof(struct graft_kv_layer) +
                    (int64_t)(prefix->count * sizeof *prefix->ids);
    for (int32_t i = 0; i < layers; i++) {
        const struct graft_kv_layer sizes = graft_kv_cache_layer(kv, i, prefix->slot);
        bytes += (int64_t)prefix->count * sizes.kv_heads * (sizes.key_bytes + sizes.value_bytes);
    }
    return bytes;
}

int graft_prefix_file_write(const char *path, const char identity[GRAFT_SHA256_DIGITS + 1],
                            const struct graft_session *session, const struct graft_run_prefix *prefix,
                            struct graft_error *error) {
    const struct graft_kv_cache *kv = graft_session_kv(session);
    const int32_t layers = graft_kv_cache_layers(kv);
    struct header header = {.version = VERSION, .layers = (uint32_t)layers, .tokens = prefix->count};
    struct graft_kv_layer *sizes = graft_alloc((size_t)layers, sizeof *sizes);
    struct pieces pieces = {.failed = sizes == NULL};
    struct sum sum = {{0}, 0};
    memcpy(header.magic, magic, sizeof magic);
    memcpy(header.identity, identity, sizeof header.identity);
    add_piece(&pieces, &header, sizeof header);
    add_piece(&pieces, prefix->ids, prefix->count * sizeof *prefix->ids);
    add_piece(&pieces, sizes, (size_t)layers * sizeof *sizes);
    for (int32_t i = 0; i < layers && !pieces.failed; i++) {
        sizes[i] = graft_kv_cache_layer(kv, i, prefix->slot);
        add_layer(&pieces, kv, i, prefix);
    }
    int status = pieces.failed ? graft_fail_memory(error, path) : GRAFT_OK;
    if (status == GRAFT_OK) {
        sum_header(&sum, &header);
        for (size_t i = 1; i < pieces.n; i++) {
            sum_add(&sum, pieces.items[i].data, pieces.items[i].bytes);
        }
        header.sum = sum_of(&sum);
        status = graft_file_write(path, pieces.items, pieces.n, error);
    }
    graft_free(pieces.items);
    graft_free(sizes);
    return status;
}

/* --- Reading --- */

/* Reads the next bytes of the file, and adds them to the sum. */
static int read_bytes(const struct graft_prefix_file *file, struct sum *sum, void *to, size_t bytes,
                      struct graft_error *error) {
    size_t length = 0;
    const int number = graft_file_read_bytes(file->fd, to, bytes, &length);
    if (number != 0) {
        return graft_fail_errno(error, GRAFT_ERROR_IO, file->path, "cannot be read", number);
    }
    if (length < bytes) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file->path, "ends within what its header says");
    }
    sum_add(sum, to, bytes);
    return GRAFT_OK;
}

static int check_header(const struct graft_prefix_file *file, const struct header *header, const char *identity,
                        struct graft_error *error) {
    if (memcmp(header->magic, magic, sizeof magic) != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file->path, "is no file of a session");
    }
    if (header->version != VERSION || memcmp(header->identity, identity, sizeof header->identity) != 0) {
        (void)graft_error_set(error, GRAFT_ERROR_VERIFY, file->path,
                              "is of another model, other plugins, or another way to compute");
        graft_error_hint(error, "remove it, or name another file");
        return GRAFT_ERROR_VERIFY;
    }
    if (header->tokens == 0 || header->tokens > MOST_TOKENS ||
        header->tokens * sizeof(int32_t) + sizeof *header > file->size) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, file->path, "says that it holds %llu tokens",
                               (unsigned long long)header->tokens);
    }
    return GRAFT_OK;
}

static int read_ids(struct graft_prefix_file *file, int64_t vocab_size, struct graft_error *error) {
    struct sum sum = {{0}, 0};
    file->ids = graft_alloc(file->count, sizeof *file->ids);
    int status = file->ids != NULL ? read_bytes(file, &sum, file->ids, file->count * sizeof *file->ids, error)
                                   : graft_fail_memory(error, file->path);
    for (size_t i = 0; i < file->count && status == GRAFT_OK; i++) {
        if (file->ids[i] < 0 || file->ids[i] >= vocab_size) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, file->path,
                                     "token id %ld is outside the model's vocabulary of %lld", (long)file->ids[i],
                                     (long long)vocab_size);
        }
    }
    return status;
}

int graft_prefix_file_open(const char *path, const char identity[GRAFT_SHA256_DIGITS + 1], int64_t vocab_size,
                           struct graft_prefix_file *file, struct graft_error *error) {
    struct header header;
    struct sum sum = {{0}, 0};
    *file = (struct graft_prefix_file){.fd = -1, .path = path};
    int status = graft_file_open(path, GRAFT_ERROR_IO, &file->fd, &file->size, error);
    if (status == GRAFT_OK && file->size < sizeof header) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, path, "is no file of a session");
    }
    if (status == GRAFT_OK) {
        status = read_bytes(file, &sum, &header, sizeof header, error);
    }
    if (status == GRAFT_OK) {
        status = check_header(file, &header, identity, error);
    }
    if (status == GRAFT_OK) {
        file->count = (size_t)header.tokens;
        file->sum = header.sum;
        status = read_ids(file, vocab_size, error);
    }
    if (status != GRAFT_OK) {
        graft_prefix_file_close(file);
    }
    return status;
}

/* Starts the sum over the whole file, with the header and the ids, and checks that the sizes of the layers, and with
 * them the size of the file, are those of the session. */
static int read_sizes(const struct graft_prefix_file *file, const struct graft_kv_cache *kv, int32_t slot,
                      struct sum *sum, struct graft_error *error) {
    const int32_t layers = graft_kv_cache_layers(kv);
    struct header header;
    struct sum none = {{0}, 0};
    size_t bytes = sizeof header + file->count * sizeof *file->ids + (size_t)layers * sizeof(struct graft_kv_layer);
    int same = 1;
    if (lseek(file->fd, 0, SEEK_SET) != 0) {
        return graft_fail_errno(error, GRAFT_ERROR_IO, file->path, "cannot be read", errno);
    }
    int status = read_bytes(file, &none, &header, sizeof header, error);
    sum_header(sum, &header);
    same = status == GRAFT_OK && header.layers == (uint32_t)layers && header.tokens == file->count;
    sum_add(sum, file->ids, file->count * sizeof *file->ids);
    if (status == GRAFT_OK && lseek(file->fd, (off_t)(sizeof header + file->count * sizeof *file->ids), SEEK_SET) < 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_IO, file->path, "cannot be read", errno);
    }
    for (int32_t i = 0; i < layers && status == GRAFT_OK && same; i++) {
        const struct graft_kv_layer here = graft_kv_cache_layer(kv, i, slot);
        struct graft_kv_layer sizes;
        status = read_bytes(file, sum, &sizes, sizeof sizes, error);
        same = status == GRAFT_OK && sizes.kv_heads == here.kv_heads && sizes.key_bytes == here.key_bytes &&
               sizes.value_bytes == here.value_bytes;
        bytes += (size_t)(here.kv_heads * (here.key_bytes + here.value_bytes)) * file->count;
    }
    return status == GRAFT_OK && (!same || bytes != file->size)
               ? graft_error_set(error, GRAFT_ERROR_MODEL, file->path, "does not have the sizes that the model has")
               : status;
}

int graft_prefix_file_read(const struct graft_prefix_file *file, struct graft_session *session, int32_t slot,
                           struct graft_error *error) {
    struct graft_kv_cache *kv = graft_session_kv(session);
    struct sum sum = {{0}, 0};
    int status = read_sizes(file, kv, slot, &sum, error);
    if (status == GRAFT_OK) {
        status = graft_kv_cache_make(kv, slot, (int64_t)file->count, error);
    }
    for (int32_t layer = 0; layer < graft_kv_cache_layers(kv); layer++) {
        const struct graft_kv_layer sizes = graft_kv_cache_layer(kv, layer, slot);
        for (int64_t i = 0; i < 2 * sizes.kv_heads && status == GRAFT_OK; i++) {
            const int values = i >= sizes.kv_heads;
            const int64_t bytes = values ? sizes.value_bytes : sizes.key_bytes;
            if (bytes > 0) {
                status = read_bytes(file, &sum, graft_kv_cache_head(kv, layer, slot, i % sizes.kv_heads, values),
                                    file->count * (size_t)bytes, error);
            }
        }
    }
    return status == GRAFT_OK && sum_of(&sum) != file->sum
               ? graft_error_set(error, GRAFT_ERROR_MODEL, file->path, "is broken: its sum is wrong")
               : status;
}

void graft_prefix_file_close(struct graft_prefix_file *file) {
    if (file->fd >= 0) {
        (void)close(file->fd);
    }
    graft_free(file->ids);
    *file = (struct graft_prefix_file){.fd = -1};
}

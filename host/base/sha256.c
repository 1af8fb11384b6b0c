/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"

enum { ROUNDS = 64, LENGTH_AT = GRAFT_SHA256_BLOCK - 8 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, int bits) {
    return word >> bits | word << (32 - bits);
}

/* The message schedule: the block's big-endian words, and 48 words computed from them. */
static void expand(const unsigned char *block, uint32_t words[ROUNDS]) {
    for (int i = 0; i < 16; i++) {
        const unsigned char *at = block + (ptrdiff_t)4 * i;
        words[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (int i = 16; i < ROUNDS; i++) {
        uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[i - 7] +
                   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void mix(uint32_t state[8], const unsigned char *block) {
    uint32_t words[ROUNDS];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    expand(block, words);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t first =
            h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + words[i];
        uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    const uint32_t mixed[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) {
        state[i] += mixed[i];
    }
}

void graft_sha256_start(struct graft_sha256 *hash) {
    /* the first 32 bits of the fractional parts of the square roots of the first 8 primes */
    *hash = (struct graft_sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void graft_sha256_add(struct graft_sha256 *hash, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    while (length > 0) {
        size_t used = hash->length % GRAFT_SHA256_BLOCK;
        size_t step = GRAFT_SHA256_BLOCK - used < length ? GRAFT_SHA256_BLOCK - used : length;
        memcpy(hash->block + used, at, step);
        hash->length += step;
        at += step;
        length -= step;
        if (used + step == GRAFT_SHA256_BLOCK) {
            mix(hash->state, hash->block);
        }
    }
}

void graft_sha256_end(struct graft_sha256 *hash, char digits[GRAFT_SHA256_DIGITS + 1]) {
    static const char hexadecimal[] = "0123456789abcdef";
    static const unsigned char padding[GRAFT_SHA256_BLOCK] = {0x80};
    uint64_t bits = 8 * hash->length;
    size_t used = hash->length % GRAFT_SHA256_BLOCK;
    unsigned char tail[8];
    for (int i = 0; i < 8; i++) {
        tail[i] = (unsigned char)(bits >> (56 - 8 * i));
    }
    graft_sha256_add(hash, padding, used < LENGTH_AT ? LENGTH_AT - used : GRAFT_SHA256_BLOCK + LENGTH_AT - used);
    graft_sha256_add(hash, tail, sizeof tail);
    for (int i = 0; i < GRAFT_SHA256_DIGITS; i++) {
        digits[i] = hexadecimal[hash->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    }
    digits[GRAFT_SHA256_DIGITS] = '\0';
}

void graft_sha256_of(const void *bytes, size_t length, char digits[GRAFT_SHA256_DIGITS + 1]) {
    struct graft_sha256 hash;
    graft_sha256_start(&hash);
    graft_sha256_add(&hash, bytes, length);
    graft_sha256_end(&hash, digits);
}

int graft_sha256_file(const char *path, int code, char digits[GRAFT_SHA256_DIGITS + 1], struct graft_error *error) {
    enum { PIECE = 16384 };
    unsigned char piece[PIECE];
    struct graft_sha256 hash;
    ssize_t got = 0;
    size_t size = 0;
    int fd = -1;
    int status = graft_file_open(path, code, &fd, &size, error);
    if (status != GRAFT_OK) {
        return status;
    }
    graft_sha256_start(&hash);
    do {
        got = read(fd, piece, sizeof piece);
        graft_sha256_add(&hash, piece, got > 0 ? (size_t)got : 0);
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got < 0) {
        status = graft_fail_errno(error, code, path, "cannot be read", errno);
    }
    (void)close(fd);
    graft_sha256_end(&hash, digits);
    return status;
}

int graft_sha256_is(const char *text) {
    return strlen(text) == GRAFT_SHA256_DIGITS && strspn(text, "0123456789abcdef") == GRAFT_SHA256_DIGITS;
}

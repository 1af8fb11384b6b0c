/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target without a fuzzer: over its corpus, then for GRAFT_FUZZ_SECONDS (1) over mutations of the corpus
 * with words of the dictionary, others for another GRAFT_FUZZ_SEED (1). The target is the function that libFuzzer
 * calls, so one source serves both. usage: fuzz_NAME CORPUS_FOLDER DICTIONARY */
#define _DEFAULT_SOURCE /* for scandir */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz/target.h"
#include "fuzz/words.h"

enum { MAX_SEEDS = 64, MAX_BYTES = 1 << 16, MAX_CHANGES = 6 };

struct seed {
    uint8_t *bytes;
    size_t size;
};

static struct seed seeds[MAX_SEEDS];
static int n_seeds;
static uint64_t state;

/* SplitMix64, so that every run with the same seed tries the same inputs. */
static uint64_t next_random(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t below(size_t n) {
    return n > 0 ? (size_t)(next_random() % n) : 0;
}

static int read_seed(const char *folder, const char *name) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(MAX_BYTES);
    if (file == NULL || bytes == NULL || n_seeds == MAX_SEEDS) {
        return -1;
    }
    seeds[n_seeds].bytes = bytes;
    seeds[n_seeds].size = fread(bytes, 1, MAX_BYTES, file);
    n_seeds++;
    return fclose(file);
}

static int read_seeds(const char *folder) {
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, NULL, alphasort);
    int status = 0;
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.') {
            status |= read_seed(folder, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    return n_seeds > 0 ? status : -1;
}

/* Inserts room for `added` bytes at `at`, or removes bytes if it is negative; returns the new size. */
static size_t splice(uint8_t *bytes, size_t size, size_t at, size_t removed, const uint8_t *added, size_t n) {
    if (size - removed + n > MAX_BYTES) {
        return size;
    }
    memmove(bytes + at + n, bytes + at + removed, size - at - removed);
    memcpy(bytes + at, added, n);
    return size - removed + n;
}

static size_t change(uint8_t *bytes, size_t size) {
    uint8_t piece[256];
    size_t at = below(size), length = below(size - at < 200 ? size - at : 200);
    const struct fuzz_word *word = fuzz_word_at(next_random());
    switch (below(5)) {
    case 0:
        if (size > 0) {
            bytes[at] ^= (uint8_t)(1u << below(8));
        }
        return size;
    case 1:
        return splice(bytes, size, at, length, piece, 0);
    case 2:
        memcpy(piece, bytes + at, length);
        return splice(bytes, size, below(size), 0, piece, length);
    case 3:
        return splice(bytes, size, at, 0, word->bytes, word->size);
    default:
        return splice(bytes, size, at, length < 8 ? length : 8, word->bytes, word->size);
    }
}

int main(int argc, char **argv) {
    static uint8_t bytes[MAX_BYTES];
    const char *wanted = getenv("GRAFT_FUZZ_SECONDS"), *seed_wanted = getenv("GRAFT_FUZZ_SEED");
    long seconds = wanted != NULL ? strtol(wanted, NULL, 10) : 1, runs = 0;
    if (argc != 3 || read_seeds(argv[1]) != 0) {
        (void)fprintf(stderr, "usage: fuzz_NAME CORPUS_FOLDER DICTIONARY\n");
        return 2;
    }
    int wrong = fuzz_words_read(argv[2]);
    if (wrong != 0) {
        (void)fprintf(stderr, "%s:%d: expected a word in quotes\n", argv[2], wrong);
        return 2;
    }
    state = seed_wanted != NULL ? strtoull(seed_wanted, NULL, 10) : 1;
    for (int i = 0; i < n_seeds; i++, runs++) {
        (void)LLVMFuzzerTestOneInput(seeds[i].bytes, seeds[i].size);
    }
    for (time_t end = time(NULL) + seconds; time(NULL) < end; runs++) {
        const struct seed *seed = &seeds[below((size_t)n_seeds)];
        size_t size = seed->size;
        memcpy(bytes, seed->bytes, size);
        for (size_t i = 0, n = 1 + below(MAX_CHANGES); i < n; i++) {
            size = change(bytes, size);
        }
        (void)LLVMFuzzerTestOneInput(bytes, size);
    }
    for (int i = 0; i < n_seeds; i++) {
        free(seeds[i].bytes);
    }
    (void)printf("%ld inputs in %ld seconds\n", runs, seconds);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Makes weights by a recipe, as ../weights.py describes. Uses nothing of the library, whose reader is tested with the
 * result. */
#include "weights.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LINE = 512,
    MAX_NAME = 256,
    MAX_RANK = 6,
    MAX_TENSORS = 512,
    MAX_PATH = 4096,
    WORD_BITS = 64,
    FIELD_BITS = 16
};

enum dtype { F32, F16, BF16, I64, N_DTYPES };

static const char *const dtype_names[] = {"F32", "F16", "BF16", "I64"};
static const int dtype_bytes[] = {4, 2, 2, 8};

struct tensor {
    char name[MAX_NAME];
    enum dtype dtype;
    int base, bits, exponent, rank;
    long shape[MAX_RANK];
    long count; /* of numbers */
};

struct recipe {
    const char *path;
    const char *folder;
    char seed[MAX_NAME];
    char file[MAX_NAME]; /* that the following tensors belong to; "" before the first */
    struct tensor tensors[MAX_TENSORS];
    size_t n_tensors;
};

_Noreturn void weights_fail(const char *path, const char *what) {
    (void)fprintf(stderr, "make_models: %s: %s\n", path, what);
    exit(1);
}

/* --- Numbers --- */

static uint64_t fnv1a(uint64_t hash, const char *text) {
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    }
    return hash;
}

static uint64_t splitmix64(uint64_t *state) {
    uint64_t word = *state += UINT64_C(0x9E3779B97F4A7C15);
    word = (word ^ (word >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94D049BB133111EB);
    return word ^ (word >> 31);
}

static double next_number(const struct tensor *tensor, uint64_t *state) {
    uint64_t word = splitmix64(state);
    int64_t k = -2 * ((INT64_C(1) << tensor->bits) - 1);
    for (int shift = 0; shift < WORD_BITS; shift += FIELD_BITS) {
        k += (int64_t)((word >> shift & 0xFFFF) >> (FIELD_BITS - tensor->bits));
    }
    return tensor->base + ldexp((double)k, tensor->exponent);
}

/* The bits of a number that float16 represents exactly. */
static uint32_t half_pattern(double number) {
    int exponent = 0;
    double fraction = fabs(number) < 0x1p-14 ? ldexp(fabs(number), 24) : ldexp(frexp(fabs(number), &exponent), 11);
    uint32_t sign = signbit(number) ? 0x8000 : 0;
    /* The leading bit of a normal number's fraction, when added, increases the exponent's field by one. */
    uint32_t field = fabs(number) < 0x1p-14 ? 0 : (uint32_t)(exponent + 13) << 10;
    return sign | (field + (uint32_t)fraction);
}

static double half_value(uint32_t pattern) {
    int exponent = (int)(pattern >> 10 & 0x1F);
    double magnitude = exponent == 0 ? ldexp(pattern & 0x3FF, -24) : ldexp(0x400 + (pattern & 0x3FF), exponent - 25);
    return (pattern & 0x8000) != 0 ? -magnitude : magnitude;
}

static uint32_t single_pattern(float number) {
    uint32_t pattern = 0;
    memcpy(&pattern, &number, sizeof pattern);
    return pattern;
}

/* Returns false if the type cannot represent the number. */
static bool put_number(FILE *out, enum dtype dtype, double number) {
    uint64_t pattern = single_pattern((float)number);
    bool exact = (double)(float)number == number;
    if (dtype == F16) {
        pattern = half_pattern(number);
        exact = exact && half_value((uint32_t)pattern) == number;
    } else if (dtype == BF16) {
        exact = exact && (pattern & 0xFFFF) == 0;
        pattern >>= 16;
    } else if (dtype == I64) {
        pattern = (uint64_t)(int64_t)number;
        exact = (double)(int64_t)number == number;
    }
    for (int byte = 0; byte < dtype_bytes[dtype]; byte++) {
        (void)fputc((int)(pattern >> (8 * byte) & 0xFF), out);
    }
    return exact;
}

/* --- Files --- */

static size_t print_header(char *text, size_t size, const struct recipe *recipe) {
    size_t length = (size_t)snprintf(text, size, "{\"__metadata__\":{\"format\":\"pt\"}");
    long start = 0;
    for (size_t i = 0; i < recipe->n_tensors && length < size; i++) {
        const struct tensor *tensor = &recipe->tensors[i];
        length += (size_t)snprintf(text + length, size - length, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", tensor->name,
                                   dtype_names[tensor->dtype]);
        for (int d = 0; d < tensor->rank && length < size; d++) {
            length += (size_t)snprintf(text + length, size - length, d == 0 ? "%ld" : ",%ld", tensor->shape[d]);
        }
        if (length < size) {
            long end = start + tensor->count * dtype_bytes[tensor->dtype];
            length += (size_t)snprintf(text + length, size - length, "],\"data_offsets\":[%ld,%ld]}", start, end);
            start = end;
        }
    }
    if (length + 8 >= size) {
        weights_fail(recipe->path, "too many tensors");
    }
    text[length++] = '}';
    while (length % 8 != 0) {
        text[length++] = ' ';
    }
    return length;
}

/* Writes the file that was described so far, if any. */
static void write_file(struct recipe *recipe) {
    static char header[MAX_TENSORS * MAX_NAME];
    char path[MAX_PATH];
    if (recipe->file[0] == '\0') {
        return;
    }
    (void)snprintf(path, sizeof path, "%s/%s", recipe->folder, recipe->file);
    FILE *out = fopen(path, "wb");
    if (out == NULL) {
        weights_fail(path, "cannot be written");
    }
    size_t length = print_header(header, sizeof header, recipe);
    for (int byte = 0; byte < 8; byte++) {
        (void)fputc((int)((uint64_t)length >> (8 * byte) & 0xFF), out);
    }
    (void)fwrite(header, 1, length, out);
    for (size_t i = 0; i < recipe->n_tensors; i++) {
        const struct tensor *tensor = &recipe->tensors[i];
        uint64_t state = fnv1a(fnv1a(fnv1a(UINT64_C(0xCBF29CE484222325), recipe->seed), "/"), tensor->name);
        for (long n = 0; n < tensor->count; n++) {
            if (!put_number(out, tensor->dtype, next_number(tensor, &state))) {
                weights_fail(recipe->path, "a number that its type does not have");
            }
        }
    }
    if (ferror(out) != 0 || fclose(out) != 0) {
        weights_fail(path, "cannot be written");
    }
    recipe->n_tensors = 0;
}

/* --- The recipe --- */

/* A tensor's line: dtype, base, bits, exponent, name, dimensions. */
static bool read_tensor(struct tensor *tensor, const char *line) {
    char dtype[8] = "";
    int end = 0;
    *tensor = (struct tensor){.count = 1};
    if (sscanf(line, "%7s %d %d %d %255s%n", dtype, &tensor->base, &tensor->bits, &tensor->exponent, tensor->name,
               &end) != 5 ||
        tensor->bits < 1 || tensor->bits > FIELD_BITS) {
        return false;
    }
    while (tensor->dtype < N_DTYPES - 1 && strcmp(dtype, dtype_names[tensor->dtype]) != 0) {
        tensor->dtype++;
    }
    for (int n = 0; sscanf(line += end, "%ld%n", &tensor->shape[tensor->rank], &n) == 1; end = n) {
        long dimension = tensor->shape[tensor->rank];
        if (++tensor->rank == MAX_RANK || dimension < 1 || dimension > 1 << 20 ||
            (tensor->count *= dimension) > 1 << 20) {
            return false;
        }
    }
    return strcmp(dtype, dtype_names[tensor->dtype]) == 0;
}

static void take_line(struct recipe *recipe, const char *line) {
    char name[MAX_NAME];
    if (sscanf(line, "seed %255s", name) == 1) {
        memcpy(recipe->seed, name, sizeof name);
    } else if (sscanf(line, "file %255s", name) == 1 && strchr(name, '/') == NULL) {
        write_file(recipe);
        memcpy(recipe->file, name, sizeof name);
    } else if (recipe->n_tensors == MAX_TENSORS || !read_tensor(&recipe->tensors[recipe->n_tensors++], line)) {
        weights_fail(recipe->path, line);
    }
}

void weights_write(const char *recipe, const char *folder) {
    static struct recipe state;
    char line[MAX_LINE];
    FILE *in = fopen(recipe, "r");
    if (in == NULL) {
        weights_fail(recipe, "cannot be read");
    }
    memset(&state, 0, sizeof state);
    state.path = recipe;
    state.folder = folder;
    while (fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        take_line(&state, line);
    }
    write_file(&state);
    (void)fclose(in);
}

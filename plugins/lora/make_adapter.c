/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an adapter of the given shapes for tests, as PEFT does. A '#' in a module stands for each layer; RANK 0 stores
 * modules whole.
 *
 * usage: make_adapter DIRECTORY SEED LAYERS RANK MODULE:OUT:IN... */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "weights/safetensors_write.h"

enum { MAX_TENSORS = 4096, MAX_NAME = 256 };

static uint64_t state_of_random;

/* A pseudo-random number between -1 and 1 (Marsaglia 2003: xorshift). */
static float any_number(void) {
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return (float)(int32_t)(state_of_random >> 32) / 2147483648.0F;
}

static void need(int condition, const char *what) {
    if (!condition) {
        (void)fprintf(stderr, "make_adapter: %s\n", what);
        exit(2);
    }
}

struct tensors {
    struct graft_tensor_view items[MAX_TENSORS];
    size_t n;
};

static void add(struct tensors *tensors, const char *module, const char *name, int64_t rows, int64_t columns) {
    struct graft_tensor_view *view = &tensors->items[tensors->n++];
    float *numbers = graft_alloc((size_t)(rows * columns), sizeof *numbers);
    need(tensors->n < MAX_TENSORS && numbers != NULL, "too many tensors");
    for (int64_t i = 0; i < rows * columns; i++) {
        numbers[i] = any_number() / sqrtf((float)columns);
    }
    *view = (struct graft_tensor_view){.name = graft_format("base_model.model.%s.%s", module, name),
                                       .dtype = GRAFT_DTYPE_F32,
                                       .rank = 2,
                                       .shape = {rows, columns},
                                       .data = numbers,
                                       .bytes = rows * columns * (int64_t)sizeof *numbers};
}

static void add_module(struct tensors *tensors, const char *module, int64_t rank, int64_t out, int64_t in) {
    if (rank == 0) {
        add(tensors, module, "weight", out, in);
        return;
    }
    add(tensors, module, "lora_A.weight", rank, in);
    add(tensors, module, "lora_B.weight", out, rank);
}

/* Writes adapter_config.json. `modules` is NULL-terminated; each is NAME:OUT:IN, where # stands for every layer:
 * "model.layers.#.self_attn.q_proj:64:64". With rank 0 the adapter stores whole weights instead of pairs. */
static void write_config(const char *directory, int64_t rank, char **modules) {
    char *path = graft_format("%s/adapter_config.json", directory);
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    need(file != NULL, "cannot write the config");
    (void)fprintf(file, "{\"peft_type\": \"LORA\", \"r\": %d, \"lora_alpha\": 4, \"target_modules\": \"all-linear\"",
                  rank > 0 ? (int)rank : 1);
    for (int i = 0; rank == 0 && modules[i] != NULL; i++) {
        const char *name = strrchr(modules[i], '.') + 1;
        (void)fprintf(file, "%s\"%.*s\"", i == 0 ? ", \"modules_to_save\": [" : ", ", (int)strcspn(name, ":"), name);
    }
    (void)fprintf(file, "%s}\n", rank == 0 ? "]" : "");
    need(fclose(file) == 0, "cannot write the config");
    graft_free(path);
}

int main(int argc, char **argv) {
    static struct tensors tensors;
    struct graft_error error = graft_error_none();
    need(argc > 5, "usage: make_adapter DIRECTORY SEED LAYERS RANK MODULE:OUT:IN...");
    const int64_t layers = atoll(argv[3]), rank = atoll(argv[4]);
    state_of_random = strtoull(argv[2], NULL, 10) * 0x9E3779B97F4A7C15U + 1;
    for (int i = 5; i < argc; i++) {
        char before[MAX_NAME] = "", after[MAX_NAME] = "", module[3 * MAX_NAME];
        long long out = 0, in = 0;
        need(sscanf(argv[i], "%250[^#:]#%250[^:]:%lld:%lld", before, after, &out, &in) == 4 && out > 0 && in > 0,
             "expected MODULE:OUT:IN with a '#'");
        for (int64_t layer = 0; layer < layers; layer++) {
            (void)snprintf(module, sizeof module, "%s%lld%s", before, (long long)layer, after);
            add_module(&tensors, module, rank, out, in);
        }
    }
    char *path = graft_format("%s/adapter_model.safetensors", argv[1]);
    need(path != NULL && graft_safetensors_write(path, tensors.items, tensors.n, NULL, &error) == GRAFT_OK,
         error.message);
    write_config(argv[1], rank, argv + 5);
    graft_free(path);
    for (size_t i = 0; i < tensors.n; i++) {
        graft_free((void *)(uintptr_t)tensors.items[i].name);
        graft_free((void *)(uintptr_t)tensors.items[i].data);
    }
    return 0;
}

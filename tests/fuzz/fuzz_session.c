/* SPDX-License-Identifier: Apache-2.0 */
/* Files of sessions (graft_sequences_load): refused, or shared by a prompt that begins with their ids. The first byte
 * of an input says what the target does to the file after it, since changed bytes alone would end at the checksum. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/model.h"
#include "fuzz/target.h"
#include "graft/host/graft.h"
#include "graft/host/sequences.h"

enum {
    COMPLETE = 1, /* what the input lacks is taken from a valid file */
    IDENTIFY = 2, /* the identity is this model's */
    SUM = 4,      /* the checksum is right, as in a file that somebody forged */
    PIECE = 64,
    MAX_BYTES = 1 << 17,
    SUM_AT = 24,
    IDENTITY_AT = 32,
    IDS_AT = 96,
};

static struct graft_library *library;
static struct graft_model *model;
static uint8_t valid[MAX_BYTES];
static size_t valid_size;

static void clean_up(void) {
    graft_model_free(model);
    graft_library_free(library);
}

static void expect(int status, const struct graft_error *error) {
    if (status != GRAFT_OK) {
        (void)fprintf(stderr, "status %d: %s: %s\n", status, error->source, error->message);
        abort();
    }
}

static struct graft_sequences *create(void) {
    const struct graft_sequences_options options = {
        .struct_size = sizeof options, .max_running = 2, .piece_tokens = PIECE};
    struct graft_error error = graft_error_none();
    struct graft_sequences *sequences = NULL;
    expect(graft_sequences_create(model, &options, &sequences, &error), &error);
    return sequences;
}

/* Generates two tokens after the ids, which every file that was not refused has to allow. */
static void generate(struct graft_sequences *sequences, const int32_t *ids, size_t count) {
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = count};
    struct graft_generation generation = {.struct_size = sizeof generation};
    struct graft_sequence_options options = {.struct_size = sizeof options, .generation = &generation};
    struct graft_error error = graft_error_none();
    int64_t number = 0;
    graft_model_generation(model, &generation);
    generation.max_new_tokens = 2;
    expect(graft_sequences_add(sequences, &prompt, &options, &number, &error), &error);
    while (graft_sequences_count(sequences) > 0) {
        const struct graft_sequence_token *tokens = NULL;
        size_t n = 0;
        expect(graft_sequences_step(sequences, &tokens, &n, &error), &error);
    }
}

/* Opens the model and keeps a file that it wrote. */
static void make_valid(void) {
    const struct graft_model_options options = {.struct_size = sizeof options};
    struct graft_error error = graft_error_none();
    int32_t ids[PIECE + 1];
    int64_t tokens = 0;
    (void)atexit(clean_up);
    expect(graft_library_create(&library, &error), &error);
    expect(graft_model_open(library, GRAFT_FUZZ_MODELS "/plain/llama", &options, &model, &error), &error);
    expect(graft_model_load(model, &error), &error);
    struct graft_sequences *sequences = create();
    for (int32_t i = 0; i < PIECE + 1; i++) {
        ids[i] = 3 + i % 50;
    }
    generate(sequences, ids, PIECE + 1);
    const char *path = fuzz_file("kept.session", (const uint8_t *)"", 0);
    expect(graft_sequences_save(sequences, path, &tokens, &error), &error);
    FILE *file = fopen(path, "rb");
    if (file == NULL || (valid_size = fread(valid, 1, sizeof valid, file)) <= IDS_AT || valid_size == sizeof valid) {
        abort();
    }
    (void)fclose(file);
    graft_sequences_free(sequences);
}

static uint64_t mix(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return sum ^ (sum >> 29);
}

/* The checksum of host/generate/prefix_file.c for a file whose parts are all whole words: each fourth word, counted
 * from the header on, is in the same lane. */
static void set_sum(uint8_t *bytes, size_t size) {
    uint64_t lanes[4] = {0}, all = size / sizeof all;
    memset(bytes + SUM_AT, 0, sizeof all);
    for (size_t i = 0; i < size / sizeof all; i++) {
        uint64_t word;
        memcpy(&word, bytes + i * sizeof word, sizeof word);
        lanes[i % 4] = mix(lanes[i % 4], word);
    }
    for (int i = 0; i < 4; i++) {
        all = mix(all, lanes[i]);
    }
    memcpy(bytes + SUM_AT, &all, sizeof all);
}

static void load(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_sequences *sequences = create();
    int64_t tokens = 0;
    const int status = graft_sequences_load(sequences, fuzz_file("kept.session", bytes, size), &tokens, &error);
    if (status != error.code || (status != GRAFT_OK && error.message[0] == '\0') ||
        (status != GRAFT_OK && status != GRAFT_ERROR_MODEL && status != GRAFT_ERROR_VERIFY)) {
        expect(GRAFT_ERROR_INTERNAL, &error);
    }
    if (status == GRAFT_OK && IDS_AT + (size_t)tokens * sizeof(int32_t) <= size) {
        int32_t ids[4 * PIECE + 1] = {0};
        const size_t kept = tokens < 4 * PIECE ? (size_t)tokens : 4 * PIECE;
        memcpy(ids, bytes + IDS_AT, kept * sizeof *ids);
        ids[kept] = 1;
        generate(sequences, ids, kept + 1);
    }
    graft_sequences_free(sequences);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static uint8_t file[MAX_BYTES];
    if (model == NULL) {
        make_valid();
    }
    if (size == 0 || size > MAX_BYTES) {
        return 0;
    }
    const uint8_t how = bytes[0];
    size_t length = size - 1;
    memcpy(file, bytes + 1, length);
    if ((how & COMPLETE) != 0 && length < valid_size) {
        memcpy(file + length, valid + length, valid_size - length);
        length = valid_size;
    }
    if ((how & IDENTIFY) != 0 && length >= IDS_AT) {
        memcpy(file + IDENTITY_AT, valid + IDENTITY_AT, IDS_AT - IDENTITY_AT);
    }
    if ((how & SUM) != 0 && length >= IDS_AT) {
        set_sum(file, length);
    }
    load(file, length);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* test_generation GENERATION-DIRECTORY MODEL-DIRECTORY: compares the effect of fields of generation_config.json with
 * the reference: what processors and warpers make of given logits (scores.json), and generated ids (ids.json). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "config/config.h"
#include "generate/fields.h"
#include "generate/sampler.h"
#include "runner.h"

enum { MOST_IDS = 256, MOST_RESULTS = 8, MAX_BYTES = 1 << 20 };

static graft_json *read_cases(const char *directory, const char *name) {
    struct graft_error error = graft_error_none();
    graft_json *document = NULL;
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    need(graft_json_read(path, MAX_BYTES, &document, &error), &error);
    check(graft_json_size(document) > 0, "%s has no cases", path);
    return document;
}

static size_t ids_of(const graft_json *array, int32_t ids[MOST_IDS]) {
    size_t n = graft_json_size(array);
    check(n <= MOST_IDS, "a list of %zu ids", n);
    for (size_t i = 0; i < n && i < MOST_IDS; i++) {
        ids[i] = (int32_t)graft_json_int(graft_json_at(array, i));
    }
    return n;
}

/* --- Scores --- */

/* The reference computes in f32, too, so a few units in the last place are allowed. */
static int is_near(const graft_json *expected, float score) {
    if (graft_json_type(expected) == GRAFT_JSON_NULL) {
        return isinf(score) && score < 0.0F;
    }
    double wanted = graft_json_real(expected);
    return fabs((double)score - wanted) <= 4e-7 * fmax(1.0, fabs(wanted));
}

static void check_scores(const graft_json *item) {
    struct graft_error error = graft_error_none();
    struct graft_generation generation = graft_generation_default();
    struct graft_generation_fields *owner = graft_generation_fields_create();
    struct graft_id_list eos = {0};
    struct graft_sampler *sampler;
    int32_t ids[MOST_IDS];
    const graft_json *logits = graft_json_get(item, "logits");
    const graft_json *expected = graft_json_get(item, "scores");
    const size_t n = graft_json_size(logits);
    const struct graft_config fields = graft_config_view(graft_json_get(item, "fields"), "scores.json");
    char *name = graft_json_dump(graft_json_get(item, "fields"), 0);
    float *scores = need_memory(n, sizeof *scores);
    need(graft_generation_read_fields(&fields, &generation, owner, &error), &error);
    need(graft_generation_read_ids(&fields, "eos_token_id", &eos, owner, &error), &error);
    need(graft_sampler_create((int64_t)n, &sampler, &error), &error);
    const struct graft_choice choice = {.generation = &generation,
                                        .ids = ids,
                                        .count = ids_of(graft_json_get(item, "ids"), ids),
                                        .prompt = (size_t)graft_json_int(graft_json_get(item, "prompt")),
                                        .longest = generation.max_new_tokens < 0
                                                       ? (size_t)generation.max_length
                                                       : (size_t)graft_json_int(graft_json_get(item, "prompt")) +
                                                             (size_t)generation.max_new_tokens,
                                        .eos = eos};
    for (size_t i = 0; i < n; i++) {
        scores[i] = (float)graft_json_real(graft_json_at(logits, i));
    }
    const int64_t least = generation.num_beams > 1 ? (int64_t)(eos.n > 0 ? eos.n : 1) + 1 : 1;
    need(graft_sampler_score(sampler, &choice, least, scores, &error), &error);
    for (size_t i = 0; i < n; i++) {
        check(is_near(graft_json_at(expected, i), scores[i]), "%s: score %zu is %.9g, expected %.9g", name, i,
              (double)scores[i], graft_json_real(graft_json_at(expected, i)));
    }
    graft_sampler_free(sampler);
    graft_generation_fields_free(owner);
    graft_free(name);
    free(scores);
}

/* --- Ids --- */

struct results {
    int32_t ids[MOST_RESULTS][MOST_IDS];
    size_t counts[MOST_RESULTS];
    int has_ended[MOST_RESULTS];
};

static int on_token(void *data, size_t sequence, int32_t id, int last, struct graft_error *error) {
    struct results *results = data;
    if (sequence >= MOST_RESULTS || results->counts[sequence] >= MOST_IDS || results->has_ended[sequence]) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "test", "a token too many of sequence %zu", sequence);
    }
    results->ids[sequence][results->counts[sequence]++] = id;
    results->has_ended[sequence] = last;
    return GRAFT_OK;
}

static void check_result(const char *name, const graft_json *expected, const struct results *results, size_t i) {
    int32_t ids[MOST_IDS];
    size_t n = ids_of(expected, ids);
    check(results->has_ended[i] && results->counts[i] == n && memcmp(results->ids[i], ids, n * sizeof *ids) == 0,
          "%s: result %zu differs: %zu ids, first %d, expected %zu, first %d", name, i, results->counts[i],
          (int)results->ids[i][0], n, (int)ids[0]);
}

/* Runs the case alone, and then twice in a batch; guessing tokens changes nothing. */
static void check_ids(const struct runner *runner, const graft_json *item, size_t n, int32_t speculate) {
    static struct results results;
    struct graft_error error = graft_error_none();
    struct graft_generation generation = {.struct_size = sizeof generation};
    struct graft_generation_fields *fields;
    int32_t ids[MOST_IDS];
    const graft_json *expected = graft_json_get(item, "ids");
    char *name = graft_json_dump(graft_json_get(item, "fields"), 0);
    const struct graft_prompt prompt = {
        .struct_size = sizeof prompt, .ids = ids, .count = ids_of(graft_json_get(item, "prompt"), ids)};
    const struct graft_prompt prompts[2] = {prompt, prompt};
    memset(&results, 0, sizeof results);
    graft_model_generation(runner->model, &generation);
    need(graft_generation_read(name, strlen(name), "ids.json", &generation, &fields, &error), &error);
    generation.speculate += speculate;
    need(graft_model_generate(runner->model, prompts, n, &generation, on_token, &results, &error), &error);
    for (size_t i = 0; i < n * graft_json_size(expected); i++) {
        check_result(name, graft_json_at(expected, i % graft_json_size(expected)), &results, i);
    }
    graft_generation_fields_free(fields);
    graft_free(name);
}

int main(int argc, char **argv) {
    struct runner runner;
    if (argc != 3) {
        (void)fputs("usage: test_generation GENERATION-DIRECTORY MODEL-DIRECTORY\n", stderr);
        return 2;
    }
    graft_json *cases = read_cases(argv[1], "scores.json");
    for (size_t i = 0; i < graft_json_size(cases); i++) {
        check_scores(graft_json_at(cases, i));
    }
    graft_json_free(cases);
    cases = read_cases(argv[1], "ids.json");
    runner_open(&runner, argv[2], NULL, GRAFT_PRECISION_FLOAT32);
    for (size_t i = 0; i < graft_json_size(cases); i++) {
        check_ids(&runner, graft_json_at(cases, i), 1, 0);
        check_ids(&runner, graft_json_at(cases, i), 2, 3);
    }
    runner_close(&runner);
    graft_json_free(cases);
    return check_failures() != 0;
}

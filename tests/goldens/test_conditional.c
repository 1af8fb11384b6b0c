/* SPDX-License-Identifier: Apache-2.0 */
/* test_conditional CASES-FOLDER PLUGINS-FOLDER [NAME...]: compares a miniature of each encoder-decoder model type, and
 * of variants, with the reference: the decoder's logits at each step, greedy and beam generation alone and beside
 * others, the plan, saving. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/folder.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "check.h"
#include "golden.h"
#include "graft/host/graft.h"
#include "graft/host/model.h"
#include "miniature.h"
#include "weights/safetensors.h"

enum { MAX_FILE_BYTES = 16 << 20, MAX_NEW = 16, MAX_IDS = 64 };

struct ids {
    int32_t *ids; /* [n] */
    size_t n;
};

/* The prompts that all cases share (cases.json). */
static struct ids source, more, decoder;
static int64_t num_beams;

struct conditional {
    const char *name;
    char *directory;
    const graft_json *document;
    double tolerance;
    struct graft_model *model;
    size_t vocab_size;
};

static struct ids read_ids(const graft_json *document, const char *key) {
    struct ids read;
    read.ids = golden_ids(document, key, &read.n);
    return read;
}

static struct graft_prompt prompt_of(const struct ids *from) {
    return (struct graft_prompt){.struct_size = sizeof(struct graft_prompt), .ids = from->ids, .count = from->n};
}

/* --- Logits --- */

/* Compares the logits of `model` with those in golden.safetensors of `directory`. */
static void compare_logits(const struct conditional *self, struct graft_model *model, const char *directory) {
    struct graft_error error = graft_error_none();
    struct graft_safetensors *file = NULL;
    int32_t ids[MAX_IDS];
    struct graft_prompt prompt = prompt_of(&source);
    const size_t n = decoder.n + 1;
    float *logits = need_memory(n * self->vocab_size, sizeof *logits);
    ids[0] = (int32_t)graft_json_int(graft_json_get(self->document, "start"));
    memcpy(ids + 1, decoder.ids, decoder.n * sizeof *ids);
    prompt.decoder_ids = ids;
    prompt.n_decoder_ids = n;
    need(graft_model_logits(model, &prompt, 1, logits, &error), &error);
    need(graft_safetensors_open(folder_path(directory, "golden.safetensors"), &file, &error), &error);
    const struct graft_tensor_view *expected = graft_safetensors_find(file, "logits");
    const int is_sound = expected != NULL && (size_t)expected->bytes == n * self->vocab_size * sizeof *logits;
    check(is_sound, "%s: the logits have another size", self->name);
    const double difference = is_sound ? max_difference(logits, expected->data, n * self->vocab_size) : 0.0;
    check(difference <= self->tolerance, "%s: logits differ from those in %s by %.1e, at most %.1e expected",
          self->name, directory, difference, self->tolerance);
    graft_safetensors_close(file);
    free(logits);
}

/* --- Generating --- */

/* Generates for one or two prompts: the new ids, and the logits that each was chosen from. */
struct generated {
    int32_t ids[2][MAX_NEW];
    size_t n[2];
    float *logits; /* [2, MAX_NEW, vocab_size]; NULL: not wanted */
    size_t vocab_size;
};

static int take_token(void *data, const struct graft_sequence_token *token, struct graft_error *error) {
    struct generated *generated = data;
    const size_t i = (size_t)token->sequence;
    (void)error;
    if (generated->logits != NULL && token->logits != NULL) {
        memcpy(generated->logits + (i * MAX_NEW + generated->n[i]) * generated->vocab_size, token->logits,
               generated->vocab_size * sizeof *generated->logits);
    }
    generated->ids[i][generated->n[i]++] = token->id;
    return GRAFT_OK;
}

static struct generated run(const struct conditional *self, const struct graft_prompt *prompts, size_t n,
                            const struct graft_generation *changes) {
    struct graft_error error = graft_error_none();
    struct graft_generation generation = {.struct_size = sizeof generation};
    struct generated generated = {.vocab_size = self->vocab_size,
                                  .logits = need_memory(2 * MAX_NEW * self->vocab_size, sizeof(float))};
    graft_model_generation(self->model, &generation);
    generation.do_sample = changes->do_sample;
    generation.num_beams = changes->num_beams;
    generation.max_new_tokens = (int64_t)graft_json_size(graft_json_get(self->document, "generated"));
    need(graft_model_generate_tokens(self->model, prompts, n, &generation, take_token, &generated, &error), &error);
    return generated;
}

static void compare_ids(const struct conditional *self, const char *key, const struct generated *generated, size_t i) {
    const struct ids expected = read_ids(self->document, key);
    check(generated->n[i] == expected.n && memcmp(generated->ids[i], expected.ids, expected.n * sizeof(int32_t)) == 0,
          "%s: %s: %zu other ids, the first %d", self->name, key, generated->n[i],
          generated->n[i] > 0 ? (int)generated->ids[i][0] : -1);
    free(expected.ids);
}

/* Alone and beside another prompt, a prompt gets the same bits, also with sampled tokens. */
static void compare_beside(const struct conditional *self, const struct generated *alone, int32_t do_sample) {
    const struct graft_prompt prompts[] = {prompt_of(&source), prompt_of(&more)};
    const struct graft_generation changes = {.do_sample = do_sample};
    struct generated both = run(self, prompts, 2, &changes);
    check(both.n[0] == alone->n[0] && memcmp(both.ids[0], alone->ids[0], sizeof both.ids[0]) == 0 &&
              memcmp(both.logits, alone->logits, MAX_NEW * self->vocab_size * sizeof(float)) == 0,
          "%s: beside another prompt something else is generated", self->name);
    if (!do_sample) {
        compare_ids(self, "generated_more", &both, 1);
    }
    free(both.logits);
}

static void compare_generated(const struct conditional *self) {
    const struct graft_prompt prompt = prompt_of(&source);
    const struct graft_generation ways[] = {{.do_sample = 0}, {.do_sample = 1}};
    const struct graft_generation beams = {.num_beams = num_beams};
    for (int32_t i = 0; i < 2; i++) {
        struct generated alone = run(self, &prompt, 1, &ways[i]);
        if (i == 0) {
            compare_ids(self, "generated", &alone, 0);
        }
        compare_beside(self, &alone, i);
        free(alone.logits);
    }
    struct generated best = run(self, &prompt, 1, &beams);
    compare_ids(self, "beams", &best, 0);
    free(best.logits);
}

/* --- Cases --- */

/* If the case has a folder `adapter`, compares the logits with that adapter with those of the reference's merged
 * weights. */
static void check_adapted(struct graft_library *library, const struct conditional *self) {
    struct graft_error error = graft_error_none();
    char *adapter = graft_path_join(self->directory, "adapter");
    const struct graft_adapter_options adapters = {
        .struct_size = sizeof adapters, .name = "adapter", .directory = adapter, .scale = 1.0};
    const struct graft_model_options options = {.struct_size = sizeof options,
                                                .precision = GRAFT_PRECISION_FLOAT32,
                                                .adapters = &adapters,
                                                .n_adapters = 1,
                                                .adapter_stride = sizeof adapters};
    struct graft_model *model = NULL;
    if (access(adapter, F_OK) == 0) {
        need(graft_model_open(library, self->directory, &options, &model, &error), &error);
        need(graft_model_load(model, &error), &error);
        compare_logits(self, model, adapter);
        graft_model_free(model);
    }
    graft_free(adapter);
}

static void wrong(void *data, const char *what) {
    const struct conditional *self = data;
    check(0, "%s: %s", self->name, what);
}

static void run_case(struct graft_library *library, struct graft_library *with_lora, struct conditional *self) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    struct graft_error error = graft_error_none();
    self->tolerance = miniature_tolerance(self->document);
    need(graft_model_open(library, self->directory, &options, &self->model, &error), &error);
    need(graft_model_load(self->model, &error), &error);
    self->vocab_size = (size_t)graft_model_vocab_size(self->model);
    miniature_check_plan(self->model, wrong, self);
    compare_logits(self, self->model, self->directory);
    compare_generated(self);
    miniature_check_saved(self->model, self->directory, wrong, self);
    graft_model_free(self->model);
    check_adapted(with_lora, self);
}

int main(int argc, char **argv) {
    struct graft_error error = graft_error_none();
    struct graft_library *library = NULL, *with_lora = NULL;
    graft_json *document = NULL;
    void *iterator = NULL;
    const char *name;
    const graft_json *item;
    size_t number = 0;
    if (argc < 3) {
        (void)fputs("usage: test_conditional CASES-FOLDER PLUGINS-FOLDER [NAME...]\n", stderr);
        return 2;
    }
    need(graft_json_read(folder_path(argv[1], "cases.json"), MAX_FILE_BYTES, &document, &error), &error);
    const char *const plugins = argv[2];
    need(graft_library_create(&library, &error), &error);
    need(graft_library_create(&with_lora, &error), &error);
    need(graft_library_load_plugins(with_lora, &plugins, 1, NULL, &error), &error);
    source = read_ids(document, "input_ids");
    more = read_ids(document, "more_ids");
    decoder = read_ids(document, "decoder_ids");
    num_beams = graft_json_int(graft_json_get(document, "num_beams"));
    const graft_json *cases = graft_json_get(document, "cases");
    check(graft_json_size(cases) > 0 && decoder.n < MAX_IDS, "there are no cases");
    while (graft_json_next(cases, &iterator, &name, &item)) {
        if (miniature_is_wanted(name, argv + 3, argc - 3)) {
            struct conditional self = {.name = name, .directory = graft_path_join(argv[1], name), .document = item};
            const int failures = check_failures();
            run_case(library, with_lora, &self);
            (void)printf("%s %zu - %s\n", check_failures() == failures ? "ok" : "not ok", ++number, name);
            graft_free(self.directory);
        }
    }
    (void)printf("1..%zu\n", number);
    graft_library_free(library);
    graft_library_free(with_lora);
    graft_json_free(document);
    free(source.ids);
    free(more.ids);
    free(decoder.ids);
    return check_failures() != 0;
}

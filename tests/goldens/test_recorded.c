/* SPDX-License-Identifier: Apache-2.0 */
/* test_recorded CASE-DIRECTORY PLUGINS-DIRECTORY IMPLEMENTATIONS-DIRECTORY: compares recorded hidden states, attention
 * weights and router logits with the reference's, with the original classes, with replaced ones, and with a plugin's
 * attention. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compare.h"

static const struct {
    uint32_t what;
    const char *start;
} kinds[] = {{GRAFT_RECORD_HIDDEN_STATES, "hidden_states."},
             {GRAFT_RECORD_ATTENTIONS, "attentions."},
             {GRAFT_RECORD_ROUTER_LOGITS, "router."}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The kind of a golden tensor that can be recorded, or -1. */
static int kind_of(const char *name) {
    for (int i = 0; i < KINDS; i++) {
        int is_logits = i < 2 || strstr(name, ".logits") != NULL;
        if (strncmp(name, kinds[i].start, strlen(kinds[i].start)) == 0 && is_logits) {
            return i;
        }
    }
    return -1;
}

/* The kinds that the case has goldens of. */
static uint32_t what_of(const struct golden *golden) {
    uint32_t what = 0;
    for (size_t i = 0; i < graft_safetensors_count(golden->tensors); i++) {
        int kind = kind_of(graft_safetensors_at(golden->tensors, i)->name);
        what |= kind >= 0 ? kinds[kind].what : 0;
    }
    return what;
}

static const struct graft_recorded *find(const struct graft_recording *recording, const char *name) {
    const struct graft_recorded *item;
    for (size_t i = 0; (item = graft_recording_at(recording, i)) != NULL; i++) {
        if (strcmp(item->name, name) == 0) {
            return item;
        }
    }
    return NULL;
}

static size_t count(const struct graft_recording *recording) {
    size_t n = 0;
    while (graft_recording_at(recording, n) != NULL) {
        n++;
    }
    return n;
}

static size_t numbers(const struct graft_recorded *item) {
    size_t n = 1;
    for (int32_t i = 0; i < item->rank; i++) {
        n *= (size_t)item->shape[i];
    }
    return n;
}

/* Checks that exactly the golden tensors are recorded. `suffix` is that of the sequence. */
static void compare(const struct golden *golden, const struct graft_recording *recording, const char *suffix,
                    const char *what) {
    size_t found = 0;
    for (size_t i = 0; i < graft_safetensors_count(golden->tensors); i++) {
        const struct graft_tensor_view *view = graft_safetensors_at(golden->tensors, i);
        char name[96];
        if (kind_of(view->name) < 0) {
            continue;
        }
        (void)snprintf(name, sizeof name, "%s%s", view->name, suffix);
        const struct graft_recorded *item = find(recording, name);
        size_t n = (size_t)view->bytes / sizeof(float);
        found++;
        check(item != NULL && numbers(item) == n, "%s: %s is not recorded, or of another size", what, name);
        if (item != NULL && numbers(item) == n) {
            double difference = max_difference(item->data, view->data, n);
            check(difference <= F32_TOLERANCE, "%s: %s differs by %g", what, name, difference);
        }
    }
    check(found > 0 && (suffix[0] != '\0' || found == count(recording)), "%s: %zu tensors recorded, expected %zu", what,
          count(recording), found);
}

static void check_recorded(const struct golden *golden, const char *plugins, const char *attention) {
    const struct graft_model_options options = {
        .struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32, .attn_implementation = attention};
    const struct graft_prompt prompts[] = {
        {.struct_size = sizeof prompts[0], .ids = golden->ids, .count = 1},
        {.struct_size = sizeof prompts[0], .ids = golden->ids, .count = golden->n_ids}};
    struct graft_error error = graft_error_none();
    struct graft_recording *recording = NULL;
    struct runner runner;
    runner_open_with(&runner, golden->directory, plugins, &options);
    float *before = runner_logits(&runner, golden->ids, golden->n_ids);
    need(graft_model_record(runner.model, &prompts[1], 1, what_of(golden), &recording, &error), &error);
    compare(golden, recording, "", plugins != NULL ? plugins : "original classes");
    graft_recording_free(recording);
    need(graft_model_record(runner.model, prompts, 2, what_of(golden), &recording, &error), &error);
    compare(golden, recording, ".1", "second of two prompts");
    graft_recording_free(recording);
    float *after = runner_logits(&runner, golden->ids, golden->n_ids);
    check(memcmp(before, after, golden->n_ids * runner.vocab_size * sizeof *after) == 0, "recording left its traces");
    free(before);
    free(after);
    runner_close(&runner);
}

/* Checks the recorded outputs of modules: for those with a name of their own, that tensor; for each projection, some
 * tensor. */
static void check_outputs(const struct golden *golden) {
    const uint32_t what = GRAFT_RECORD_OUTPUTS | (what_of(golden) & ~(uint32_t)GRAFT_RECORD_ATTENTIONS);
    const struct graft_prompt prompts[] = {
        {.struct_size = sizeof prompts[0], .ids = golden->ids, .count = 2},
        {.struct_size = sizeof prompts[0], .ids = golden->ids, .count = golden->n_ids}};
    static const char *const pairs[][2] = {{"outputs.model.embed_tokens.1", "hidden_states.embeddings.1"},
                                           {"outputs.model.layers.0.1", "hidden_states.layer.0.1"},
                                           {"outputs.model.norm.1", "hidden_states.final_norm.1"},
                                           {"outputs.model.layers.0.mlp.gate.1", "router.0.logits.1"}};
    struct graft_error error = graft_error_none();
    struct graft_recording *recording = NULL;
    struct runner runner;
    size_t compared = 0;
    runner_open(&runner, golden->directory, NULL, GRAFT_PRECISION_FLOAT32);
    need(graft_model_record(runner.model, prompts, 2, what, &recording, &error), &error);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct graft_recorded *output = find(recording, pairs[i][0]), *named = find(recording, pairs[i][1]);
        if (named == NULL) {
            continue;
        }
        const int same = output != NULL && numbers(output) == numbers(named) &&
                         memcmp(output->data, named->data, numbers(named) * sizeof(float)) == 0;
        check(same, "%s is not %s", pairs[i][0], pairs[i][1]);
        compared++;
    }
    check(compared >= 3, "outputs: %zu compared", compared);
    const struct graft_recorded *query = find(recording, "outputs.model.layers.0.self_attn.q_proj.0");
    check(query != NULL && query->rank == 2 && query->shape[0] == 2, "outputs: no q_proj of the first prompt");
    check(find(recording, "outputs.model.layers.0.mlp.experts.act_fn.1") == NULL, "outputs: rows of experts are there");
    graft_recording_free(recording);
    runner_close(&runner);
}

/* A model without experts records no router logits. */
static void check_absent(const struct golden *golden) {
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = golden->ids, .count = golden->n_ids};
    struct graft_error error = graft_error_none();
    struct graft_recording *recording = NULL;
    struct runner runner;
    runner_open(&runner, golden->directory, NULL, GRAFT_PRECISION_FLOAT32);
    int status = graft_model_record(runner.model, &prompt, 1, GRAFT_RECORD_ROUTER_LOGITS, &recording, &error);
    int has_routers = (what_of(golden) & GRAFT_RECORD_ROUTER_LOGITS) != 0;
    check(has_routers ? status == GRAFT_OK : status == GRAFT_ERROR_USAGE, "router logits: %s", error.message);
    if (status == GRAFT_OK) {
        graft_recording_free(recording);
    }
    runner_close(&runner);
}

int main(int argc, char **argv) {
    struct golden golden;
    if (argc != 4) {
        (void)fputs("usage: test_recorded CASE-DIRECTORY PLUGINS-DIRECTORY IMPLEMENTATIONS-DIRECTORY\n", stderr);
        return 2;
    }
    golden_open(&golden, argv[1]);
    check_recorded(&golden, NULL, NULL);
    check_recorded(&golden, NULL, "eager");
    check_recorded(&golden, argv[2], NULL);
    check_recorded(&golden, argv[3], "plain");
    check_absent(&golden);
    check_outputs(&golden);
    golden_close(&golden);
    return check_failures() != 0;
}

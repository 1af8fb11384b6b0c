/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/generation.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/json.h"
#include "cli/output.h"
#include "graft/host/graft.h"

static const char options_name[] = "the options";

/* A seed that differs from run to run. */
static uint64_t any_seed(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int graft_generation_is_given(const struct graft_options *options, const char *name) {
    for (size_t i = 0; i < options->generation.names.count; i++) {
        if (strcmp(options->generation.names.items[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether an option asks for sampling: any sampling parameter does, unless the temperature is 0. */
static int asks_for_chance(const struct graft_options *options) {
    static const char *const names[] = {"min-p", "typical-p", "epsilon-cutoff", "eta-cutoff", "top-h"};
    int asks = options->top_k >= 0 || options->top_p > 0.0 || options->temperature > 0.0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        asks |= graft_generation_is_given(options, names[i]);
    }
    return asks && options->temperature != 0.0;
}

/* Whether a field is a list, which may be written as 1,2,3 or [1,2,3]. */
static int is_list(const char *name) {
    static const char *const lists[] = {"suppress-tokens", "begin-suppress-tokens", "forced-eos-token-id",
                                        "exponential-decay-length-penalty"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(name, lists[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Parses the value of an option as JSON; lists may lack brackets, and words quotes. */
static int read_value(const char *name, const char *value, graft_json **read, struct graft_error *error) {
    char option[64];
    (void)snprintf(option, sizeof option, "--%s", name);
    if (strcmp(value, "never") == 0) {
        *read = graft_json_new_string(value);
        return *read != NULL ? GRAFT_OK : graft_fail_memory(error, option);
    }
    char *text = is_list(name) && value[0] != '[' ? graft_format("[%s]", value) : graft_strdup(value);
    if (text == NULL) {
        return graft_fail_memory(error, option);
    }
    int status = graft_json_parse(text, strlen(text), option, read, error);
    graft_free(text);
    return status == GRAFT_ERROR_MODEL ? error->code = GRAFT_ERROR_USAGE : status;
}

/* Adds the field of an option: min_p for "min-p". */
static int add_field(graft_json *document, const char *option, const char *value, struct graft_error *error) {
    graft_json *read = NULL;
    char *field = graft_strdup(option);
    int status = field != NULL ? read_value(option, value, &read, error) : graft_fail_memory(error, option);
    for (char *at = field; at != NULL && *at != '\0'; at++) {
        *at = *at == '-' ? '_' : *at;
    }
    if (status == GRAFT_OK && graft_json_set_take(document, field, read) != 0) {
        status = graft_fail_memory(error, option);
    }
    graft_free(field);
    return status;
}

/* Writes the fields that options set as the text of a generation_config.json. The caller frees it. */
static int gather(const struct graft_options *options, char **text, struct graft_error *error) {
    const struct graft_named_strings *given = &options->generation;
    graft_json *document = graft_json_new_object();
    int status = document != NULL ? GRAFT_OK : graft_fail_memory(error, options_name);
    if (status == GRAFT_OK && (asks_for_chance(options) || options->temperature == 0.0) &&
        graft_json_set_take(document, "do_sample", graft_json_new_bool(options->temperature != 0.0)) != 0) {
        status = graft_fail_memory(error, options_name);
    }
    for (size_t i = 0; i < given->names.count && status == GRAFT_OK; i++) {
        status = add_field(document, given->names.items[i], given->values.items[i], error);
    }
    if (status == GRAFT_OK && (*text = graft_json_dump(document, 0)) == NULL) {
        status = graft_fail_memory(error, options_name);
    }
    graft_json_free(document);
    return status;
}

/* Replaces a field's name in an error ("min_p: expected ...") by that of its option. */
static void name_option(struct graft_error *error) {
    const size_t length = strcspn(error->message, ".:");
    const char *rest = strchr(error->message, ':');
    char message[sizeof error->message];
    if (strcmp(error->source, options_name) != 0 || rest == NULL) {
        return;
    }
    (void)snprintf(error->source, sizeof error->source, "--%.*s", (int)length, error->message);
    for (char *at = error->source; *at != '\0'; at++) {
        *at = *at == '_' ? '-' : *at;
    }
    (void)snprintf(message, sizeof message, "%s", rest + strspn(rest, ": "));
    memcpy(error->message, message, sizeof message);
}

/* Applies the options that have members of their own in struct graft_options. */
static void put_over(const struct graft_options *options, struct graft_generation *generation) {
    generation->seed = options->seed >= 0 ? (uint64_t)options->seed : any_seed();
    if (options->speculate >= 0) {
        generation->speculate = options->speculate < INT32_MAX ? (int32_t)options->speculate : INT32_MAX;
    }
    if (options->max_new_tokens >= 0) {
        generation->max_new_tokens = options->max_new_tokens;
    }
    if (options->repetition_penalty > 0.0) {
        generation->repetition_penalty = options->repetition_penalty;
    }
    if (options->top_k >= 0) {
        generation->top_k = options->top_k;
    }
    if (options->top_p > 0.0) {
        generation->top_p = options->top_p;
    }
    if (options->temperature > 0.0) {
        generation->temperature = options->temperature;
    }
    if (options->stop_strings.count > 0) {
        generation->stop_strings = options->stop_strings.items;
        generation->n_stop_strings = options->stop_strings.count;
    }
    if (options->logits_processors.count > 0) {
        generation->logits_processors = options->logits_processors.items;
        generation->n_logits_processors = options->logits_processors.count;
    }
}

int graft_generation_choose(const struct graft_options *options, const struct graft_model *model,
                            struct graft_generation *generation, struct graft_generation_fields **fields,
                            struct graft_error *error) {
    char *text = NULL;
    *fields = NULL;
    *generation = (struct graft_generation){.struct_size = sizeof *generation};
    graft_model_generation(model, generation);
    int status = gather(options, &text, error);
    if (status == GRAFT_OK) {
        status = graft_generation_read(text, strlen(text), options_name, generation, fields, error);
    }
    if (status == GRAFT_OK) {
        put_over(options, generation);
    } else if (status == GRAFT_ERROR_USAGE) {
        name_option(error);
    }
    graft_free(text);
    return status;
}

void graft_generation_note(const struct graft_generation *generation) {
    const int is_guided = generation->guidance_scale != 0.0 && generation->guidance_scale != 1.0;
    if (generation->num_beams > 1 || is_guided) {
        graft_output_line(stderr, "note: --speculate has no effect with %s", is_guided ? "guidance" : "beams");
    }
}

struct graft_generation graft_generation_plain(int64_t new_tokens) {
    return (struct graft_generation){
        .struct_size = sizeof(struct graft_generation),
        .max_new_tokens = new_tokens,
        .temperature = 1.0,
        .top_p = 1.0,
        .repetition_penalty = 1.0,
        .ignore_eos = 1,
    };
}

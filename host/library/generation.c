/* SPDX-License-Identifier: Apache-2.0 */
/* Generation settings: what the model directory says, overridden by what a program asks for. */
#include <string.h>

#include "base/fail.h"
#include "config/config.h"
#include "config/ledger.h"
#include "config/path.h"
#include "config/rules.h"
#include "generate/fields.h"
#include "library/library.h"

enum { MAX_WAYS = 4096 }; /* continuations of a prompt at once */

void graft_model_generation(const struct graft_model *model, struct graft_generation *generation) {
    graft_struct_copy(generation, generation->struct_size, &model->generation.generation);
}

/* Reads fields into a copy that has all members; the program's struct gets those that it has room for. */
static int read_over(const struct graft_config *document, struct graft_generation *generation,
                     struct graft_generation_fields *owner, struct graft_error *error) {
    struct graft_generation all;
    const uint32_t size = generation->struct_size;
    graft_struct_copy(&all, sizeof all, generation);
    int status = graft_generation_read_fields(document, &all, owner, error);
    if (status == GRAFT_OK) {
        memcpy(generation, &all, size < sizeof all ? size : sizeof all);
        generation->struct_size = size;
    }
    return status;
}

/* A text of fields, as it is read. */
struct reading {
    const graft_json *document;
    const char *source;
    struct graft_ledger *ledger;
    struct graft_error *error;
};

/* Refuses a field that nothing has asked for and that may change what is generated. */
static int refuse_unread(void *data, const char *path, const graft_json *value) {
    const struct reading *reading = data;
    const struct graft_rules list = graft_usual_rules("generation_config.json");
    const struct graft_field_rule *rule = NULL;
    if (graft_json_type(value) == GRAFT_JSON_NULL || graft_ledger_has(reading->ledger, path)) {
        return GRAFT_OK;
    }
    switch (graft_rules_judge(&list, path, value, &rule)) {
    case GRAFT_RULING_WITHOUT_EFFECT:
    case GRAFT_RULING_NEUTRAL:
        return GRAFT_OK;
    case GRAFT_RULING_FAILED:
        return graft_fail_memory(reading->error, reading->source);
    default:
        return graft_error_set(reading->error, GRAFT_ERROR_MODEL, reading->source, "%s: is no field that is read here",
                               path);
    }
}

static int read_document(struct reading *reading, struct graft_generation *generation,
                         struct graft_generation_fields *owner) {
    reading->ledger = graft_ledger_create(reading->document);
    if (reading->ledger == NULL || owner == NULL) {
        graft_ledger_free(reading->ledger);
        return graft_fail_memory(reading->error, reading->source);
    }
    const struct graft_config view = graft_ledger_view(reading->ledger, reading->source);
    int status = read_over(&view, generation, owner, reading->error);
    if (status == GRAFT_OK) {
        status =
            graft_ledger_close(reading->ledger) == 0 ? graft_path_walk(reading->document, refuse_unread, reading) : -1;
        status = status >= 0 ? status : graft_fail_memory(reading->error, reading->source);
    }
    graft_ledger_free(reading->ledger);
    return status;
}

int graft_generation_read(const char *json, size_t length, const char *source, struct graft_generation *generation,
                          struct graft_generation_fields **fields, struct graft_error *error) {
    graft_json *document = NULL;
    int status = graft_check_given(generation, GRAFT_END_OF(struct graft_generation, n_logits_processors),
                                   "struct graft_generation", error);
    *fields = NULL;
    if (status == GRAFT_OK) {
        status = graft_json_parse(json, length, source, &document, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_check_document(document, source, error);
    }
    if (status == GRAFT_OK) {
        struct reading reading = {.document = document, .source = source, .error = error};
        *fields = graft_generation_fields_create();
        status = read_document(&reading, generation, *fields);
    }
    graft_json_free(document);
    if (status != GRAFT_OK) {
        graft_generation_fields_free(*fields);
        *fields = NULL;
    }
    if (status == GRAFT_ERROR_MODEL && error != NULL) {
        error->code = GRAFT_ERROR_USAGE;
    }
    return status == GRAFT_ERROR_MODEL ? GRAFT_ERROR_USAGE : status;
}

/* The name of a field that is out of its range; NULL: none is. */
static const char *find_wrong(const struct graft_generation *generation) {
    const struct {
        const char *name;
        int is_right;
    } ranges[] = {
        {"max_new_tokens", generation->max_new_tokens >= -1},
        {"max_length", generation->max_new_tokens >= 0 ? generation->max_length >= 0 : generation->max_length > 0},
        {"min_length", generation->min_length >= 0},
        {"min_new_tokens", generation->min_new_tokens >= 0},
        {"temperature", generation->temperature > 0.0},
        {"top_k", generation->top_k >= 0},
        {"top_p", generation->top_p > 0.0 && generation->top_p <= 1.0},
        {"min_p", generation->min_p >= 0.0 && generation->min_p <= 1.0},
        {"typical_p", generation->typical_p >= 0.0},
        {"epsilon_cutoff", generation->epsilon_cutoff >= 0.0},
        {"eta_cutoff", generation->eta_cutoff >= 0.0},
        {"top_h", generation->top_h >= 0.0 && generation->top_h <= 1.0},
        {"repetition_penalty", generation->repetition_penalty > 0.0},
        {"encoder_repetition_penalty", generation->encoder_repetition_penalty >= 0.0},
        {"no_repeat_ngram_size", generation->no_repeat_ngram_size >= 0},
        {"encoder_no_repeat_ngram_size", generation->encoder_no_repeat_ngram_size >= 0},
        {"exponential_decay_start", generation->exponential_decay_start >= 0},
        {"exponential_decay_factor", generation->exponential_decay_factor >= 0.0},
        {"num_beams", generation->num_beams >= 0 && generation->num_beams <= MAX_WAYS},
        {"early_stopping", generation->early_stopping >= 0 && generation->early_stopping <= GRAFT_EARLY_STOPPING_NEVER},
        {"reserved", generation->reserved == 0},
        {"num_return_sequences", generation->num_return_sequences >= 0 && generation->num_return_sequences <= MAX_WAYS},
        {"forced_bos_token_id", generation->forced_bos_token_id.n <= 1},
        {"speculate", generation->speculate >= 0},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (!ranges[i].is_right) {
            return ranges[i].name;
        }
    }
    return NULL;
}

static int check_ids(const char *name, const int32_t *ids, size_t n, int64_t vocab_size, struct graft_error *error) {
    for (size_t i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= vocab_size) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, name,
                                   "token id %ld is outside the model's vocabulary of %lld", (long)ids[i],
                                   (long long)vocab_size);
        }
    }
    return GRAFT_OK;
}

/* Checks the ids in lists. An id that the model does not have is an error where the reference fails as well; elsewhere
 * it has no effect. */
static int check_lists(const struct graft_generation *generation, int64_t vocab_size, struct graft_error *error) {
    const struct graft_id_list *bos = &generation->forced_bos_token_id;
    const struct graft_id_list *eos = &generation->forced_eos_token_id;
    int status = check_ids("forced_bos_token_id", bos->ids, bos->n, vocab_size, error);
    if (status == GRAFT_OK) {
        status = check_ids("forced_eos_token_id", eos->ids, eos->n, vocab_size, error);
    }
    for (size_t i = 0; i < generation->n_bad_words_ids && status == GRAFT_OK; i++) {
        const struct graft_id_list *word = &generation->bad_words_ids[i];
        status = word->n > 0 ? check_ids("bad_words_ids", word->ids, word->n, vocab_size, error)
                             : graft_error_set(error, GRAFT_ERROR_USAGE, "bad_words_ids", "sequence %zu is empty", i);
    }
    for (size_t i = 0; i < generation->n_sequence_bias && status == GRAFT_OK; i++) {
        const struct graft_sequence_bias *bias = &generation->sequence_bias[i];
        status = bias->n > 0 ? check_ids("sequence_bias", bias->ids, bias->n, vocab_size, error)
                             : graft_error_set(error, GRAFT_ERROR_USAGE, "sequence_bias", "sequence %zu is empty", i);
    }
    return status;
}

/* Refuses settings that exclude each other. */
static int check_ways(const struct graft_model *model, const struct graft_generation *generation,
                      struct graft_error *error) {
    const int64_t results = generation->num_return_sequences;
    const int has_beams = generation->num_beams > 1;
    if (graft_model_has_encoder(model) && generation->guidance_scale != 0.0 && generation->guidance_scale != 1.0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "guidance_scale", "is not for models with an encoder");
    }
    if (has_beams && generation->guidance_scale != 0.0 && generation->guidance_scale != 1.0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "guidance_scale", "cannot be combined with num_beams");
    }
    if (has_beams && results > generation->num_beams) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "num_return_sequences",
                               "%lld results cannot be had from %lld beams", (long long)results,
                               (long long)generation->num_beams);
    }
    if (!has_beams && !generation->do_sample && results > 1) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "num_return_sequences",
                               "greedy decoding gives one result; do_sample and num_beams give several");
    }
    return GRAFT_OK;
}

int graft_model_check_fields(const struct graft_model *model, struct graft_error *error) {
    struct graft_error found = graft_error_none();
    if (model->encoding.task != GRAFT_TASK_CAUSAL_LM) {
        return GRAFT_OK;
    }
    int status = check_lists(&model->generation.generation, model->vocab_size, &found);
    return status == GRAFT_OK ? GRAFT_OK
                              : graft_error_set(error, GRAFT_ERROR_MODEL, model->generation.file, "%s: %s",
                                                found.source, found.message);
}

static int find_processor(const struct graft_model *model, const char *name, const char *field,
                          struct graft_named_processor *processor, struct graft_error *error) {
    const struct graft_implementation *found = NULL;
    int status = graft_snapshot_implementation(model->tree->snapshot, GRAFT_IMPLEMENTATION_LOGITS_PROCESSOR, name,
                                               field, &found, error);
    if (status == GRAFT_OK) {
        const struct graft_logits_processor *declared = found->declared;
        *processor = (struct graft_named_processor){
            .processor = declared, .plugin = found->origin.plugin, .name = declared->name, .setting = ""};
    }
    return status;
}

/* Chooses the program's processor, or finds a plugin's by name. The program's is checked like a plugin's when it is
 * loaded. */
static int choose_processor(const struct graft_model *model, const struct graft_processor_choice *choice,
                            struct graft_named_processor *processor, struct graft_error *error) {
    const struct graft_logits_processor *own = choice->processor;
    int status = GRAFT_OK;
    if (own == NULL && choice->name == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "processors", "one has neither a processor nor a name");
    }
    if (own == NULL) {
        status = find_processor(model, choice->name, "processors", processor, error);
    } else if (own->struct_size < GRAFT_LOGITS_PROCESSOR_SIZE_1_0 || own->process == NULL ||
               (own->create != NULL && own->destroy == NULL)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "processors", "the program's own processor is not complete");
    } else {
        const char *name = choice->name != NULL ? choice->name : own->name;
        *processor = (struct graft_named_processor){
            .processor = own, .plugin = "program", .name = name != NULL ? name : "without a name"};
    }
    processor->setting = choice->setting != NULL ? choice->setting : "";
    processor->data = choice->data;
    return status;
}

/* Finds the logits processors of a generation, in the order in which they run: those that `logits_processors` names,
 * from the model's plugins, then those of `processors`. */
static int find_processors(const struct graft_model *model, const struct graft_generation *generation,
                           struct graft_named_processors *processors, struct graft_error *error) {
    int status = GRAFT_OK;
    if (generation->n_logits_processors > GRAFT_MAX_NAMED_PROCESSORS ||
        generation->n_processors > GRAFT_MAX_NAMED_PROCESSORS - generation->n_logits_processors) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "logits_processors", "expected at most %d, got %zu",
                               GRAFT_MAX_NAMED_PROCESSORS, generation->n_logits_processors + generation->n_processors);
    }
    *processors = (struct graft_named_processors){.directory = model->directory};
    for (size_t i = 0; i < generation->n_logits_processors && status == GRAFT_OK; i++) {
        status = find_processor(model, generation->logits_processors[i], "logits_processors",
                                &processors->items[processors->n], error);
        processors->n += status == GRAFT_OK;
    }
    for (size_t i = 0; i < generation->n_processors && status == GRAFT_OK; i++) {
        status = choose_processor(model, &generation->processors[i], &processors->items[processors->n], error);
        processors->n += status == GRAFT_OK;
    }
    return status;
}

/* Overrides the directory's settings by the program's. Members that a program of an older version does not have keep
 * the directory's values. */
static void put_over(struct graft_generation *generation, const struct graft_generation *given) {
    size_t size = given->struct_size < sizeof *generation ? given->struct_size : sizeof *generation;
    memcpy(generation, given, size);
    generation->struct_size = sizeof *generation;
}

int graft_model_choose_generation(struct graft_model *model, const struct graft_generation *given,
                                  struct graft_generation_settings *settings, struct graft_error *error) {
    struct graft_generation *generation = &settings->generation;
    *settings = model->generation;
    int status = graft_check_given(given, GRAFT_GENERATION_SIZE_1_0, "struct graft_generation", error);
    if (status == GRAFT_OK && given != NULL) {
        put_over(generation, given);
    }
    const char *wrong = status == GRAFT_OK ? find_wrong(generation) : NULL;
    if (wrong != NULL) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, wrong, "out of range");
    }
    if (status == GRAFT_OK) {
        status = check_lists(generation, model->vocab_size, error);
    }
    if (status == GRAFT_OK) {
        status = check_ways(model, generation, error);
    }
    if (status == GRAFT_OK) {
        status = find_processors(model, generation, &settings->processors, error);
    }
    return status == GRAFT_OK ? graft_model_token_texts(model, generation, &settings->texts, error) : status;
}

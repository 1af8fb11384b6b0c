/* SPDX-License-Identifier: Apache-2.0 */
/* Grammars for a vocabulary: compiled once for each text, cached, and applied to sequences by a logits processor. */
#include "graft/host/grammar.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "graft/logits_processor.h"
#include "grammar/gbnf.h"
#include "grammar/matcher.h"
#include "grammar/schema.h"
#include "library/library.h"

enum { MOST_BYTES = 4 << 20, MOST_KEPT = 32 };

struct graft_grammar {
    struct graft_vocabulary *vocabulary;
    struct graft_grammar_core *core;
    int32_t kind;
    char *text;
    size_t length;
    int users; /* how many users have it open */
    uint64_t
        closed; /* the vocabulary's clock when it was last closed; of unused grammars the oldest is dropped first */
};

struct graft_vocabulary {
    struct graft_trie *trie;
    pthread_mutex_t lock;
    struct graft_grammar **grammars; /* [n] */
    size_t n, capacity;
    uint64_t clock;
};

/* --- The vocabulary --- */

int graft_vocabulary_create(const struct graft_tokenizer *tokenizer, struct graft_vocabulary **vocabulary,
                            struct graft_error *error) {
    struct graft_vocabulary *made = graft_alloc(1, sizeof *made);
    struct graft_text bytes = {0};
    size_t *places = NULL;
    size_t size = 0;
    *vocabulary = NULL;
    if (made == NULL || pthread_mutex_init(&made->lock, NULL) != 0) {
        graft_free(made);
        return graft_fail_memory(error, "grammar");
    }
    int status = graft_token_bytes(tokenizer, &bytes, &places, &size, error);
    if (status == GRAFT_OK) {
        made->trie = graft_trie_create(bytes.bytes, places, size);
        status = made->trie != NULL ? GRAFT_OK : graft_fail_memory(error, "grammar");
    }
    if (status != GRAFT_OK) {
        graft_vocabulary_free(made);
        return status;
    }
    *vocabulary = made;
    return GRAFT_OK;
}

static void free_grammar(struct graft_grammar *grammar) {
    if (grammar != NULL) {
        graft_grammar_core_destroy(grammar->core);
        graft_free(grammar->text);
        graft_free(grammar);
    }
}

void graft_vocabulary_free(struct graft_vocabulary *vocabulary) {
    if (vocabulary != NULL) {
        for (size_t i = 0; i < vocabulary->n; i++) {
            free_grammar(vocabulary->grammars[i]);
        }
        (void)pthread_mutex_destroy(&vocabulary->lock);
        graft_free(vocabulary->grammars);
        graft_trie_destroy(vocabulary->trie);
        graft_free(vocabulary);
    }
}

/* --- Grammars --- */

/* Reads a schema. Malformed JSON is reported as GRAFT_ERROR_USAGE: the text comes from the caller, not from a model. */
static int read_schema(const struct graft_grammar_text *text, struct graft_rules *rules, struct graft_error *error) {
    graft_json *schema = NULL;
    int status = graft_json_parse_strict(text->text, text->length, text->source, &schema, error);
    if (status == GRAFT_ERROR_MODEL) {
        status = GRAFT_ERROR_USAGE;
        if (error != NULL) {
            error->code = status;
        }
    }
    if (status == GRAFT_OK) {
        status = graft_schema_read(schema, text->source, rules, error);
    }
    graft_json_free(schema);
    return status;
}

static int make(struct graft_vocabulary *vocabulary, const struct graft_grammar_text *text,
                struct graft_grammar **grammar, struct graft_error *error) {
    struct graft_rules rules = {0};
    struct graft_grammar *made = NULL;
    int status = text->kind == GRAFT_GRAMMAR_JSON_SCHEMA
                     ? read_schema(text, &rules, error)
                     : graft_gbnf_read(text->text, text->length, text->source, &rules, error);
    if (status == GRAFT_OK) {
        status = graft_rules_finish(&rules, text->source, error);
    }
    if (status == GRAFT_OK) {
        made = graft_alloc(1, sizeof *made);
        if (made != NULL) {
            *made = (struct graft_grammar){.vocabulary = vocabulary, .kind = text->kind, .length = text->length};
            made->text = graft_strndup(text->text, text->length);
            made->core = graft_grammar_core_create(&rules, vocabulary->trie, &graft_machine_usual_limits);
        }
        if (made == NULL || made->text == NULL || made->core == NULL) {
            free_grammar(made);
            status = graft_fail_memory(error, text->source);
        }
    }
    graft_rules_free(&rules);
    *grammar = status == GRAFT_OK ? made : NULL;
    return status;
}

static struct graft_grammar *find(const struct graft_vocabulary *vocabulary, const struct graft_grammar_text *text) {
    for (size_t i = 0; i < vocabulary->n; i++) {
        struct graft_grammar *grammar = vocabulary->grammars[i];
        if (grammar->kind == text->kind && grammar->length == text->length &&
            memcmp(grammar->text, text->text, text->length) == 0) {
            return grammar;
        }
    }
    return NULL;
}

/* Frees the grammar that has been unused for longest, if more than MOST_KEPT are unused. */
static void drop_one(struct graft_vocabulary *vocabulary) {
    size_t unused = 0, oldest = vocabulary->n;
    for (size_t i = 0; i < vocabulary->n; i++) {
        const struct graft_grammar *grammar = vocabulary->grammars[i];
        unused += grammar->users == 0;
        if (grammar->users == 0 &&
            (oldest == vocabulary->n || grammar->closed < vocabulary->grammars[oldest]->closed)) {
            oldest = i;
        }
    }
    if (unused > MOST_KEPT) {
        free_grammar(vocabulary->grammars[oldest]);
        vocabulary->grammars[oldest] = vocabulary->grammars[--vocabulary->n];
    }
}

static int open_grammar(struct graft_vocabulary *vocabulary, const struct graft_grammar_text *text,
                        struct graft_grammar **grammar, struct graft_error *error) {
    *grammar = find(vocabulary, text);
    if (*grammar == NULL) {
        int status = make(vocabulary, text, grammar, error);
        if (status != GRAFT_OK) {
            return status;
        }
        if (graft_grow(&vocabulary->grammars, &vocabulary->capacity, vocabulary->n, sizeof *vocabulary->grammars) !=
            0) {
            free_grammar(*grammar);
            *grammar = NULL;
            return graft_fail_memory(error, text->source);
        }
        vocabulary->grammars[vocabulary->n++] = *grammar;
    }
    (*grammar)->users++;
    return GRAFT_OK;
}

static int check_text(const struct graft_grammar_text *text, struct graft_error *error) {
    int status = text == NULL
                     ? graft_error_set(error, GRAFT_ERROR_USAGE, "struct graft_grammar_text", "is not given")
                     : graft_check_given(text, GRAFT_GRAMMAR_TEXT_SIZE_1_0, "struct graft_grammar_text", error);
    if (status == GRAFT_OK && text->kind != GRAFT_GRAMMAR_JSON_SCHEMA && text->kind != GRAFT_GRAMMAR_GBNF) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, "kind", "out of range");
    }
    return status == GRAFT_OK && text->length > MOST_BYTES
               ? graft_error_set(error, GRAFT_ERROR_USAGE, text->source, "it has %zu bytes, more than %d", text->length,
                                 (int)MOST_BYTES)
               : status;
}

int graft_grammar_open(struct graft_vocabulary *vocabulary, const struct graft_grammar_text *text,
                       struct graft_grammar **grammar, struct graft_error *error) {
    *grammar = NULL;
    int status = check_text(text, error);
    if (status == GRAFT_OK) {
        (void)pthread_mutex_lock(&vocabulary->lock);
        status = open_grammar(vocabulary, text, grammar, error);
        (void)pthread_mutex_unlock(&vocabulary->lock);
    }
    return status;
}

void graft_grammar_close(struct graft_grammar *grammar) {
    if (grammar != NULL) {
        struct graft_vocabulary *vocabulary = grammar->vocabulary;
        (void)pthread_mutex_lock(&vocabulary->lock);
        grammar->users--;
        grammar->closed = ++vocabulary->clock;
        drop_one(vocabulary);
        (void)pthread_mutex_unlock(&vocabulary->lock);
    }
}

int graft_grammar_fits(struct graft_grammar *grammar, const char *text, size_t length) {
    struct graft_matcher *matcher = graft_matcher_create(grammar->core, NULL);
    int fits = matcher != NULL && graft_matcher_take(matcher, text, length, NULL) == GRAFT_OK
                   ? graft_matcher_may_end(matcher)
                   : -1;
    graft_matcher_destroy(matcher);
    return fits;
}

/* --- The logits processor --- */

struct state {
    struct graft_matcher *matcher;
    struct graft_grammar_core *core;
    int32_t *ends; /* [n_ends] */
    size_t n_ends;
    int is_over;
};

static void destroy(void *data) {
    struct state *state = data;
    if (state != NULL) {
        graft_matcher_destroy(state->matcher);
        graft_free(state->ends);
        graft_free(state);
    }
}

static struct state *make_state(struct graft_grammar_core *core, const struct graft_matcher *from, const int32_t *ends,
                                size_t n_ends) {
    struct state *state = graft_alloc(1, sizeof *state);
    if (state == NULL) {
        return NULL;
    }
    *state = (struct state){.core = core, .n_ends = n_ends};
    state->matcher = graft_matcher_create(core, from);
    state->ends = graft_alloc(n_ends, sizeof *state->ends);
    if (state->matcher == NULL || state->ends == NULL) {
        destroy(state);
        return NULL;
    }
    if (n_ends > 0) {
        memcpy(state->ends, ends, n_ends * sizeof *ends);
    }
    return state;
}

static int create(const struct graft_logits_sequence *sequence, void **state, struct graft_error *error) {
    const struct graft_grammar *grammar = sequence->data;
    if (grammar == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "grammar", "the processor was given none, as its data");
    }
    *state = make_state(grammar->core, NULL, sequence->eos_ids, (size_t)sequence->n_eos_ids);
    return *state != NULL ? GRAFT_OK : graft_fail_memory(error, "grammar");
}

static int process(void *data, const struct graft_logits_args *args, struct graft_error *error) {
    struct state *state = data;
    const struct graft_matcher_ends ends = {state->ends, state->n_ends};
    int left = 0;
    if (state->is_over) {
        return GRAFT_OK; /* the text has ended, but the sequence goes on: nothing is forbidden */
    }
    int status = graft_matcher_mask(state->matcher, &ends, (args->flags & GRAFT_LOGITS_ONLY_LARGEST) != 0, args->scores,
                                    (size_t)args->vocab_size, &left, error);
    if (status != GRAFT_OK || left) {
        return status;
    }
    return graft_error_set(error, GRAFT_ERROR_USAGE, "grammar",
                           graft_matcher_may_end(state->matcher) && state->n_ends == 0
                               ? "the text must end here, but no token ends it"
                               : "no token is left that fits: the vocabulary has none, or other settings forbid it");
}

static int accept(void *data, int32_t id, struct graft_error *error) {
    struct state *state = data;
    for (size_t i = 0; i < state->n_ends; i++) {
        state->is_over |= state->ends[i] == id;
    }
    return state->is_over ? GRAFT_OK : graft_matcher_take_token(state->matcher, id, error);
}

static int fork_state(const void *data, void **copy, struct graft_error *error) {
    const struct state *state = data;
    struct state *made = make_state(state->core, state->matcher, state->ends, state->n_ends);
    if (made == NULL) {
        return graft_fail_memory(error, "grammar");
    }
    made->is_over = state->is_over;
    *copy = made;
    return GRAFT_OK;
}

const struct graft_logits_processor *graft_grammar_processor(void) {
    static const struct graft_logits_processor processor = {
        .struct_size = sizeof processor,
        .interface_id = GRAFT_INTERFACE_LOGITS_PROCESSOR,
        .name = "grammar",
        .description = "leaves the tokens that fit a grammar",
        .create = create,
        .process = process,
        .accept = accept,
        .fork = fork_state,
        .destroy = destroy,
    };
    return &processor;
}

int graft_model_choose_grammar(struct graft_model *model, struct graft_vocabulary *vocabulary,
                               const struct graft_grammar_text *text, struct graft_grammar **grammar,
                               struct graft_processor_choice *choice, struct graft_error *error) {
    const struct graft_implementation *found = NULL;
    *grammar = NULL;
    int status = check_text(text, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const char *name = text->kind == GRAFT_GRAMMAR_JSON_SCHEMA ? "json_schema" : "gbnf";
    if (graft_snapshot_implementation(model->tree->snapshot, GRAFT_IMPLEMENTATION_LOGITS_PROCESSOR, name, name, &found,
                                      NULL) == GRAFT_OK) {
        *choice = (struct graft_processor_choice){.name = name, .setting = text->text};
        return GRAFT_OK;
    }
    status = graft_grammar_open(vocabulary, text, grammar, error);
    *choice =
        (struct graft_processor_choice){.processor = graft_grammar_processor(), .name = "grammar", .data = *grammar};
    return status;
}

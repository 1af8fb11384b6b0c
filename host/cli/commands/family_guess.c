/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/family_guess.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/screen.h"
#include "graft/host/choices.h"

/* --- Aliases --- */

int family_guess_aliases(struct family_draft *draft, struct graft_error *error) {
    /* A field's name in transformers' usual form, then the names that other models have for it. */
    static const char *const names[][8] = {
        {"hidden_size", "n_embd", "d_model", "dim", "model_dim", "emb_dim"},
        {"num_hidden_layers", "n_layer", "n_layers", "num_layers"},
        {"num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"},
        {"num_key_value_heads", "n_kv_heads", "n_head_kv", "num_kv_heads", "num_query_groups", "multi_query_group_num"},
        {"head_dim", "attention_head_dim", "kv_channels", "d_head", "dim_head", "d_kv"},
        {"intermediate_size", "n_inner", "ffn_hidden_size", "ffn_dim", "d_ff", "dff", "hidden_dim"},
        {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "max_sequence_length", "seq_length"},
        {"rms_norm_eps", "norm_eps", "layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon", "norm_epsilon"},
        {"hidden_act", "hidden_activation", "activation_function", "activation", "act_fn"},
        {"vocab_size", "padded_vocab_size", "n_vocab"},
    };
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < sizeof names / sizeof names[0]; i++) {
        for (size_t k = 1; graft_json_get(draft->config, names[i][0]) == NULL && k < 8 && names[i][k] != NULL; k++) {
            if (graft_json_get(draft->config, names[i][k]) != NULL) {
                graft_json *value = graft_json_new_string(names[i][k]);
                status = value != NULL ? family_edits_set(&draft->aliases, names[i][0], value, NULL, NULL, error)
                                       : graft_fail_memory(error, "family");
                graft_json_free(value);
                break;
            }
        }
    }
    return status;
}

/* --- Choices --- */

/* Tries the draft and removes the edits after the first `before` again unless the score became better. */
static int keep_or_drop(struct family_draft *draft, struct family_outcome *outcome, size_t before,
                        struct graft_error *error) {
    struct family_outcome with;
    int status = family_draft_try(draft, &with, error);
    if (status == GRAFT_OK && family_outcome_score(&with) < family_outcome_score(outcome)) {
        family_outcome_finish(outcome);
        *outcome = with;
        return GRAFT_OK;
    }
    family_outcome_finish(&with);
    while (draft->choices.count > before) {
        family_edits_remove(&draft->choices, draft->choices.items[draft->choices.count - 1].name);
    }
    return status;
}

/* Tries one edit; choices that the draft already makes stay. */
static int try_edit(struct family_draft *draft, struct family_outcome *outcome, const char *name,
                    const graft_json *value, const char *from, struct graft_error *error) {
    const size_t before = draft->choices.count;
    if (family_edits_find(&draft->choices, name) != NULL) {
        return GRAFT_OK;
    }
    int status = family_edits_set(&draft->choices, name, value, from, NULL, error);
    return status == GRAFT_OK ? keep_or_drop(draft, outcome, before, error) : status;
}

/* Collects the choices of one family that mention a field. */
static int collect(const graft_json *document, const char *model_type, const char *field, struct family_edits *edits,
                   struct graft_error *error) {
    void *iterator = NULL, *inner = NULL;
    const char *section, *key;
    const graft_json *members, *value;
    int status = GRAFT_OK;
    *edits = (struct family_edits){NULL, 0, 0};
    while (status == GRAFT_OK && graft_json_next(graft_json_get(document, "decoder"), &iterator, &section, &members)) {
        inner = NULL;
        while (status == GRAFT_OK && graft_json_next(members, &inner, &key, &value)) {
            char name[128];
            (void)snprintf(name, sizeof name, "%.60s.%.60s", section, key);
            if (family_mentions(value, field)) {
                status = family_edits_set(edits, name, value, model_type, field, error);
            }
        }
    }
    return status;
}

/* Whether two expressions are the same but for the value if the field is absent: "a" and "a ?? false". */
static int means_same(const graft_json *a, const graft_json *b) {
    const char *left = graft_json_string(a, NULL), *right = graft_json_string(b, NULL);
    const char *left_end = strstr(left, " ?? "), *right_end = strstr(right, " ?? ");
    const size_t n = left_end != NULL ? (size_t)(left_end - left) : strlen(left);
    return n == (right_end != NULL ? (size_t)(right_end - right) : strlen(right)) && strncmp(left, right, n) == 0;
}

static int has_all(const struct family_edits *all, const struct family_edits *some) {
    for (size_t i = 0; i < some->count; i++) {
        const struct family_edit *edit = family_edits_find(all, some->items[i].name);
        if (edit == NULL || !means_same(edit->value, some->items[i].value)) {
            return 0;
        }
    }
    return 1;
}

/* The edits that known families make for a field: those of the family that makes the most, if they include those of
 * every other family; else none. */
static int find_agreed(const struct family_known *known, const char *field, struct family_edits *agreed,
                       struct graft_error *error) {
    int status = GRAFT_OK, is_one = 1;
    *agreed = (struct family_edits){NULL, 0, 0};
    for (int pass = 0; pass < 2; pass++) { /* finds the most edits, then compares the others */
        void *iterator = NULL;
        const char *model_type;
        const graft_json *document;
        while (status == GRAFT_OK && graft_json_next(known->documents, &iterator, &model_type, &document)) {
            struct family_edits own;
            status = collect(document, model_type, field, &own, error);
            is_one &= pass == 0 || has_all(agreed, &own);
            if (pass == 0 && own.count > agreed->count) {
                const struct family_edits smaller = *agreed;
                *agreed = own;
                own = smaller;
            }
            family_edits_finish(&own);
        }
    }
    if (!is_one) {
        family_edits_finish(agreed);
        *agreed = (struct family_edits){NULL, 0, 0};
    }
    return status;
}

/* Tries `n` edits from number `first` on, without those for choices that the draft already makes. */
static int take(struct family_draft *draft, struct family_outcome *outcome, const struct family_edits *edits,
                size_t first, size_t n, struct graft_error *error) {
    const size_t before = draft->choices.count;
    int status = GRAFT_OK;
    for (size_t i = first; status == GRAFT_OK && i < first + n; i++) {
        const struct family_edit *edit = &edits->items[i];
        if (family_edits_find(&draft->choices, edit->name) == NULL) {
            status = family_edits_set(&draft->choices, edit->name, edit->value, edit->from, edit->field, error);
        }
    }
    return status == GRAFT_OK && draft->choices.count > before ? keep_or_drop(draft, outcome, before, error) : status;
}

/* Tries all edits that known families make for a field, then each alone. */
static int guess_field(struct family_draft *draft, const struct family_known *known, struct family_outcome *outcome,
                       const char *field, struct graft_error *error) {
    const size_t before = draft->choices.count;
    struct family_edits agreed;
    int status = find_agreed(known, field, &agreed, error);
    if (status == GRAFT_OK) {
        status = take(draft, outcome, &agreed, 0, agreed.count, error);
    }
    for (size_t i = 0; status == GRAFT_OK && agreed.count > 1 && draft->choices.count == before && i < agreed.count;
         i++) {
        status = take(draft, outcome, &agreed, i, 1, error);
    }
    family_edits_finish(&agreed);
    return status;
}

static int guess_fields(struct family_draft *draft, const struct family_known *known, struct family_outcome *outcome,
                        struct graft_error *error) {
    graft_json *unused = graft_json_copy(outcome->unused); /* a copy: each accepted guess replaces `outcome` */
    int status = unused != NULL ? GRAFT_OK : graft_fail_memory(error, "family");
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(unused); i++) {
        const char *field = graft_json_string(graft_json_get(graft_json_at(unused, i), "name"), NULL);
        status = guess_field(draft, known, outcome, field, error);
    }
    graft_json_free(unused);
    return status;
}

/* Whether one of the names of tensors or parameters has `part` as one of its parts. */
static int is_part(const graft_json *names, const char *part) {
    const size_t length = strlen(part);
    for (size_t i = 0; i < graft_json_size(names); i++) {
        const char *name = graft_json_string(graft_json_at(names, i), NULL);
        for (const char *at = name; (at = strstr(at, part)) != NULL; at += length) {
            if ((at == name || at[-1] == '.') && (at[length] == '.' || at[length] == '\0')) {
                return 1;
            }
        }
    }
    return 0;
}

static int guess_names(struct family_draft *draft, const struct family_known *known, struct family_outcome *outcome,
                       struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; status == GRAFT_OK && i < known->count; i++) {
        const struct family_known_choice *choice = &known->items[i];
        const char *text = graft_json_string(choice->value, NULL);
        if (text != NULL && is_part(outcome->left, text)) {
            status = try_edit(draft, outcome, choice->name, choice->value, choice->from, error);
        }
    }
    return status;
}

/* Tries every value of a choice that is a word or a truth value. */
static int guess_values(struct family_draft *draft, struct family_outcome *outcome,
                        const struct graft_family_choice *choice, struct graft_error *error) {
    const char *word = choice->kind == GRAFT_FAMILY_CHOICE_WORD ? choice->words : "";
    int status = GRAFT_OK;
    for (int truth = 0; choice->kind == GRAFT_FAMILY_CHOICE_BOOL && status == GRAFT_OK && truth < 2; truth++) {
        graft_json *value = graft_json_new_bool(truth);
        status = value != NULL ? try_edit(draft, outcome, choice->name, value, NULL, error)
                               : graft_fail_memory(error, "family");
        graft_json_free(value);
    }
    while (status == GRAFT_OK && *word != '\0') {
        const size_t length = strcspn(word, " ");
        graft_json *value = graft_json_new_string_n(word, length);
        status = value != NULL ? try_edit(draft, outcome, choice->name, value, NULL, error)
                               : graft_fail_memory(error, "family");
        graft_json_free(value);
        word += length + strspn(word + length, " ");
    }
    return status;
}

static int fits(const struct family_outcome *outcome) {
    return outcome->status == GRAFT_OK && graft_json_size(outcome->left) + graft_json_size(outcome->missing) == 0;
}

int family_guess_choices(struct family_draft *draft, const struct family_known *known, struct family_outcome *outcome,
                         struct graft_error *error) {
    struct graft_family_choice choice = {.struct_size = sizeof choice};
    int status = guess_fields(draft, known, outcome, error);
    for (int round = 0; round < 2 && status == GRAFT_OK && !fits(outcome);
         round++) { /* a choice kept in the first round may let another one help */
        const size_t before = draft->choices.count;
        status = guess_names(draft, known, outcome, error);
        for (size_t i = 0; status == GRAFT_OK && !fits(outcome) && graft_family_choice_at(i, &choice); i++) {
            graft_screen_count((int64_t)i, 0, "choices");
            if (strcmp(choice.member, "decoder") == 0) {
                status = guess_values(draft, outcome, &choice, error);
            }
        }
        if (draft->choices.count == before) {
            break;
        }
    }
    return status;
}

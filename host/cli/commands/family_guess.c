/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/family_guess.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/screen.h"
#include "graft/host/choices.h"

/* --- Aliases --- */

int family_guess_aliases(struct family_draft *draft, struct graft_error *error) {
    /* What choices ask for where a family says nothing, and what others call it. */
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

/* Keeps the edits behind the first `before` if less is left over with them. */
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

/* What the draft already says stays. */
static int try_edit(struct family_draft *draft, struct family_outcome *outcome, const char *name,
                    const graft_json *value, const char *from, struct graft_error *error) {
    const size_t before = draft->choices.count;
    if (family_edits_find(&draft->choices, name) != NULL) {
        return GRAFT_OK;
    }
    int status = family_edits_set(&draft->choices, name, value, from, NULL, error);
    return status == GRAFT_OK ? keep_or_drop(draft, outcome, before, error) : status;
}

/* Whether what families make of a field is one thing: choices of one family, each in one way. */
static int is_agreed(const struct family_known *known, const char *field) {
    const struct family_known_choice *first = NULL;
    for (size_t i = 0; i < known->count; i++) {
        const struct family_known_choice *choice = &known->items[i];
        if (!family_mentions(choice->value, field)) {
            continue;
        }
        first = first != NULL ? first : choice;
        if (strcmp(first->from, choice->from) != 0 || (first != choice && strcmp(first->name, choice->name) == 0)) {
            return 0;
        }
    }
    return first != NULL;
}

static int guess_field(struct family_draft *draft, const struct family_known *known, struct family_outcome *outcome,
                       const char *field, struct graft_error *error) {
    const size_t before = draft->choices.count;
    int status = GRAFT_OK;
    if (!is_agreed(known, field)) {
        return GRAFT_OK;
    }
    for (size_t i = 0; status == GRAFT_OK && i < known->count; i++) {
        const struct family_known_choice *choice = &known->items[i];
        if (family_mentions(choice->value, field) && family_edits_find(&draft->choices, choice->name) == NULL) {
            status = family_edits_set(&draft->choices, choice->name, choice->value, choice->from, field, error);
        }
    }
    return status == GRAFT_OK && draft->choices.count > before ? keep_or_drop(draft, outcome, before, error) : status;
}

static int guess_fields(struct family_draft *draft, const struct family_known *known, struct family_outcome *outcome,
                        struct graft_error *error) {
    graft_json *unused = family_json_copy(outcome->unused); /* `outcome` changes on the way */
    int status = unused != NULL ? GRAFT_OK : graft_fail_memory(error, "family");
    for (size_t i = 0; status == GRAFT_OK && i < graft_json_size(unused); i++) {
        const char *field = graft_json_string(graft_json_get(graft_json_at(unused, i), "name"), NULL);
        status = guess_field(draft, known, outcome, field, error);
    }
    graft_json_free(unused);
    return status;
}

/* Whether a name is a part of one of those tensors' or parameters'. */
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

/* Each word of a choice, each truth. */
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
         round++) { /* one may make room for another */
        const size_t before = draft->choices.count;
        status = guess_names(draft, known, outcome, error);
        for (size_t i = 0; status == GRAFT_OK && !fits(outcome) && graft_family_choice_at(i, &choice); i++) {
            graft_screen_count((int64_t)i, 0, "choices");
            status = guess_values(draft, outcome, &choice, error);
        }
        if (draft->choices.count == before) {
            break;
        }
    }
    return status;
}

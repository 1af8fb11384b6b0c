/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands/family.h"
#include "cli/commands/family_guess.h"
#include "cli/commands/family_report.h"
#include "cli/hub.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "cli/setup.h"

#define SUFFIX ".family.json"

enum { MAX_CONFIG_BYTES = 16 << 20 };

/* --- Facts from the checkpoint --- */

/* Whether a model type can be part of a file name and has no control characters. */
static int is_name(const char *model_type) {
    if (model_type == NULL || model_type[0] == '\0' || strchr(model_type, '/') != NULL) {
        return 0;
    }
    for (const char *at = model_type; *at != '\0'; at += graft_error_utf8(at)) {
        if (graft_error_utf8(at) == 0 || graft_error_is_control(at)) {
            return 0;
        }
    }
    return 1;
}

static int read_config(const char *directory, graft_json **config, const char **model_type, struct graft_error *error) {
    char *path = graft_path_join(directory, "config.json");
    int status =
        path != NULL ? graft_json_read(path, MAX_CONFIG_BYTES, config, error) : graft_fail_memory(error, directory);
    *model_type = status == GRAFT_OK ? graft_json_string(graft_json_get(*config, "model_type"), NULL) : NULL;
    if (status == GRAFT_OK && !is_name(*model_type)) {
        status =
            graft_error_set(error, GRAFT_ERROR_MODEL, path, "model_type: expected a name, which the file is called by");
    }
    graft_free(path);
    return status;
}

/* A prefix of class names from a model type: "MyType" for "my_type". */
static char *join_words(const char *model_type) {
    char *prefix = graft_strdup(model_type);
    char *to = prefix;
    int is_first = 1;
    for (const char *from = model_type; prefix != NULL && *from != '\0'; from++) {
        const int is_letter = isalpha((unsigned char)*from) != 0;
        if (is_letter || (isdigit((unsigned char)*from) && to != prefix)) {
            *to++ = is_first && is_letter ? (char)toupper((unsigned char)*from) : *from;
        }
        is_first = !is_letter;
    }
    if (prefix != NULL) {
        *to = '\0';
    }
    return prefix;
}

static int is_prefix_of_known(const struct family_known *known, const char *prefix) {
    void *iterator = NULL;
    const char *key;
    const graft_json *document;
    while (graft_json_next(known->documents, &iterator, &key, &document)) {
        const char *other = graft_json_string(graft_json_get(document, "prefix"), NULL);
        if (other != NULL && strcmp(other, prefix) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The prefix of class names: "Granite" for "GraniteForCausalLM". If a known family has that prefix, one made from the
 * model type. */
static int find_prefix(struct family_draft *draft, const struct family_known *known, struct graft_error *error) {
    static const char ending[] = "ForCausalLM";
    const char *name = graft_json_string(graft_json_at(graft_json_get(draft->config, "architectures"), 0), NULL);
    const size_t length = name != NULL ? strlen(name) : 0, cut = sizeof ending - 1;
    if (length > cut && strcmp(name + length - cut, ending) == 0) {
        draft->prefix = graft_strndup(name, length - cut);
        if (draft->prefix == NULL || !is_prefix_of_known(known, draft->prefix)) {
            return draft->prefix != NULL ? GRAFT_OK : graft_fail_memory(error, "family");
        }
        graft_free(draft->prefix);
    }
    draft->architecture = name;
    draft->prefix = join_words(draft->model_type);
    return draft->prefix != NULL ? GRAFT_OK : graft_fail_memory(error, "family");
}

/* --- The most similar family --- */

static const struct graft_family *find_family(const struct graft_family_info *families, size_t n,
                                              const char *model_type) {
    for (size_t i = 0; i < n; i++) {
        const struct graft_family_info *info = graft_struct_at(families, i);
        if (strcmp(info->family->model_type, model_type) == 0) {
            return info->family;
        }
    }
    return NULL;
}

static int is_described(const struct family_known *known, const char *model_type) {
    const graft_json *document = graft_json_get(known->documents, model_type);
    return document != NULL && graft_json_get(document, "prefix") != NULL;
}

/* The value that the family "like" has for a field of the outcome that config.json lacks; NULL: none. */
static const graft_json *find_default(const struct family_draft *draft, const struct family_known *known,
                                      const struct family_outcome *outcome, size_t i, const char **field) {
    *field = graft_json_string(graft_json_at(outcome->asked, i), NULL);
    return strchr(*field, '.') == NULL && graft_json_get(draft->config, *field) == NULL &&
                   family_edits_find(&draft->aliases, *field) == NULL
               ? family_known_default(known, draft->like, *field)
               : NULL;
}

/* Copies these values into the draft, since this model's may differ. */
static int take_defaults(struct family_draft *draft, const struct family_known *known,
                         const struct family_outcome *outcome, struct graft_error *error) {
    draft->defaults = graft_json_new_object();
    for (size_t i = 0; i < graft_json_size(outcome->asked); i++) {
        const char *field;
        const graft_json *value = find_default(draft, known, outcome, i, &field);
        if (value != NULL && graft_json_set_take(draft->defaults, field, graft_json_copy(value)) != 0) {
            return graft_fail_memory(error, "family");
        }
    }
    return draft->defaults != NULL ? GRAFT_OK : graft_fail_memory(error, "family");
}

/* Scores how well a draft fits; lower is better. A value that only the family "like" has counts as much as a field of
 * config.json that nobody uses. */
static int64_t score(const struct family_draft *draft, const struct family_known *known,
                     const struct family_outcome *outcome) {
    int64_t sum = family_outcome_score(outcome);
    for (size_t i = 0; sum < INT64_MAX && i < graft_json_size(outcome->asked); i++) {
        const char *field;
        sum += find_default(draft, known, outcome, i, &field) != NULL;
    }
    return sum;
}

/* How many families a family is like, directly or through others. */
static int depth(const struct family_known *known, const char *model_type) {
    int n = 0;
    while ((model_type = graft_json_string(graft_json_get(graft_json_get(known->documents, model_type), "like"),
                                           NULL)) != NULL) {
        n++;
    }
    return n;
}

/* Tries a family as "like", with and without the guessed aliases; keeps it if its score is the best so far. Of
 * equal scores, that of the family that is like fewer others wins: "llama" before the families that are like it. */
static int try_like(struct family_draft *draft, const struct family_known *known, const char *like,
                    struct family_outcome *best, int64_t *best_score, struct graft_error *error) {
    struct family_draft with = *draft;
    struct family_outcome outcome;
    int status = GRAFT_OK;
    with.like = like;
    with.is_data = is_described(known, like);
    for (int has_aliases = draft->aliases.count > 0; has_aliases >= 0 && status == GRAFT_OK; has_aliases--) {
        with.aliases.count = has_aliases ? draft->aliases.count : 0;
        status = family_draft_try(&with, &outcome, error);
        const int64_t with_score = status == GRAFT_OK ? score(&with, known, &outcome) : INT64_MAX;
        if (status == GRAFT_OK && (draft->like == NULL || with_score < *best_score ||
                                   (with_score == *best_score && depth(known, like) < depth(known, draft->like)))) {
            family_outcome_finish(best);
            *best = outcome;
            *best_score = with_score;
            draft->like = with.like;
            draft->is_data = with.is_data;
            draft->without_aliases = !has_aliases;
        } else {
            family_outcome_finish(&outcome);
        }
    }
    return status;
}

/* Chooses "like": the family of --like, or the one with the best score. */
static int find_like(struct family_draft *draft, const struct family_known *known,
                     const struct graft_family_info *families, size_t n, struct family_outcome *outcome,
                     struct graft_error *error) {
    const char *wanted = draft->options->like;
    int64_t best = INT64_MAX;
    int status = GRAFT_OK;
    if (wanted != NULL) {
        if (find_family(families, n, wanted) == NULL) {
            (void)graft_error_set(error, GRAFT_ERROR_USAGE, "--like", "model type \"%.100s\" is not known", wanted);
            graft_error_hint(error, "`list --families` names all model types");
            return GRAFT_ERROR_USAGE;
        }
        return try_like(draft, known, wanted, outcome, &best, error);
    }
    for (size_t i = 0; status == GRAFT_OK && i < n; i++) {
        const struct graft_family_info *info = graft_struct_at(families, i);
        graft_screen_count((int64_t)i, (int64_t)n, "model types");
        if (info->is_used && is_described(known, info->family->model_type)) {
            status = try_like(draft, known, info->family->model_type, outcome, &best, error);
        }
    }
    return status;
}

static int write_file(const struct family_draft *draft, const char *path, struct graft_error *error) {
    graft_json *document = family_draft_document(draft);
    char *text = document != NULL ? graft_json_dump(document, 2) : NULL;
    const struct graft_file_piece pieces[] = {{text, text != NULL ? strlen(text) : 0}, {"\n", 1}};
    int status = text != NULL ? graft_file_write(path, pieces, 2, error) : graft_fail_memory(error, path);
    graft_free(text);
    graft_json_free(document);
    return status;
}

/* The path of the new file; an error if it exists. */
static int find_output(const struct graft_options *options, const char *model_type, char **path,
                       struct graft_error *error) {
    *path = options->output != NULL ? graft_strdup(options->output) : graft_format("%s" SUFFIX, model_type);
    const size_t length = *path != NULL ? strlen(*path) : 0;
    if (*path == NULL) {
        return graft_fail_memory(error, model_type);
    }
    if (length <= strlen(SUFFIX) || strcmp(*path + length - strlen(SUFFIX), SUFFIX) != 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--output", "expected a name that ends in " SUFFIX ", got %s",
                               *path);
    }
    return graft_file_exists(*path)
               ? graft_error_set(error, GRAFT_ERROR_IO, *path, "exists already; another place is given with --output")
               : GRAFT_OK;
}

static int make(struct family_draft *draft, const char *path, const struct family_known *known,
                const struct graft_family_info *families, size_t n, struct graft_error *error) {
    struct family_outcome outcome = {.status = GRAFT_ERROR_INTERNAL};
    int status = family_guess_aliases(draft, error);
    graft_screen_begin("comparing with known model types", 0);
    if (status == GRAFT_OK) {
        status = find_like(draft, known, families, n, &outcome, error);
    }
    if (draft->without_aliases) {
        family_edits_finish(&draft->aliases);
        draft->aliases = (struct family_edits){NULL, 0, 0};
    }
    if (status == GRAFT_OK && draft->is_data && outcome.status == GRAFT_OK) {
        status = family_guess_choices(draft, known, &outcome, error);
    }
    if (status == GRAFT_OK) {
        status = take_defaults(draft, known, &outcome, error);
    }
    graft_screen_end();
    if (status == GRAFT_OK) {
        status = write_file(draft, path, error);
    }
    if (status == GRAFT_OK) {
        status = family_report(draft, known, &outcome, path, error);
    }
    family_outcome_finish(&outcome);
    return status;
}

static int with_families(struct family_draft *draft, const char *path, struct graft_error *error) {
    struct graft_library *library = NULL;
    struct graft_family_info *families = NULL;
    struct family_known known = {.documents = NULL};
    size_t n = 0;
    int status = graft_library_create(&library, error);
    if (status == GRAFT_OK) {
        status = graft_setup_plugins(draft->options, library, error);
    }
    if (status == GRAFT_OK) {
        status = graft_library_families(library, &families, &n, error);
    }
    if (status == GRAFT_OK && find_family(families, n, draft->model_type) != NULL) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, draft->directory, "model type \"%.100s\" is known already",
                                 draft->model_type);
    }
    if (status == GRAFT_OK) {
        status = family_known_read(library, &known, error);
    }
    if (status == GRAFT_OK) {
        status = find_prefix(draft, &known, error);
    }
    if (status == GRAFT_OK) {
        status = make(draft, path, &known, families, n, error);
    }
    family_known_finish(&known);
    graft_families_free(families);
    graft_library_free(library);
    return status;
}

int graft_family_new(const struct graft_options *options, struct graft_error *error) {
    struct family_draft draft = {.options = options};
    graft_json *config = NULL;
    char *directory = NULL, *path = NULL;
    int status = graft_hub_find(options->files.items[0], &directory, error);
    if (status == GRAFT_OK) {
        draft.directory = directory;
        status = read_config(directory, &config, &draft.model_type, error);
    }
    if (status == GRAFT_OK) {
        draft.config = config;
        status = find_output(options, draft.model_type, &path, error);
    }
    if (status == GRAFT_OK) {
        status = with_families(&draft, path, error);
    }
    family_edits_finish(&draft.aliases);
    family_edits_finish(&draft.choices);
    graft_json_free(draft.defaults);
    graft_free(draft.prefix);
    graft_json_free(config);
    graft_free(directory);
    graft_free(path);
    return status;
}

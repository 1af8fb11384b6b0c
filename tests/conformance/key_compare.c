/* SPDX-License-Identifier: Apache-2.0 */
/* Runs names of cases through lists of transforms. */
#include <string.h>

#include "base/alloc.h"
#include "key_renaming.h"
#include "names/name.h"

/* The pattern recorded for a name, or NULL. */
static const char *pattern_of(const struct key_list *list, const struct key_result *result) {
    return result->converter >= 0 ? list->items[result->converter]->patterns.sources[result->source] : NULL;
}

static int same_text(const char *text, const graft_json *recorded) {
    const char *other = graft_json_string(recorded, NULL);
    return text == NULL ? other == NULL : other != NULL && strcmp(text, other) == 0;
}

/* Adds or removes the base prefix. */
static int adjust(const struct case_names *names, char **name) {
    char spelled[GRAFT_NAME_BYTES];
    if (names->prefix == NULL || names->keys == NULL ||
        !graft_name_in_model(names->prefix, *name, case_holds, (void *)(uintptr_t)names->keys, spelled)) {
        return 0;
    }
    graft_free(*name);
    *name = graft_strdup(spelled);
    return *name != NULL ? 0 : -1;
}

/* Whether the reference read the prefix as a regular expression: it removes the prefix with any one character after
 * it, or puts an empty prefix before a dot. We leave such a name unchanged. */
static int is_prefix_slip(const struct case_names *names, const char *ours, const char *theirs) {
    size_t length = names->prefix != NULL ? strlen(names->prefix) : 0;
    if (names->prefix == NULL || case_holds((void *)(uintptr_t)names->keys, ours)) {
        return 0;
    }
    int took = strncmp(ours, names->prefix, length) == 0 && (length == 0 || ours[length] != '.') &&
               ours[length] != '\0' && strcmp(ours + length + 1, theirs) == 0;
    int put = length == 0 && theirs[0] == '.' && strcmp(theirs + 1, ours) == 0;
    return took || put;
}

/* The name after the case's only transform replaced the first occurrence of the matched text. */
static char *replaced_at_first(const struct case_names *names, const char *key) {
    const struct key_transform *only = names->list->n == 1 ? names->list->items[0] : NULL;
    struct graft_regex_match groups[64];
    if (only == NULL || graft_regex_groups(only->regex) > 62 ||
        graft_regex_search_groups(only->regex, key, strlen(key), groups) != GRAFT_REGEX_MATCH) {
        return NULL;
    }
    char *text = graft_strndup(key + groups[0].start, groups[0].end - groups[0].start);
    const char *first = text != NULL ? strstr(key, text) : NULL;
    char *name = first == NULL ? NULL
                               : graft_format("%.*s%s%s", (int)(first - key), key, only->patterns.targets[0],
                                              first + strlen(text));
    int elsewhere = first != NULL && first < key + groups[0].start;
    graft_free(text);
    if (!elsewhere) {
        graft_free(name);
        return NULL;
    }
    return name;
}

/* Why the reference's name may differ from ours, by a rule over the case; NULL: they have to be equal. `plain` is the
 * name before the base prefix is handled. */
static const char *deviation(const struct case_names *names, const char *key, const char *plain, const char *theirs) {
    char *at_first = replaced_at_first(names, key);
    int is_at_first = at_first != NULL && strcmp(at_first, theirs) == 0;
    graft_free(at_first);
    return is_at_first                            ? "what is found is replaced where it is found"
           : is_prefix_slip(names, plain, theirs) ? "the base prefix is a text, and ends at a dot"
                                                  : NULL;
}

/* The name after the prefix was handled: the recorded one, or ours if it may differ. */
static void compare_adjusted(const struct case_names *names, const char *key, char **name, const char *theirs,
                             struct graft_text *deviations, struct graft_text *why) {
    const char *reason = deviation(names, key, *name, theirs);
    if (adjust(names, name) != 0) {
        (void)fail(why, "%s: out of memory", key);
    } else if (reason != NULL && strcmp(*name, theirs) != 0) {
        deviate(deviations, reason);
    } else if (reason != NULL || strcmp(*name, theirs) != 0) {
        (void)fail(why, "%s: became \"%s\", expected %s\"%s\"", key, *name, reason != NULL ? "another than " : "",
                   theirs);
    }
}

int case_compare_name(const struct case_names *names, const graft_json *recorded, struct graft_text *deviations,
                      struct graft_text *why) {
    struct graft_error error = graft_error_none();
    struct key_result result;
    const char *key = graft_json_string(graft_json_at(recorded, 0), NULL);
    const graft_json *loads_as = graft_json_at(recorded, 3);
    if (graft_key_list_rename(names->list, names->states, key, &result, NULL, &error) != GRAFT_OK) {
        (void)fail(why, "%s: %s", key, error.message);
        return -1;
    }
    const char *pattern = pattern_of(names->list, &result);
    compare_adjusted(names, key, &result.name, graft_json_string(graft_json_at(recorded, 1), NULL), deviations, why);
    if (!same_text(pattern, graft_json_at(recorded, 2))) {
        (void)fail(why, "%s: the pattern is \"%s\"", key, pattern != NULL ? pattern : "none");
    } else if (loads_as != NULL) {
        graft_key_result_finish(&result);
        result.name = graft_strdup(key);
        if (result.name == NULL || adjust(names, &result.name) != 0 || !same_text(result.name, loads_as)) {
            (void)fail(why, "%s: does not load as it is", key);
        }
    }
    graft_key_result_finish(&result);
    return why->length > 0 ? -1 : 0;
}

int case_compare_back(const struct key_list *list, const graft_json *rows, struct graft_text *why) {
    struct graft_error error = graft_error_none();
    struct key_state *states = graft_alloc(list->n, sizeof *states);
    for (size_t i = 0; states != NULL && i < graft_json_size(rows) && why->length == 0; i++) {
        const graft_json *row = graft_json_at(rows, i);
        const char *key = graft_json_string(graft_json_at(row, 0), NULL);
        struct key_result result;
        if (case_rename_back(list, states, key, &result, &error) != GRAFT_OK) {
            (void)fail(why, "back: %s: %s", key, error.message);
        } else if (!same_text(result.name, graft_json_at(row, 1)) ||
                   !same_text(pattern_of(list, &result), graft_json_at(row, 2))) {
            (void)fail(why, "back: %s: became \"%s\"", key, result.name);
        }
        graft_key_result_finish(&result);
    }
    graft_free(states);
    return why->length > 0 ? -1 : 0;
}

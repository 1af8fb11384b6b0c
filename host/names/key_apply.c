/* SPDX-License-Identifier: Apache-2.0 */
/* Applies one transform to one name. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "names/key_transform.h"
#include "names/name.h"

enum { MAX_INDEX_DIGITS = 9 };

/* Where a pattern matched within a name. */
struct found {
    const struct key_transform *transform;
    const char *name; /* the whole name, for messages */
    const char *text; /* the part that was searched: the name without its scope */
    struct graft_regex_match *groups;
    int32_t source; /* the pattern that matched */
    enum key_fault *fault;
};

/* The part of the name that the transform sees: the whole name, or the part after its scope; NULL if the name is
 * outside of the scope. */
static const char *within_scope(const struct graft_weight_transform *given, const char *name) {
    if (given->scope_prefix == NULL) {
        return name;
    }
    const char *parts[] = {given->base_model_prefix != NULL ? given->base_model_prefix : "", given->scope_prefix};
    for (size_t first = 0; first < 2; first++) {
        const char *at = name;
        for (size_t i = first; i < 2 && at != NULL; i++) {
            size_t length = strlen(parts[i]);
            if (length > 0) {
                at = strncmp(at, parts[i], length) == 0 && at[length] == '.' ? at + length + 1 : NULL;
            }
        }
        if (at != NULL) {
            return at;
        }
    }
    return NULL;
}

/* The text of group `number` of the pattern that matched. */
static int captured(const struct found *found, size_t number, struct graft_regex_match *group,
                    struct graft_error *error) {
    size_t all = found->transform->groups[found->source] + number;
    const char *pattern = found->transform->patterns.sources[found->source];
    if (all > graft_regex_groups(found->transform->regex)) {
        return graft_key_failed(found->fault, KEY_FAULT_NO_SUCH_GROUP, error, GRAFT_ERROR_MODEL, found->name,
                                "the pattern \"%.200s\" has no group %zu for its target", pattern, number);
    }
    *group = found->groups[all];
    if (group->start == GRAFT_REGEX_NOWHERE) {
        return graft_key_failed(found->fault, KEY_FAULT_GROUP_DID_NOT_MATCH, error, GRAFT_ERROR_MODEL, found->name,
                                "group %zu of the pattern \"%.200s\" did not take part in the match", number, pattern);
    }
    return GRAFT_OK;
}

/* Adds the captured number, shifted. */
static int add_shifted(const struct found *found, struct graft_text *out, struct graft_error *error) {
    struct graft_regex_match group;
    int64_t offset = found->transform->given->offset;
    int status = captured(found, 1, &group, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const char *digits = found->text + group.start;
    size_t length = group.end - group.start;
    size_t n = strspn(digits, "0123456789");
    int64_t index = n >= length && length > 0 && length <= MAX_INDEX_DIGITS ? strtoll(digits, NULL, 10) : -1;
    if (index < 0 || offset > INT32_MAX || offset < -INT32_MAX || index + offset < 0) {
        return graft_key_failed(found->fault, KEY_FAULT_INDEX, error, GRAFT_ERROR_MODEL, found->name,
                                "\"%.*s\" is not an index that %lld can be added to", (int)(length < 40 ? length : 40),
                                digits, (long long)offset);
    }
    graft_text_printf(out, "%lld", (long long)(index + offset));
    return GRAFT_OK;
}

/* Adds the target with its marks replaced by captured text. Only groups of renamings have marks other than \1. */
static int add_target(const struct found *found, const char *target, struct graft_text *out,
                      struct graft_error *error) {
    int32_t kind = found->transform->given->kind;
    int status = GRAFT_OK;
    while (*target != '\0' && status == GRAFT_OK) {
        struct graft_regex_match group;
        char *end = NULL;
        int is_mark = target[0] == '\\' && isdigit((unsigned char)target[1]) &&
                      (kind == GRAFT_TRANSFORM_GROUP_RENAME || target[1] == '1');
        if (!is_mark) {
            graft_text_add(out, target++, 1);
            continue;
        }
        unsigned long number = kind == GRAFT_TRANSFORM_GROUP_RENAME ? strtoul(target + 1, &end, 10) : 1;
        target = end != NULL ? end : target + 2;
        if (kind == GRAFT_TRANSFORM_INDEX_OFFSET_RENAME) {
            status = add_shifted(found, out, error);
            continue;
        }
        status = captured(found, number < UINT16_MAX ? number : UINT16_MAX, &group, error);
        if (status == GRAFT_OK) {
            graft_text_add(out, found->text + group.start, group.end - group.start);
        }
    }
    return status;
}

/* The new name: the match is replaced within the name. */
static int rename_found(const struct found *found, const char *target, char **renamed, struct graft_error *error) {
    struct graft_text out = {0};
    graft_text_add(&out, found->name, (size_t)(found->text - found->name) + found->groups[0].start);
    int status = add_target(found, target, &out, error);
    graft_text_add_string(&out, found->text + found->groups[0].end);
    if (status == GRAFT_OK && out.failed) {
        status = graft_fail_memory(error, found->name);
    }
    if (status != GRAFT_OK) {
        graft_text_free(&out);
        return status;
    }
    *renamed = out.bytes;
    return GRAFT_OK;
}

/* The source pattern whose group took part in the match. */
static int32_t matching_source(const struct key_transform *transform, const struct graft_regex_match *groups) {
    int32_t i = 0;
    while (groups[transform->groups[i]].start == GRAFT_REGEX_NOWHERE && i + 1 < transform->patterns.n_sources) {
        i++;
    }
    return i;
}

/* Whether a group of renamings applies to this match. The group is inactive until its first pattern has matched. */
static int takes(const struct key_transform *transform, struct key_state *state, int32_t source) {
    if (transform->given->kind == GRAFT_TRANSFORM_GROUP_RENAME) {
        state->active |= source == 0;
        return state->active;
    }
    return 1;
}

/* Whether no source can match, because the name contains none of the sources' literals. */
static int lacks_literals(const struct key_transform *transform, const char *text) {
    int32_t i = 0;
    while (i < transform->patterns.n_sources && transform->literals[i] != NULL &&
           strstr(text, transform->literals[i]) == NULL) {
        i++;
    }
    return i == transform->patterns.n_sources;
}

/* Searches a name; `*match` holds what was found, if `*found` is 1. The caller frees match->groups. */
static int search(const struct key_transform *transform, const char *name, struct found *match, int *found,
                  struct graft_error *error) {
    struct graft_regex_match all;
    const char *text = within_scope(transform->given, name);
    *match = (struct found){.transform = transform, .name = name, .text = text};
    *found = 0;
    if (text == NULL || lacks_literals(transform, text)) {
        return GRAFT_OK;
    }
    int result = graft_regex_search(transform->regex, text, strlen(text), 0, &all);
    if (result == GRAFT_REGEX_MATCH) {
        match->groups = graft_alloc(graft_regex_groups(transform->regex) + 1, sizeof *match->groups);
        result = match->groups != NULL ? graft_regex_search_groups(transform->regex, text, strlen(text), match->groups)
                                       : GRAFT_REGEX_NO_MEMORY;
    }
    if (result == GRAFT_REGEX_NO_MEMORY) {
        return graft_fail_memory(error, name);
    }
    if (result == GRAFT_REGEX_TOO_COSTLY) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, name, "searching it for \"%.200s\" takes too long",
                               transform->joined);
    }
    if (result == GRAFT_REGEX_MATCH) {
        match->source = matching_source(transform, match->groups);
        *found = 1;
    }
    return GRAFT_OK;
}

int graft_key_transform_apply(const struct key_transform *transform, struct key_state *state, const char *name,
                              char **renamed, int32_t *source, enum key_fault *fault, struct graft_error *error) {
    struct found match;
    int found;
    *renamed = NULL;
    int status = search(transform, name, &match, &found, error);
    if (status == GRAFT_OK && found && takes(transform, state, match.source)) {
        int in_pairs = transform->given->kind == GRAFT_TRANSFORM_GROUP_RENAME;
        match.fault = fault;
        state->used = 1;
        *source = match.source;
        status = rename_found(&match, transform->patterns.targets[in_pairs ? match.source : 0], renamed, error);
    }
    graft_free(match.groups);
    return status;
}

int graft_key_transform_target(const struct key_transform *transform, const char *name, int32_t target, char **renamed,
                               struct graft_error *error) {
    struct found match;
    int found;
    *renamed = NULL;
    int status = search(transform, name, &match, &found, error);
    if (status == GRAFT_OK && found) {
        status = rename_found(&match, transform->patterns.targets[target], renamed, error);
    }
    graft_free(match.groups);
    return status;
}

int64_t graft_key_transform_index(const struct key_transform *transform, int32_t source, const char *name) {
    const struct graft_regex *regex = transform->stars != NULL ? transform->stars[source] : NULL;
    const char *text = within_scope(transform->given, name);
    int64_t index = -1;
    if (regex == NULL) {
        return -2;
    }
    struct graft_regex_match *groups = graft_alloc(graft_regex_groups(regex) + 1, sizeof *groups);
    if (groups != NULL && text != NULL &&
        graft_regex_search_groups(regex, text, strlen(text), groups) == GRAFT_REGEX_MATCH) {
        const struct graft_regex_match *star = &groups[graft_regex_group(regex, "star")];
        int is_there = star->start != GRAFT_REGEX_NOWHERE; /* another branch of the pattern may have matched */
        index = is_there ? graft_name_index(text + star->start, star->end - star->start) : -1;
    }
    graft_free(groups);
    return index;
}

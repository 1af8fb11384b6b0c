/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/lookup.h"

#include <string.h>

#include "names/name.h"
#include "plan/absent.h"

/* The ways in which checkpoints spell a parameter's name (names/name.h); after them come the same ways for names below
 * renamed modules. */
static const enum graft_spelling spellings[] = {GRAFT_SPELLED_AS_IS, GRAFT_SPELLED_WITH_PREFIX,
                                                GRAFT_SPELLED_WITHOUT_PREFIX};

enum { N_SPELLINGS = sizeof spellings / sizeof spellings[0], N_WAYS = GRAFT_LOOKUP_WAYS };
_Static_assert((int)N_WAYS == 2 * (int)N_SPELLINGS, "each spelling, with modules renamed or not");

/* Spells `name` in way number `way`. Returns 0 if the name cannot be spelled that way. */
static int spell(const struct lookup *lookup, const char *name, int way, char spelled[GRAFT_NAME_BYTES],
                 const struct graft_conversion **renaming) {
    char renamed[GRAFT_NAME_BYTES], adapted[GRAFT_ADAPTER_TENSOR_NAME];
    *renaming = NULL;
    if (way >= N_SPELLINGS) {
        *renaming = graft_renamings_apply(&lookup->renamings, name, renamed);
        name = *renaming != NULL ? renamed : NULL;
    }
    if (name == NULL || !graft_name_spell(lookup->prefix, name, spellings[way % N_SPELLINGS], spelled)) {
        return 0;
    }
    if (lookup->adapters != NULL && graft_adapters_spell(lookup->adapters, spelled, adapted)) {
        memcpy(spelled, adapted, sizeof adapted);
    }
    return 1;
}

struct graft_source *graft_lookup_find(const struct lookup *lookup, const char *name,
                                       const struct graft_conversion **renaming) {
    for (int way = 0; way < N_WAYS; way++) {
        char spelled[GRAFT_NAME_BYTES];
        struct graft_source *source =
            spell(lookup, name, way, spelled, renaming) ? graft_sources_find(lookup->sources, spelled) : NULL;
        if (source != NULL) {
            return source;
        }
    }
    *renaming = NULL;
    return NULL;
}

/* The missing file that has the tensor, and the tensor's name in it; NULL if there is none. */
static const struct graft_absent_file *find_absent(const struct lookup *lookup,
                                                   const struct graft_checkpoint *checkpoint, const char *name,
                                                   char spelled[GRAFT_NAME_BYTES]) {
    const struct graft_absent_file *file = NULL;
    for (int way = 0; way < N_WAYS && file == NULL && graft_checkpoint_absent_count(checkpoint) > 0; way++) {
        const struct graft_conversion *renaming;
        file = spell(lookup, name, way, spelled, &renaming) ? graft_absent_find(checkpoint, spelled) : NULL;
    }
    return file;
}

int graft_lookup_is_absent(const struct lookup *lookup, const struct graft_checkpoint *checkpoint, const char *name) {
    char spelled[GRAFT_NAME_BYTES];
    return find_absent(lookup, checkpoint, name, spelled) != NULL;
}

int graft_lookup_need_present(const struct lookup *lookup, const struct graft_checkpoint *checkpoint, const char *name,
                              struct graft_error *error) {
    char spelled[GRAFT_NAME_BYTES];
    const struct graft_absent_file *file = find_absent(lookup, checkpoint, name, spelled);
    return file == NULL ? GRAFT_OK : graft_checkpoint_fail_absent(checkpoint, file, spelled, error);
}

int graft_lookup_spell(const struct lookup *lookup, const char *path, int way, char spelled[GRAFT_NAME_BYTES]) {
    const struct graft_conversion *renaming;
    return spell(lookup, path, way, spelled, &renaming);
}

int graft_lookup_is_below(const struct lookup *lookup, const char *path, const char *name) {
    for (int way = 0; way < N_WAYS; way++) {
        const struct graft_conversion *renaming;
        char spelled[GRAFT_NAME_BYTES];
        size_t length = spell(lookup, path, way, spelled, &renaming) ? strlen(spelled) : 0;
        if (length > 0 && strncmp(name, spelled, length) == 0 && name[length] == '.') {
            return 1;
        }
    }
    return 0;
}

int graft_conversion_filter_hits(const struct conversion_filter *filter, const char *name) {
    struct graft_regex_match match;
    int hits = 0;
    for (size_t i = 0; filter != NULL && i < filter->n; i++) {
        if (graft_regex_search(filter->patterns[i], name, strlen(name), 0, &match) == GRAFT_REGEX_MATCH) {
            filter->used[i] = 1;
            hits = 1;
        }
    }
    return hits;
}

/* Whether the filter matches one of `n` names below a module. */
static int hits_below(const struct conversion_filter *filter, const struct graft_node *node, const char *const *names,
                      int32_t n) {
    int hits = 0;
    for (int32_t i = 0; i < n; i++) {
        char name[GRAFT_NAME_BYTES];
        hits |= graft_name_below(node->path, names[i], name) && graft_conversion_filter_hits(filter, name);
    }
    return hits;
}

int graft_lookup_leaves_out(const struct lookup *lookup, const struct graft_node *node,
                            const struct graft_conversion *conversion) {
    return lookup->without != NULL && lookup->without->n > 0 &&
           (hits_below(lookup->without, node, conversion->sources, conversion->n_sources) |
            hits_below(lookup->without, node, conversion->targets, conversion->n_targets)) != 0;
}

/* Gathers the tensors of one spelling, whose `*` is at `star`. */
static int gather_indexed(const struct graft_sources *sources, char *name, char *star, struct gathered *gathered,
                          struct graft_error *error) {
    size_t before = (size_t)(star - name);
    const char *after = star + 1;
    int status = GRAFT_OK;
    *star = '\0';
    for (size_t i = graft_sources_lower_bound(sources, name); i < sources->n && status == GRAFT_OK; i++) {
        const struct graft_tensor_view *view = sources->items[i].view;
        if (strncmp(view->name, name, before) != 0) {
            break;
        }
        const char *digits = view->name + before;
        size_t n = strspn(digits, "0123456789");
        int64_t index = strcmp(digits + n, after) == 0 ? graft_name_index(digits, n) : -1;
        if (index >= 0) {
            status = graft_gathered_add(gathered, index, view, error);
        }
    }
    return status;
}

int graft_lookup_gather(const struct lookup *lookup, const char *name, struct gathered *gathered,
                        struct graft_error *error) {
    int status = GRAFT_OK;
    for (int way = 0; way < N_WAYS && status == GRAFT_OK && gathered->n == 0; way++) {
        const struct graft_conversion *renaming;
        char spelled[GRAFT_NAME_BYTES];
        if (!spell(lookup, name, way, spelled, &renaming)) {
            continue;
        }
        char *star = strchr(spelled, '*');
        const struct graft_source *source = star == NULL ? graft_sources_find(lookup->sources, spelled) : NULL;
        if (star != NULL) {
            status = gather_indexed(lookup->sources, spelled, star, gathered, error);
            if (status == GRAFT_OK && gathered->n > 0 && lookup->plan != NULL) {
                *star = '*';
                status = graft_absent_gather(lookup->plan, spelled, gathered, error);
            }
        } else if (source != NULL) {
            status = graft_gathered_add(gathered, -1, source->view, error);
        }
    }
    return status;
}

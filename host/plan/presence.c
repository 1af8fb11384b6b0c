/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/presence.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "names/name.h"
#include "plan/lookup.h"
#include "plan/source_list.h"

/* A component between two dots, and whether any tensor's name has it. */
struct part {
    char text[32]; /* ".w1." */
    int is_there;
};

enum { MAX_PARTS = 16 };

struct parts {
    size_t n;
    struct part items[MAX_PARTS];
};

struct graft_presence {
    struct graft_plan *plan; /* a plan of which only the sources are made */
    struct lookup lookup;
    struct parts *parts; /* components that were looked up */
};

static int fill(struct graft_presence *presence, struct graft_tree *tree, const struct graft_plan_options *options,
                struct graft_error *error) {
    presence->plan->sources = graft_alloc(1, sizeof *presence->plan->sources);
    if (presence->plan->sources == NULL) {
        return graft_fail_memory(error, "");
    }
    presence->lookup.sources = presence->plan->sources;
    int status = graft_plan_sources_make(presence->plan, tree, options, error);
    return status == GRAFT_OK ? graft_renamings_collect(tree, &presence->lookup.renamings, error) : status;
}

int graft_presence_make(struct graft_tree *tree, const struct graft_checkpoint *checkpoint,
                        const struct graft_plan_options *options, struct graft_presence **presence,
                        struct graft_error *error) {
    struct graft_presence *made = graft_alloc(1, sizeof *made);
    if (made == NULL || (made->plan = graft_alloc(1, sizeof *made->plan)) == NULL ||
        (made->parts = graft_alloc(1, sizeof *made->parts)) == NULL) {
        graft_presence_free(made);
        return graft_fail_memory(error, "");
    }
    made->plan->tree = tree;
    made->plan->checkpoint = checkpoint;
    made->plan->base_model_prefix = options->base_model_prefix;
    made->lookup.prefix = options->base_model_prefix;
    made->lookup.tree = tree;
    made->lookup.adapters = options->adapters;
    int status = fill(made, tree, options, error);
    if (status != GRAFT_OK) {
        graft_presence_free(made);
        return status;
    }
    *presence = made;
    return GRAFT_OK;
}

void graft_presence_free(struct graft_presence *presence) {
    if (presence != NULL) {
        graft_renamings_free(&presence->lookup.renamings);
        graft_plan_free(presence->plan);
        graft_free(presence->parts);
        graft_free(presence);
    }
}

static const struct graft_tensor_view *find(const struct graft_presence *presence, const char *path, const char *name) {
    const struct graft_conversion *renaming;
    char full[GRAFT_NAME_BYTES];
    const struct graft_source *source =
        graft_name_below(path, name, full) ? graft_lookup_find(&presence->lookup, full, &renaming) : NULL;
    return source != NULL ? source->view : NULL;
}

const struct graft_tensor_view *graft_presence_find(const struct graft_presence *presence, const char *path,
                                                    const char *name) {
    static const char any[] = "adapter.*.";
    const struct graft_adapters *adapters = presence->lookup.adapters;
    if (strncmp(name, any, strlen(any)) != 0) {
        return find(presence, path, name);
    }
    const struct graft_tensor_view *found = NULL;
    char all[GRAFT_NAME_BYTES], one[GRAFT_NAME_BYTES];
    if (adapters == NULL || !graft_name_below(path, "adapter", all)) {
        return NULL;
    }
    for (size_t i = 0; i < adapters->n && found == NULL; i++) {
        found = graft_name_below(all, adapters->items[i].name, one) ? find(presence, one, name + strlen(any)) : NULL;
    }
    return found;
}

/* Whether a module called ".w1." has another name in checkpoints. */
static int is_renamed(const struct renamings *renamings, const char *text) {
    const size_t length = strlen(text) - 1;
    for (size_t i = 0; i < renamings->count; i++) {
        const char *module = renamings->items[i].module;
        const size_t end = strlen(module);
        if (end >= length ? strncmp(module + end - length, text, length) == 0
                          : end + 1 == length && strncmp(module, text + 1, end) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether a name may begin with "...w1.", which is impossible if no tensor's name contains ".w1.". Each component is
 * looked up once, as tens of thousands of modules may ask for the same three. */
static int may_have(const struct graft_presence *presence, const char *below) {
    const struct graft_sources *sources = presence->lookup.sources;
    const char *text = below;
    for (const char *dot = below; (dot = strchr(dot, '.')) != NULL && dot[1] != '\0'; dot++) {
        text = dot;
    }
    struct parts *parts = presence->parts;
    for (size_t i = 0; i < parts->n; i++) {
        if (strcmp(parts->items[i].text, text) == 0) {
            return parts->items[i].is_there;
        }
    }
    if (text[0] != '.' || strlen(text) >= sizeof parts->items[0].text || parts->n == MAX_PARTS) {
        return 1;
    }
    struct part *part = &parts->items[parts->n++];
    memcpy(part->text, text, strlen(text) + 1);
    for (size_t i = 0; i < sources->n && !part->is_there; i++) {
        part->is_there = strstr(sources->items[i].view->name, text) != NULL;
    }
    part->is_there = part->is_there || is_renamed(&presence->lookup.renamings, text);
    return part->is_there;
}

int graft_presence_may_have(const struct graft_presence *presence, const char *name) {
    const char *dot = strrchr(name, '.');
    char text[sizeof(((struct part *)NULL)->text)];
    const int length = snprintf(text, sizeof text, ".%s.", dot != NULL ? dot + 1 : name);
    return length >= (int)sizeof text || may_have(presence, text);
}

int graft_presence_has_below(const struct graft_presence *presence, const char *path) {
    const struct graft_sources *sources = presence->lookup.sources;
    int found = 0;
    for (int way = 0; way < GRAFT_LOOKUP_WAYS && !found; way++) {
        char spelled[GRAFT_NAME_BYTES], below[GRAFT_NAME_BYTES];
        if (graft_lookup_spell(&presence->lookup, path, way, spelled) && graft_name_below(spelled, "", below) &&
            may_have(presence, below)) {
            const size_t first = graft_sources_lower_bound(sources, below);
            found = first < sources->n && strncmp(sources->items[first].view->name, below, strlen(below)) == 0;
        }
    }
    return found;
}

int graft_presence_is_changed(const struct graft_presence *presence) {
    return presence->plan->sources->is_changed;
}

int graft_presence_is_absent(const struct graft_presence *presence, const char *path, const char *name) {
    char full[GRAFT_NAME_BYTES];
    if (graft_checkpoint_absent_count(presence->plan->checkpoint) == 0) {
        return 0;
    }
    return graft_name_below(path, name, full) &&
           graft_lookup_is_absent(&presence->lookup, presence->plan->checkpoint, full);
}

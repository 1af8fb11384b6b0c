/* SPDX-License-Identifier: Apache-2.0 */
/* Split: splits at the matches of a pattern. CharDelimiterSplit: splits at a character, and drops it. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/matcher.h"
#include "tokenizer/pretokenizer.h"

struct split {
    struct graft_pretokenizer base;
    struct graft_matcher matcher;
    enum graft_split_behavior behavior;
    int invert; /* the text between the matches is the separator */
};

static int run(const struct graft_pretokenizer *self, const char *text, size_t length, int first,
               struct graft_segments *scratch, struct graft_pieces *out, struct graft_error *error) {
    const struct split *split = (const struct split *)self;
    int status = graft_matcher_find(&split->matcher, text, length, scratch, error);
    if (status != GRAFT_OK) {
        return status;
    }
    for (size_t i = 0; i < scratch->n; i++) {
        scratch->items[i].match ^= split->invert;
    }
    graft_segments_split(scratch, split->behavior, text, first, out);
    return GRAFT_OK;
}

static void destroy(struct graft_pretokenizer *self) {
    graft_matcher_finish(&((struct split *)self)->matcher);
    graft_free(self);
}

int graft_pretokenizer_read_behavior(const struct graft_spec *spec, enum graft_split_behavior *behavior,
                                     struct graft_error *error) {
    static const struct {
        const char *name;
        enum graft_split_behavior behavior;
    } known[] = {
        {"Removed", GRAFT_SPLIT_REMOVED},
        {"Isolated", GRAFT_SPLIT_ISOLATED},
        {"MergedWithPrevious", GRAFT_SPLIT_MERGED_WITH_PREVIOUS},
        {"MergedWithNext", GRAFT_SPLIT_MERGED_WITH_NEXT},
        {"Contiguous", GRAFT_SPLIT_CONTIGUOUS},
    };
    struct graft_spec field = graft_spec_get(spec, "behavior");
    const char *name;
    int status = graft_spec_string(spec, "behavior", &name, NULL, error);
    if (status != GRAFT_OK) {
        return status;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, name) == 0) {
            *behavior = known[i].behavior;
            return GRAFT_OK;
        }
    }
    return graft_spec_error(&field, error, "\"%s\" is not supported", name);
}

static int read_split(struct split *split, const struct graft_spec *spec, struct graft_error *error) {
    static const char *const keys[] = {"type", "pattern", "behavior", "invert", NULL};
    struct graft_spec pattern = graft_spec_get(spec, "pattern");
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_pretokenizer_read_behavior(spec, &split->behavior, error);
    }
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "invert", 0, &split->invert, error);
    }
    return status == GRAFT_OK ? graft_matcher_init(&split->matcher, &pattern, error) : status;
}

static int read_delimiter(struct split *split, const struct graft_spec *spec, struct graft_error *error) {
    static const char *const keys[] = {"type", "delimiter", NULL};
    struct graft_spec delimiter = graft_spec_get(spec, "delimiter");
    const char *text;
    size_t length = 0;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_character(spec, "delimiter", &text, &length, error);
    }
    split->behavior = GRAFT_SPLIT_REMOVED;
    return status == GRAFT_OK ? graft_matcher_init_string(&split->matcher, text, length, &delimiter, error) : status;
}

static int create(const struct graft_spec *spec,
                  int (*read)(struct split *split, const struct graft_spec *spec, struct graft_error *error),
                  struct graft_pretokenizer **made, struct graft_error *error) {
    struct split *split = graft_alloc(1, sizeof *split);
    if (split == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    split->base.run = run;
    split->base.destroy = destroy;
    int status = read(split, spec, error);
    if (status != GRAFT_OK) {
        destroy(&split->base);
        return status;
    }
    *made = &split->base;
    return GRAFT_OK;
}

int graft_pretokenizer_create_split(const struct graft_spec *spec, const char *type, struct graft_pretokenizer **made,
                                    struct graft_error *error) {
    (void)type;
    return create(spec, read_split, made, error);
}

int graft_pretokenizer_create_delimiter(const struct graft_spec *spec, const char *type,
                                        struct graft_pretokenizer **made, struct graft_error *error) {
    (void)type;
    return create(spec, read_delimiter, made, error);
}

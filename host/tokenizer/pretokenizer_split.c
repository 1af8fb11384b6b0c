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

const char *const graft_split_behavior_names[] = {
    [GRAFT_SPLIT_REMOVED] = "Removed",
    [GRAFT_SPLIT_ISOLATED] = "Isolated",
    [GRAFT_SPLIT_MERGED_WITH_PREVIOUS] = "MergedWithPrevious",
    [GRAFT_SPLIT_MERGED_WITH_NEXT] = "MergedWithNext",
    [GRAFT_SPLIT_CONTIGUOUS] = "Contiguous",
    NULL,
};

static int read_split(struct split *split, const struct graft_field *spec, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED},
        {"pattern", .kind = GRAFT_MEMBER_SKIPPED},
        {"behavior", GRAFT_MEMBER_CHOICE, .offset = offsetof(struct split, behavior),
         .names = graft_split_behavior_names},
        {"invert", GRAFT_MEMBER_FLAG, .offset = offsetof(struct split, invert), .is_optional = 1},
        {0},
    };
    const struct graft_field pattern = graft_field_get(spec, "pattern");
    int status = graft_field_read(spec, members, split, error);
    return status == GRAFT_OK ? graft_matcher_init(&split->matcher, &pattern, error) : status;
}

static int read_delimiter(struct split *split, const struct graft_field *spec, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"type", .kind = GRAFT_MEMBER_SKIPPED}, {"delimiter", .kind = GRAFT_MEMBER_CHARACTER}, {0}};
    const struct graft_field delimiter = graft_field_get(spec, "delimiter");
    struct graft_text text = {0};
    int status = graft_field_read(spec, members, &text, error);
    if (status == GRAFT_OK) {
        status = graft_matcher_init_string(&split->matcher, text.bytes, text.length, &delimiter, error);
    }
    graft_text_free(&text);
    split->behavior = GRAFT_SPLIT_REMOVED;
    return status;
}

static int create(const struct graft_field *spec,
                  int (*read)(struct split *split, const struct graft_field *spec, struct graft_error *error),
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

int graft_pretokenizer_create_split(const struct graft_field *spec, const char *type, struct graft_pretokenizer **made,
                                    struct graft_error *error) {
    (void)type;
    return create(spec, read_split, made, error);
}

int graft_pretokenizer_create_delimiter(const struct graft_field *spec, const char *type,
                                        struct graft_pretokenizer **made, struct graft_error *error) {
    (void)type;
    return create(spec, read_delimiter, made, error);
}

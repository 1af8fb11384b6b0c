/* SPDX-License-Identifier: Apache-2.0 */
/* Metaspace, SentencePiece's treatment of spaces: they become "▁", which also starts words and may be put before the
 * text. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/metaspace.h"
#include "tokenizer/pretokenizer.h"

struct metaspace {
    struct graft_pretokenizer base;
    struct graft_metaspace settings;
};

static int starts_with(const char *text, size_t length, const struct graft_text *mark) {
    return length >= mark->length && memcmp(text, mark->bytes, mark->length) == 0;
}

/* Splits a text into segments; every mark is a separator. */
static void find_marks(const struct graft_text *text, const struct graft_text *mark, struct graft_segments *segments) {
    size_t open = 0, at = 0;
    segments->n = 0;
    while (at < text->length) {
        if (!starts_with(text->bytes + at, text->length - at, mark)) {
            at++;
            continue;
        }
        if (open < at) {
            graft_segments_add(segments, open, at, 0);
        }
        graft_segments_add(segments, at, at + mark->length, 1);
        open = at += mark->length;
    }
    if (open < at) {
        graft_segments_add(segments, open, at, 0);
    }
}

static int run(const struct graft_pretokenizer *self, const char *text, size_t length, int first,
               struct graft_segments *scratch, struct graft_pieces *out, struct graft_error *error) {
    const struct graft_metaspace *metaspace = &((const struct metaspace *)self)->settings;
    const struct graft_text *mark = &metaspace->mark;
    struct graft_text marked = {0};
    int wanted = metaspace->scheme == GRAFT_METASPACE_ALWAYS || (metaspace->scheme == GRAFT_METASPACE_FIRST && first);
    if (wanted && text[0] != ' ' && !starts_with(text, length, mark)) {
        graft_text_add(&marked, mark->bytes, mark->length);
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ' ') {
            graft_text_add(&marked, mark->bytes, mark->length);
        } else {
            graft_text_add(&marked, text + i, 1);
        }
    }
    int failed = marked.failed;
    if (!failed && metaspace->split) {
        find_marks(&marked, mark, scratch);
        graft_segments_split(scratch, GRAFT_SPLIT_MERGED_WITH_NEXT, marked.bytes, first, out);
    } else if (!failed) {
        graft_pieces_add(out, marked.bytes, marked.length, first);
    }
    graft_text_free(&marked);
    return failed ? graft_fail_memory(error, "Metaspace") : GRAFT_OK;
}

static void destroy(struct graft_pretokenizer *self) {
    graft_text_free(&((struct metaspace *)self)->settings.mark);
    graft_free(self);
}

int graft_pretokenizer_create_metaspace(const struct graft_field *spec, const char *type,
                                        struct graft_pretokenizer **made, struct graft_error *error) {
    struct metaspace *metaspace = graft_alloc(1, sizeof *metaspace);
    (void)type;
    if (metaspace == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    metaspace->base.run = run;
    metaspace->base.destroy = destroy;
    int status = graft_metaspace_read(&metaspace->settings, spec, error);
    if (status != GRAFT_OK) {
        destroy(&metaspace->base);
        return status;
    }
    *made = &metaspace->base;
    return GRAFT_OK;
}

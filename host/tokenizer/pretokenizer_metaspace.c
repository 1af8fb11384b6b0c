/* SPDX-License-Identifier: Apache-2.0 */
/* Metaspace: SentencePiece's way with spaces. They become "▁", words start with it, and so may the text. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/utf8.h"

enum scheme { NEVER, FIRST, ALWAYS };

struct metaspace {
    struct graft_pretokenizer base;
    struct graft_text mark; /* one character */
    enum scheme prepend;
    int split;
};

static int starts_with(const char *text, size_t length, const struct graft_text *mark) {
    return length >= mark->length && memcmp(text, mark->bytes, mark->length) == 0;
}

/* Segments of a text of which every mark is a separator. */
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
    const struct metaspace *metaspace = (const struct metaspace *)self;
    const struct graft_text *mark = &metaspace->mark;
    struct graft_text marked = {0};
    int wanted = metaspace->prepend == ALWAYS || (metaspace->prepend == FIRST && first);
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
    graft_text_free(&((struct metaspace *)self)->mark);
    graft_free(self);
}

/* `prepend_scheme`, or what older files have in its place. */
static int read_scheme(const struct graft_spec *spec, enum scheme *scheme, struct graft_error *error) {
    struct graft_spec field = graft_spec_get(spec, "prepend_scheme");
    const char *name;
    int adds = 1;
    int status = graft_spec_optional_string(spec, "prepend_scheme", &name, NULL, error);
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "add_prefix_space", 1, &adds, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (name == NULL) {
        *scheme = adds ? ALWAYS : NEVER;
        return GRAFT_OK;
    }
    if (strcmp(name, "always") != 0 && strcmp(name, "first") != 0 && strcmp(name, "never") != 0) {
        return graft_spec_error(&field, error, "\"%s\" is not supported", name);
    }
    *scheme = name[0] == 'a' ? ALWAYS : name[0] == 'f' ? FIRST : NEVER;
    return GRAFT_OK;
}

static int read_settings(struct metaspace *metaspace, const struct graft_spec *spec, struct graft_error *error) {
    static const char *const keys[] = {"type",  "replacement", "prepend_scheme", "add_prefix_space", "str_rep",
                                       "split", NULL};
    struct graft_spec field = graft_spec_get(spec, "replacement");
    const char *mark;
    size_t length = 0;
    int status = graft_spec_expect_object(spec, keys, error);
    if (status == GRAFT_OK) {
        status = graft_spec_string(spec, "replacement", &mark, &length, error);
    }
    if (status == GRAFT_OK && graft_utf8_count(mark, length) != 1) {
        status = graft_spec_error(&field, error, "expected one character");
    }
    if (status == GRAFT_OK) {
        graft_text_add(&metaspace->mark, mark, length);
        status = metaspace->mark.failed ? graft_fail_memory(error, spec->file) : GRAFT_OK;
    }
    if (status == GRAFT_OK) {
        status = graft_spec_bool(spec, "split", 1, &metaspace->split, error);
    }
    return status != GRAFT_OK ? status : read_scheme(spec, &metaspace->prepend, error);
}

int graft_pretokenizer_create_metaspace(const struct graft_spec *spec, const char *type,
                                        struct graft_pretokenizer **made, struct graft_error *error) {
    struct metaspace *metaspace = graft_alloc(1, sizeof *metaspace);
    (void)type;
    if (metaspace == NULL) {
        return graft_fail_memory(error, spec->file);
    }
    metaspace->base.run = run;
    metaspace->base.destroy = destroy;
    int status = read_settings(metaspace, spec, error);
    if (status != GRAFT_OK) {
        destroy(&metaspace->base);
        return status;
    }
    *made = &metaspace->base;
    return GRAFT_OK;
}

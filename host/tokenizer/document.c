/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/document.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"

/* Published files have up to 35 MB; this bounds what is read. */
enum { MAX_FILE_BYTES = 256 << 20 };

/* Steps over a member's value. An array or object is stored in `*value`. */
static int pass_value(struct graft_json_cursor *cursor, struct graft_json_cursor *value) {
    int wanted = graft_json_cursor_sees(cursor, '{') || graft_json_cursor_sees(cursor, '[');
    size_t start = cursor->at;
    if (graft_json_cursor_skip(cursor) != 0) {
        return -1;
    }
    if (wanted && value != NULL && value->length == 0) {
        *value = (struct graft_json_cursor){cursor->text + start, cursor->at - start, 0};
    }
    return 0;
}

/* Finds the members `vocab` and `merges` of an object, also when their names are written with escapes. Returns -1 if
 * the text is malformed; the parser of the rest reports it. */
static int pass_model(struct graft_json_cursor *cursor, struct graft_document *document) {
    int more = graft_json_cursor_take(cursor, '{') ? 1 : -1;
    for (size_t n = 0; more > 0 && (more = graft_json_cursor_more(cursor, '}', n)) > 0; n++) {
        struct graft_json_cursor key = *cursor;
        int is_vocab = graft_json_cursor_is(&key, "vocab"), is_merges = graft_json_cursor_is(cursor, "merges");
        if (is_merges < 0 || !graft_json_cursor_take(cursor, ':') ||
            pass_value(cursor, is_vocab    ? &document->vocab
                               : is_merges ? &document->merges
                                           : NULL) != 0) {
            return -1;
        }
    }
    return more;
}

static void find_large_members(struct graft_document *document, size_t length) {
    struct graft_json_cursor cursor = {document->text, length, 0};
    int more = graft_json_cursor_take(&cursor, '{') ? 1 : -1;
    for (size_t n = 0; more > 0 && (more = graft_json_cursor_more(&cursor, '}', n)) > 0; n++) {
        int is_model = graft_json_cursor_is(&cursor, "model");
        if (is_model < 0 || !graft_json_cursor_take(&cursor, ':')) {
            return;
        }
        more = (is_model && graft_json_cursor_sees(&cursor, '{') ? pass_model(&cursor, document)
                                                                 : pass_value(&cursor, NULL)) == 0
                   ? 1
                   : -1;
    }
}

/* Copies the text up to a large value, and an empty value in its place. Line ends are kept, so that errors about the
 * rest give the right line. `*copied` is how far the file has been copied. */
static void add_without(struct graft_text *rest, const struct graft_document *document,
                        const struct graft_json_cursor *member, size_t *copied) {
    size_t start = (size_t)(member->text - document->text);
    const char *line = member->text, *end = member->text + member->length;
    graft_text_add(rest, document->text + *copied, start + 1 - *copied);
    while ((line = memchr(line, '\n', (size_t)(end - line))) != NULL) {
        graft_text_add(rest, "\n", 1);
        line++;
    }
    *copied = start + member->length - 1;
}

static int parse_rest(struct graft_document *document, size_t length, const char *path, struct graft_error *error) {
    const struct graft_json_cursor *first = &document->vocab, *second = &document->merges;
    struct graft_text rest = {0};
    size_t copied = 0;
    if (second->length > 0 && (first->length == 0 || second->text < first->text)) {
        first = &document->merges;
        second = &document->vocab;
    }
    if (first->length > 0) {
        add_without(&rest, document, first, &copied);
    }
    if (second->length > 0) {
        add_without(&rest, document, second, &copied);
    }
    graft_text_add(&rest, document->text + copied, length - copied);
    int status = rest.failed ? graft_fail_memory(error, path)
                             : graft_json_parse(rest.bytes, rest.length, path, &document->rest, error);
    graft_text_free(&rest);
    return status;
}

int graft_document_read(struct graft_document *document, const char *path, struct graft_error *error) {
    size_t length = 0;
    int status = graft_file_read(path, MAX_FILE_BYTES, GRAFT_ERROR_MODEL, &document->text, &length, error);
    if (status != GRAFT_OK) {
        return status;
    }
    size_t valid = graft_utf8_valid_prefix(document->text, length);
    if (valid < length) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path, "not UTF-8 at byte %zu", valid);
    }
    find_large_members(document, length);
    return parse_rest(document, length, path, error);
}

void graft_document_finish(struct graft_document *document) {
    graft_json_free(document->rest);
    graft_free(document->text);
    *document = (struct graft_document){0};
}

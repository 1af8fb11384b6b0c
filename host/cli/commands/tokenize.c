/* SPDX-License-Identifier: Apache-2.0 */
/* `tokenize`: each line of stdin is a text (or, to decode, ids); with --json a JSON string (or an array of ids). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/open_tokenizer.h"
#include "cli/output.h"
#include "graft/host/tokenizer.h"

struct line {
    const char *text;
    size_t length;
    size_t number; /* number of the line, from 1 */
};

static int bad_line(const struct line *line, const char *expected, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_IO, "standard input", "line %zu: expected %s", line->number, expected);
}

static int print_ids(const struct graft_ids *ids, int json) {
    (void)fputs(json ? "[" : "", stdout);
    for (size_t i = 0; i < ids->n; i++) {
        (void)printf("%s%d", i == 0 ? "" : json ? ", " : ",", (int)ids->ids[i]);
    }
    return puts(json ? "]" : "");
}

static int encode_line(const struct graft_options *options, const struct graft_tokenizer *tokenizer,
                       const struct line *line, struct graft_error *error) {
    struct graft_ids ids = {0};
    graft_json *document = NULL;
    const char *text = line->text;
    size_t length = line->length;
    int status = GRAFT_OK;
    if (options->json) {
        if (graft_json_parse_strict(line->text, line->length, "standard input", &document, NULL) != GRAFT_OK ||
            (text = graft_json_string(document, &length)) == NULL) {
            status = bad_line(line, "a JSON string", error);
        }
    }
    if (status == GRAFT_OK) {
        status = graft_tokenizer_encode(tokenizer, text, length, !options->no_special_tokens, &ids, error);
    }
    if (status == GRAFT_OK) {
        (void)print_ids(&ids, options->json);
    }
    graft_json_free(document);
    graft_ids_free(&ids);
    return status;
}

/* An array of ids, or ids separated by commas and spaces. */
static int parse_ids(const struct graft_options *options, const struct line *line, struct graft_ids *ids,
                     struct graft_error *error) {
    if (options->json) {
        graft_json *document = NULL;
        int good = graft_json_parse_strict(line->text, line->length, "standard input", &document, NULL) == GRAFT_OK &&
                   graft_json_type(document) == GRAFT_JSON_ARRAY;
        for (size_t i = 0; good && i < graft_json_size(document); i++) {
            const graft_json *id = graft_json_at(document, i);
            good = graft_json_type(id) == GRAFT_JSON_INT && graft_json_int(id) >= 0 && graft_json_int(id) <= INT32_MAX;
            graft_ids_add(ids, (int32_t)graft_json_int(id));
        }
        graft_json_free(document);
        return good ? GRAFT_OK : bad_line(line, "a JSON array of ids", error);
    }
    const char *at = line->text + strspn(line->text, " ,");
    while (*at != '\0') {
        char *end = NULL;
        errno = 0;
        long id = strtol(at, &end, 10);
        if (end == at || errno != 0 || id < 0 || id > INT32_MAX) {
            return bad_line(line, "ids like 1,2,3", error);
        }
        graft_ids_add(ids, (int32_t)id);
        at = end + strspn(end, " ,");
    }
    return GRAFT_OK;
}

static int print_text(const struct graft_text *text, int json, struct graft_error *error) {
    const char *bytes = text->bytes != NULL ? text->bytes : "";
    if (!json) {
        (void)fwrite(bytes, 1, text->length, stdout);
        (void)fputc('\n', stdout);
        return GRAFT_OK;
    }
    graft_json *string = graft_json_new_string_n(bytes, text->length);
    int status = string != NULL ? graft_output_json(string, stdout, 0, error) : graft_fail_memory(error, "tokenize");
    graft_json_free(string);
    return status;
}

static int decode_line(const struct graft_options *options, const struct graft_tokenizer *tokenizer,
                       const struct line *line, struct graft_error *error) {
    struct graft_ids ids = {0};
    struct graft_text text = {0};
    int status = parse_ids(options, line, &ids, error);
    if (status == GRAFT_OK && ids.failed) {
        status = graft_fail_memory(error, "tokenize");
    }
    if (status == GRAFT_OK) {
        status = graft_tokenizer_decode(tokenizer, ids.ids, ids.n, 0, &text, error);
    }
    if (status == GRAFT_OK) {
        status = print_text(&text, options->json, error);
    }
    graft_ids_free(&ids);
    graft_text_free(&text);
    return status;
}

int graft_command_tokenize(const struct graft_options *options, struct graft_error *error) {
    struct graft_tokenizer *tokenizer = NULL;
    char *buffer = NULL;
    size_t capacity = 0;
    struct line line = {0};
    int status = graft_open_tokenizer(options, &tokenizer, error);
    while (status == GRAFT_OK) {
        ssize_t length = getline(&buffer, &capacity, stdin);
        if (length < 0) {
            break;
        }
        length -= length > 0 && buffer[length - 1] == '\n';
        buffer[length] = '\0';
        line = (struct line){buffer, (size_t)length, line.number + 1};
        status = options->decode ? decode_line(options, tokenizer, &line, error)
                                 : encode_line(options, tokenizer, &line, error);
    }
    if (status == GRAFT_OK && ferror(stdin)) {
        status = graft_error_set(error, GRAFT_ERROR_IO, "standard input", "%s", strerror(errno));
    }
    free(buffer);
    graft_tokenizer_free(tokenizer);
    return status;
}

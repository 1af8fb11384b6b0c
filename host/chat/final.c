/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves the last message open: adds a mark to the end of its text, and cuts the rendered output at the mark, as
 * transformers does. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "chat/chat.h"

/* The space shows whether the template trims messages. */
static const char mark[] = "CONTINUE_FINAL_MESSAGE_TAG ";

static int fail(struct graft_error *error, const char *what) {
    return graft_error_set(error, GRAFT_ERROR_USAGE, "continue_final_message", "%s", what);
}

/* Appends the mark to the string member `key` of `object`, and remembers the string. */
static int mark_member(graft_json *object, const char *key, struct graft_chat_inputs *inputs,
                       struct graft_error *error) {
    struct graft_text marked = {0};
    size_t length = 0;
    const char *text = graft_json_string(graft_json_get(object, key), &length);
    inputs->final_text.length = 0;
    graft_text_add(&inputs->final_text, text, length);
    graft_text_add(&marked, text, length);
    graft_text_add_string(&marked, mark);
    int failed = marked.failed || inputs->final_text.failed ||
                 graft_json_set_take(object, key, graft_json_new_string_n(marked.bytes, marked.length)) != 0;
    graft_text_free(&marked);
    inputs->is_open = 1;
    return failed ? graft_fail_memory(error, "messages") : GRAFT_OK;
}

/* Marks the last part that has a text. */
static int mark_parts(const graft_json *parts, struct graft_chat_inputs *inputs, struct graft_error *error) {
    for (size_t i = graft_json_size(parts); i > 0; i--) {
        graft_json *part = (graft_json *)graft_json_at(parts, i - 1);
        if (graft_json_type(graft_json_get(part, "text")) == GRAFT_JSON_STRING) {
            return mark_member(part, "text", inputs, error);
        }
    }
    return fail(error, "the last message has no text to go on with");
}

/* Thoughts are stored under several names, and templates may read any of them, so each is marked. */
static int mark_thoughts(graft_json *message, const char *member, const struct graft_named_template *used,
                         struct graft_chat_inputs *inputs, struct graft_error *error) {
    static const char *const names[] = {"reasoning_content", "thinking", "reasoning"};
    size_t length = 0;
    const char *text = graft_json_string(graft_json_get(message, member), &length);
    char *wanted = text != NULL ? graft_strndup(text, length) : NULL;
    int is_read = 0, is_thought = 0;
    int status = wanted != NULL ? GRAFT_OK : graft_fail_memory(error, "messages");
    for (size_t i = 0; i < 3 && status == GRAFT_OK; i++) {
        is_thought |= strcmp(names[i], member) == 0;
    }
    for (size_t i = 0; i < 3 && status == GRAFT_OK && is_thought; i++) {
        const char *same = graft_json_string(graft_json_get(message, names[i]), NULL);
        if (same != NULL && strcmp(same, wanted) == 0) {
            is_read |= graft_jinja_reads(used->parsed, names[i]);
            status = mark_member(message, names[i], inputs, error);
        }
    }
    if (status == GRAFT_OK && !is_thought) {
        is_read = graft_jinja_reads(used->parsed, member);
        status = mark_member(message, member, inputs, error);
    }
    graft_free(wanted);
    return status == GRAFT_OK && !is_read ? fail(error, "the template does not read this member of messages") : status;
}

int graft_chat_open_final(const struct graft_named_template *used, const char *member, struct graft_chat_inputs *inputs,
                          struct graft_error *error) {
    graft_json *last = (graft_json *)graft_json_at(inputs->messages, graft_json_size(inputs->messages) - 1);
    const graft_json *content = graft_json_get(last, member);
    switch (graft_json_type(content)) {
    case GRAFT_JSON_STRING:
        return mark_thoughts(last, member, used, inputs, error);
    case GRAFT_JSON_ARRAY:
        return graft_jinja_reads(used->parsed, member)
                   ? mark_parts(content, inputs, error)
                   : fail(error, "the template does not read this member of messages");
    default:
        return fail(error, "the last message has no such text to go on with");
    }
}

/* Finds the last occurrence of `part` in [bytes, bytes + length); NULL if there is none. */
static const char *find_last(const char *bytes, size_t length, const char *part, size_t n) {
    for (size_t at = length >= n ? length - n + 1 : 0; at > 0; at--) {
        if (memcmp(bytes + at - 1, part, n) == 0) {
            return bytes + at - 1;
        }
    }
    return NULL;
}

static int is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Whether the output contains the text, except for white space at its ends. */
static int occurs(const struct graft_text *text, const struct graft_text *output) {
    size_t begin = 0, end = text->length;
    while (begin < end && is_space(text->bytes[begin])) {
        begin++;
    }
    while (end > begin && is_space(text->bytes[end - 1])) {
        end--;
    }
    return begin == end || find_last(output->bytes, output->length, text->bytes + begin, end - begin) != NULL;
}

int graft_chat_cut_final(const struct graft_chat_inputs *inputs, struct graft_jinja_output *output,
                         struct graft_error *error) {
    const size_t length = sizeof mark - 2; /* without the space */
    struct graft_text *text = &output->text;
    const char *found = find_last(text->bytes, text->length, mark, length);
    if (found == NULL || !occurs(&inputs->final_text, text)) {
        return fail(error, "the last message does not appear in what the template writes");
    }
    size_t end = (size_t)(found - text->bytes);
    /* The template trims messages: the mark's space is gone, and so is white space at the end of the message. */
    if (end + length >= text->length || text->bytes[end + length] != ' ') {
        while (end > 0 && is_space(text->bytes[end - 1])) {
            end--;
        }
    }
    text->length = end;
    text->bytes[end] = '\0';
    output->marks.length = end;
    return GRAFT_OK;
}

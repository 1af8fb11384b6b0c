/* SPDX-License-Identifier: Apache-2.0 */
/* The filter tojson: writes what Python's json.dumps does, with the options of transformers' filter. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "jinja/run.h"

struct layout {
    struct graft_jinja_string item;   /* between elements */
    struct graft_jinja_string key;    /* separates a key from its value */
    struct graft_jinja_string indent; /* of one level */
    int has_indent;
    int ascii;
    int sorted;
};

static int add_value(struct graft_jinja_run *run, struct graft_jinja_builder *out, const struct layout *layout,
                     int level, const struct graft_jinja_value *value);

static int add_escaped(struct graft_jinja_run *run, struct graft_jinja_builder *out, uint32_t code, int marked) {
    static const char escaped[] = "\"\\\n\r\t\f\b";
    static const char letters[] = "\"\\nrtfb";
    char text[16];
    const char *found = code > 0 && code < 0x80 ? strchr(escaped, (int)code) : NULL;
    if (found != NULL) {
        (void)snprintf(text, sizeof text, "\\%c", letters[found - escaped]);
    } else if (code < 0x10000) {
        (void)snprintf(text, sizeof text, "\\u%04x", code);
    } else {
        (void)snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xD800 + ((code - 0x10000) >> 10),
                       0xDC00 + ((code - 0x10000) & 0x3FF));
    }
    return graft_jinja_add_bytes(run, out, text, strlen(text), marked);
}

static int add_string(struct graft_jinja_run *run, struct graft_jinja_builder *out, const struct layout *layout,
                      const struct graft_jinja_string *string) {
    int status = graft_jinja_add_literal(run, out, "\"");
    size_t plain = 0; /* start of the bytes not yet written, which need no escape */
    for (size_t at = 0; at <= string->length && status == GRAFT_OK;) {
        uint32_t code = 0;
        size_t step = at < string->length ? graft_utf8_read(string->bytes + at, &code) : 1;
        const int is_end = at == string->length;
        if (is_end || code < ' ' || code == '"' || code == '\\' || (layout->ascii && code > 0x7E)) {
            const struct graft_jinja_string run_of = graft_jinja_part(string, plain, at);
            status = graft_jinja_add(run, out, &run_of);
            plain = at + step;
            if (status == GRAFT_OK && !is_end) {
                status = add_escaped(run, out, code, string->marks != NULL && string->marks[at]);
            }
        }
        at += step;
    }
    return status == GRAFT_OK ? graft_jinja_add_literal(run, out, "\"") : status;
}

static int add_number(struct graft_jinja_run *run, struct graft_jinja_builder *out,
                      const struct graft_jinja_value *value) {
    char text[40];
    if (value->kind == GRAFT_JINJA_INT) {
        (void)snprintf(text, sizeof text, "%" PRId64, value->as.integer);
    } else if (isfinite(value->as.real)) {
        graft_jinja_spell_float(value->as.real, text);
    } else {
        strcpy(text, isnan(value->as.real) ? "NaN" : value->as.real > 0 ? "Infinity" : "-Infinity");
    }
    return graft_jinja_add_literal(run, out, text);
}

static int add_break(struct graft_jinja_run *run, struct graft_jinja_builder *out, const struct layout *layout,
                     int level) {
    int status = layout->has_indent ? graft_jinja_add_literal(run, out, "\n") : GRAFT_OK;
    for (int i = 0; i < level && layout->has_indent && status == GRAFT_OK; i++) {
        status = graft_jinja_add(run, out, &layout->indent);
    }
    return status;
}

static int add_list(struct graft_jinja_run *run, struct graft_jinja_builder *out, const struct layout *layout,
                    int level, const struct graft_jinja_list *list) {
    int status = graft_jinja_add_literal(run, out, "[");
    for (size_t i = 0; i < list->n && status == GRAFT_OK; i++) {
        status = i > 0 ? graft_jinja_add(run, out, &layout->item) : GRAFT_OK;
        if (status == GRAFT_OK) {
            status = add_break(run, out, layout, level + 1);
        }
        if (status == GRAFT_OK) {
            status = add_value(run, out, layout, level + 1, &list->items[i]);
        }
    }
    if (status == GRAFT_OK && list->n > 0) {
        status = add_break(run, out, layout, level);
    }
    return status == GRAFT_OK ? graft_jinja_add_literal(run, out, "]") : status;
}

/* Writes a key: numbers, booleans and none become strings, and other types are refused. */
static int add_key(struct graft_jinja_run *run, struct graft_jinja_builder *out, const struct layout *layout,
                   const struct graft_jinja_value *key) {
    if (key->kind == GRAFT_JINJA_STRING) {
        return add_string(run, out, layout, &key->as.string);
    }
    if (key->kind != GRAFT_JINJA_NONE && !graft_jinja_is_number(key)) {
        return graft_jinja_fail(run, "keys must be str, int, float, bool or None, not %s", graft_jinja_type_name(key));
    }
    int status = graft_jinja_add_literal(run, out, "\"");
    if (status == GRAFT_OK) {
        status = add_value(run, out, layout, 0, key);
    }
    return status == GRAFT_OK ? graft_jinja_add_literal(run, out, "\"") : status;
}

static int by_key(const void *a, const void *b) {
    const struct graft_jinja_string *x = &(*(const struct graft_jinja_entry *const *)a)->key.as.string;
    const struct graft_jinja_string *y = &(*(const struct graft_jinja_entry *const *)b)->key.as.string;
    size_t shared = x->length < y->length ? x->length : y->length;
    int order = shared > 0 ? memcmp(x->bytes, y->bytes, shared) : 0;
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

/* Puts the entries in the order in which they are written. */
static int order_entries(struct graft_jinja_run *run, const struct layout *layout, const struct graft_jinja_dict *dict,
                         const struct graft_jinja_entry ***entries) {
    *entries = graft_jinja_take_memory(run, dict->n + 1, sizeof **entries);
    if (*entries == NULL) {
        return graft_jinja_failed(run);
    }
    for (size_t i = 0; i < dict->n; i++) {
        (*entries)[i] = &dict->entries[i];
        if (layout->sorted && dict->entries[i].key.kind != GRAFT_JINJA_STRING) {
            return graft_jinja_fail(run, "sort_keys needs keys that are strings");
        }
    }
    if (layout->sorted && dict->n > 0) {
        qsort(*entries, dict->n, sizeof **entries, by_key);
    }
    return GRAFT_OK;
}

static int add_dict(struct graft_jinja_run *run, struct graft_jinja_builder *out, const struct layout *layout,
                    int level, const struct graft_jinja_dict *dict) {
    const struct graft_jinja_entry **entries = NULL;
    int status = order_entries(run, layout, dict, &entries);
    if (status == GRAFT_OK) {
        status = graft_jinja_add_literal(run, out, "{");
    }
    for (size_t i = 0; i < dict->n && status == GRAFT_OK; i++) {
        status = i > 0 ? graft_jinja_add(run, out, &layout->item) : GRAFT_OK;
        if (status == GRAFT_OK) {
            status = add_break(run, out, layout, level + 1);
        }
        if (status == GRAFT_OK) {
            status = add_key(run, out, layout, &entries[i]->key);
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_add(run, out, &layout->key);
        }
        if (status == GRAFT_OK) {
            status = add_value(run, out, layout, level + 1, &entries[i]->value);
        }
    }
    if (status == GRAFT_OK && dict->n > 0) {
        status = add_break(run, out, layout, level);
    }
    return status == GRAFT_OK ? graft_jinja_add_literal(run, out, "}") : status;
}

static int add_kind(struct graft_jinja_run *run, struct graft_jinja_builder *out, const struct layout *layout,
                    int level, const struct graft_jinja_value *value) {
    switch (value->kind) {
    case GRAFT_JINJA_NONE:
        return graft_jinja_add_literal(run, out, "null");
    case GRAFT_JINJA_BOOL:
        return graft_jinja_add_literal(run, out, value->as.truth ? "true" : "false");
    case GRAFT_JINJA_INT:
    case GRAFT_JINJA_FLOAT:
        return add_number(run, out, value);
    case GRAFT_JINJA_STRING:
        return add_string(run, out, layout, &value->as.string);
    case GRAFT_JINJA_DICT:
        return add_dict(run, out, layout, level, value->as.dict);
    case GRAFT_JINJA_LIST:
        if (value->as.list->form <= GRAFT_JINJA_TUPLE) {
            return add_list(run, out, layout, level, value->as.list);
        }
        break;
    default:
        break;
    }
    return graft_jinja_fail(run, "Object of type %s is not JSON serializable", graft_jinja_type_name(value));
}

static int add_value(struct graft_jinja_run *run, struct graft_jinja_builder *out, const struct layout *layout,
                     int level, const struct graft_jinja_value *value) {
    int status = graft_jinja_descend(run);
    if (status == GRAFT_OK) {
        status = add_kind(run, out, layout, level, value);
    }
    run->depth--;
    return status;
}

static int read_indent(struct graft_jinja_run *run, const struct graft_jinja_value *given, struct layout *layout) {
    static const char spaces[] = "                                ";
    int64_t width = 0;
    if (given == NULL || given->kind == GRAFT_JINJA_NONE) {
        return GRAFT_OK;
    }
    layout->has_indent = 1;
    layout->item = graft_jinja_literal(",");
    if (given->kind == GRAFT_JINJA_STRING) {
        layout->indent = given->as.string;
        return GRAFT_OK;
    }
    int status = graft_jinja_want_int(run, given, "tojson's indent", &width);
    if (status == GRAFT_OK && width > (int64_t)sizeof spaces - 1) {
        return graft_jinja_fail(run, "tojson's indent is %" PRId64 ", expected at most %zu", width, sizeof spaces - 1);
    }
    layout->indent = (struct graft_jinja_string){spaces, NULL, width > 0 ? (size_t)width : 0};
    return status;
}

static int read_separators(struct graft_jinja_run *run, const struct graft_jinja_value *given, struct layout *layout) {
    if (given == NULL || given->kind == GRAFT_JINJA_NONE) {
        return GRAFT_OK;
    }
    if (given->kind != GRAFT_JINJA_LIST || given->as.list->n != 2) {
        return graft_jinja_fail(run, "tojson's separators are no pair");
    }
    int status = graft_jinja_want_text(run, &given->as.list->items[0], "tojson's separator", &layout->item);
    return status == GRAFT_OK
               ? graft_jinja_want_text(run, &given->as.list->items[1], "tojson's separator", &layout->key)
               : status;
}

/* Parameters: ensure_ascii indent separators sort_keys. */
int graft_jinja_to_json(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                        struct graft_jinja_value *result) {
    struct layout layout = {.item = graft_jinja_literal(", "), .key = graft_jinja_literal(": ")};
    struct graft_jinja_builder text = {0};
    layout.ascii = call->given[0] != NULL && graft_jinja_truth(call->given[0]);
    layout.sorted = call->given[3] != NULL && graft_jinja_truth(call->given[3]);
    int status = read_indent(run, call->given[1], &layout);
    if (status == GRAFT_OK) {
        status = read_separators(run, call->given[2], &layout);
    }
    if (status == GRAFT_OK) {
        status = add_value(run, &text, &layout, 0, call->self);
    }
    return graft_jinja_finish_text(run, &text, status, result);
}

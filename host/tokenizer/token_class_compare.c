/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/token_class_compare.h"

#include <string.h>

static int is_type(const graft_json *part, const char *type) {
    const char *own = graft_json_string(graft_json_get(part, "type"), NULL);
    return own != NULL && strcmp(own, type) == 0;
}

/* Whether a field affects only offsets, or has no effect in that component. */
static int is_idle(const graft_json *part, const char *member, const char *key) {
    int decodes = strcmp(member, "decoder") == 0;
    return strcmp(key, "trim_offsets") == 0 || strcmp(key, "str_rep") == 0 ||
           (decodes && is_type(part, "ByteLevel") && strcmp(key, "type") != 0) ||
           (decodes && is_type(part, "Metaspace") && strcmp(key, "split") == 0) ||
           (is_type(part, "Metaspace") && strcmp(key, "add_prefix_space") == 0);
}

/* Adds the defaults of fields that the file omits. */
static int add_defaults(graft_json *made, const graft_json *part, const char *member) {
    static const struct {
        const char *type, *field;
        int truth;
    } defaults[] = {{"ByteLevel", "add_prefix_space", 1},
                    {"ByteLevel", "use_regex", 1},
                    {"Split", "invert", 0},
                    {"Digits", "individual_digits", 0},
                    {"Metaspace", "split", 1}};
    int failed = 0;
    for (size_t i = 0; !failed && i < sizeof defaults / sizeof defaults[0]; i++) {
        if (is_type(part, defaults[i].type) && graft_json_get(part, defaults[i].field) == NULL &&
            !is_idle(part, member, defaults[i].field)) {
            failed = graft_json_set_take(made, defaults[i].field, graft_json_new_bool(defaults[i].truth)) != 0;
        }
    }
    if (!failed && is_type(part, "Metaspace") && graft_json_get(part, "prepend_scheme") == NULL) {
        const graft_json *prefix = graft_json_get(part, "add_prefix_space");
        int never = prefix != NULL && !graft_json_bool(prefix);
        failed = graft_json_set_take(made, "prepend_scheme", graft_json_new_string(never ? "never" : "always")) != 0;
    }
    return failed ? -1 : 0;
}

/* A copy of one component with all fields that matter, and no others. */
static graft_json *whole_part(const graft_json *part, const char *member) {
    graft_json *made = graft_json_new_object();
    const graft_json *value;
    const char *key;
    int failed = made == NULL;
    for (size_t i = 0; !failed && (value = graft_json_member(part, i, &key)) != NULL; i++) {
        if (!is_idle(part, member, key) && graft_json_type(value) != GRAFT_JSON_NULL) {
            failed = graft_json_set_take(made, key, graft_recipe_copy(value)) != 0;
        }
    }
    if (failed || add_defaults(made, part, member) != 0) {
        graft_json_free(made);
        return NULL;
    }
    return made;
}

/* Appends the components of a field to a list; sequences are flattened. */
static int list_parts(const graft_json *part, const char *member, int depth, graft_json *list) {
    static const char *const inner[] = {"normalizers", "pretokenizers", "decoders"};
    if (graft_json_type(part) != GRAFT_JSON_OBJECT || depth > 8) {
        return 0;
    }
    if (!is_type(part, "Sequence")) {
        return graft_json_append_take(list, whole_part(part, member));
    }
    int status = 0;
    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++) {
        const graft_json *parts = graft_json_get(part, inner[i]);
        for (size_t n = 0; status == 0 && n < graft_json_size(parts); n++) {
            status = list_parts(graft_json_at(parts, n), member, depth + 1, list);
        }
    }
    return status;
}

/* Whether two values of a field are equivalent; -1: memory ran out. */
static int is_same_field(const graft_json *a, const graft_json *b, const char *member) {
    graft_json *first = graft_json_new_array(), *second = graft_json_new_array();
    int same =
        first != NULL && second != NULL && list_parts(a, member, 0, first) == 0 && list_parts(b, member, 0, second) == 0
            ? graft_json_equal(first, second)
            : -1;
    graft_json_free(first);
    graft_json_free(second);
    return same;
}

/* The `precompiled_charsmap` of the file's normalizer, which the classes keep. */
static const graft_json *find_charsmap(const graft_json *normalizer) {
    const graft_json *parts = graft_json_get(normalizer, "normalizers");
    const graft_json *found =
        is_type(normalizer, "Precompiled") ? graft_json_get(normalizer, "precompiled_charsmap") : NULL;
    for (size_t i = 0; found == NULL && i < graft_json_size(parts); i++) {
        const graft_json *part = graft_json_at(parts, i);
        found = is_type(part, "Precompiled") ? graft_json_get(part, "precompiled_charsmap") : NULL;
    }
    return found;
}

static void add_name(struct graft_text *parts, const char *name) {
    graft_text_printf(parts, "%s%s", parts->length > 0 ? ", " : "", name);
}

/* Compares the model's settings that change ids. */
static void compare_model(const graft_json *own, const graft_json *by_class, struct graft_text *parts) {
    static const char *const switches[] = {"byte_fallback", "ignore_merges"};
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        const graft_json *value = graft_json_get(by_class, switches[i]);
        if (value != NULL && graft_json_bool(value) != graft_json_bool(graft_json_get(own, switches[i]))) {
            graft_text_printf(parts, "%smodel.%s", parts->length > 0 ? ", " : "", switches[i]);
        }
    }
}

static int compare(const struct graft_token_class *token_class, const struct graft_recipe_values *values,
                   const graft_json *document, struct graft_text *parts) {
    static const char *const members[] = {"normalizer", "pre_tokenizer", "decoder"};
    int failed = 0;
    for (size_t i = 0; !failed && i < sizeof members / sizeof members[0]; i++) {
        graft_json *by_class = graft_recipe_fill(values, graft_json_get(token_class->entry, members[i]));
        int same = by_class != NULL ? is_same_field(by_class, graft_json_get(document, members[i]), members[i]) : -1;
        failed = same < 0;
        if (same == 0) {
            add_name(parts, members[i]);
        }
        graft_json_free(by_class);
    }
    compare_model(graft_json_get(document, "model"), graft_json_get(token_class->entry, "model"), parts);
    return failed || parts->failed ? -1 : 0;
}

/* Whether the class is Llama's and the file has byte-level components: transformers then uses the file unchanged. */
static int is_byte_level_llama(const struct graft_token_class *token_class, const struct graft_document *document) {
    return strncmp(token_class->name, "LlamaTokenizer", 14) == 0 && strstr(document->text, "\"ByteLevel\"") != NULL;
}

int graft_token_class_compare(const struct graft_token_class *token_class, const graft_json *config,
                              const struct graft_document *document, struct graft_text *parts) {
    if (token_class->entry == NULL || graft_token_class_is_plain(token_class) ||
        is_byte_level_llama(token_class, document)) {
        return 0;
    }
    graft_json *own = graft_json_new_object();
    const graft_json *charsmap = find_charsmap(graft_json_get(document->rest, "normalizer"));
    const struct graft_recipe_values values = {own, config};
    int failed = own == NULL ||
                 (charsmap != NULL && graft_json_set_take(own, "charsmap", graft_recipe_copy(charsmap)) != 0) ||
                 compare(token_class, &values, document->rest, parts) != 0;
    graft_json_free(own);
    return failed ? -1 : 0;
}

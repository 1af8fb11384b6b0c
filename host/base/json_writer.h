/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a JSON document. Failed allocations are remembered, so that one check at the end is enough. */
#ifndef GRAFT_BASE_JSON_WRITER_H
#define GRAFT_BASE_JSON_WRITER_H

#include "base/json.h"

struct graft_writer {
    int failed;
};

static inline void graft_writer_set(struct graft_writer *writer, graft_json *object, const char *key,
                                    graft_json *value_take) {
    writer->failed |= graft_json_set_take(object, key, value_take) != 0;
}

static inline void graft_writer_set_string(struct graft_writer *writer, graft_json *object, const char *key,
                                           const char *text) {
    graft_writer_set(writer, object, key, graft_json_new_string(text));
}

static inline void graft_writer_set_int(struct graft_writer *writer, graft_json *object, const char *key,
                                        int64_t number) {
    graft_writer_set(writer, object, key, graft_json_new_int(number));
}

static inline void graft_writer_set_real(struct graft_writer *writer, graft_json *object, const char *key,
                                         double number) {
    graft_writer_set(writer, object, key, graft_json_new_real(number));
}

static inline void graft_writer_set_bool(struct graft_writer *writer, graft_json *object, const char *key, int truth) {
    graft_writer_set(writer, object, key, graft_json_new_bool(truth));
}

static inline void graft_writer_append(struct graft_writer *writer, graft_json *array, graft_json *value_take) {
    writer->failed |= graft_json_append_take(array, value_take) != 0;
}

static inline graft_json *graft_writer_ints(struct graft_writer *writer, const int64_t *numbers, int32_t n) {
    graft_json *array = graft_json_new_array();
    for (int32_t i = 0; i < n; i++) {
        graft_writer_append(writer, array, graft_json_new_int(numbers[i]));
    }
    return array;
}

static inline graft_json *graft_writer_strings(struct graft_writer *writer, const char *const *strings, int32_t n) {
    graft_json *array = graft_json_new_array();
    for (int32_t i = 0; i < n; i++) {
        graft_writer_append(writer, array, graft_json_new_string(strings[i]));
    }
    return array;
}

/* An array of strings, from a NULL-terminated list; NULL is an empty list. */
static inline graft_json *graft_writer_list(struct graft_writer *writer, const char *const *strings) {
    int32_t n = 0;
    while (strings != NULL && strings[n] != NULL) {
        n++;
    }
    return graft_writer_strings(writer, strings, n);
}

/* The document if no allocation failed; else frees it and returns NULL. */
static inline graft_json *graft_writer_finish(const struct graft_writer *writer, graft_json *document_take) {
    if (writer->failed) {
        graft_json_free(document_take);
        return NULL;
    }
    return document_take;
}

#endif

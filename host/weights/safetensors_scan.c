/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/safetensors_scan.h"

#include <string.h>

#include "weights/tensor_view.h"

enum { MAX_DTYPE_BYTES = 15 };

/* larger numbers are left to the JSON parser */
static const int64_t LARGEST = 1000000000000000000;

/* Reads a number of plain digits. */
static int take_number(struct graft_json_cursor *cursor, int64_t *number) {
    return !graft_json_cursor_sees(cursor, '-') && graft_json_cursor_integer(cursor, number) == 0 && *number < LARGEST;
}

/* Reads an array of at most `room` numbers. */
static int take_numbers(struct graft_json_cursor *cursor, int64_t *numbers, int32_t room, int32_t *count) {
    int more = graft_json_cursor_take(cursor, '[') ? 1 : -1;
    *count = 0;
    while (more > 0 && (more = graft_json_cursor_more(cursor, ']', (size_t)*count)) > 0) {
        if (*count == room || !take_number(cursor, &numbers[*count])) {
            return 0;
        }
        ++*count;
    }
    return more == 0;
}

static int take_dtype(struct graft_json_cursor *cursor, graft_dtype *dtype) {
    char name[MAX_DTYPE_BYTES + 1];
    const char *string;
    size_t length;
    if (graft_json_cursor_plain(cursor, &string, &length) != 0 || length > MAX_DTYPE_BYTES) {
        return 0;
    }
    memcpy(name, string, length);
    name[length] = '\0';
    *dtype = graft_dtype_from_name(name);
    return *dtype != GRAFT_DTYPE_NONE && strlen(name) == length;
}

static int take_offsets(struct graft_json_cursor *cursor, struct graft_safetensors_member *member) {
    int64_t offsets[2];
    int32_t count;
    if (!take_numbers(cursor, offsets, 2, &count) || count != 2) {
        return 0;
    }
    member->begin = offsets[0];
    member->end = offsets[1];
    return 1;
}

static int is_key(const char *string, size_t length, const char *key) {
    return length == strlen(key) && memcmp(string, key, length) == 0;
}

/* Reads one of the three members of a tensor's entry. */
static int take_field(struct graft_json_cursor *cursor, struct graft_safetensors_member *member, int *seen) {
    enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4 };
    const char *key;
    size_t length;
    int which = 0, taken = 0;
    if (graft_json_cursor_plain(cursor, &key, &length) != 0 || !graft_json_cursor_take(cursor, ':')) {
        return 0;
    }
    if (is_key(key, length, "dtype")) {
        which = DTYPE;
        taken = take_dtype(cursor, &member->dtype);
    } else if (is_key(key, length, "shape")) {
        which = SHAPE;
        taken = take_numbers(cursor, member->shape, GRAFT_MAX_RANK, &member->rank);
    } else if (is_key(key, length, "data_offsets")) {
        which = OFFSETS;
        taken = take_offsets(cursor, member);
    }
    taken &= (*seen & which) == 0;
    *seen |= which;
    return taken;
}

/* Reads an object of exactly those three members, in any order. */
static int take_tensor(struct graft_json_cursor *cursor, struct graft_safetensors_member *member) {
    int seen = 0, more = graft_json_cursor_take(cursor, '{') ? 1 : -1;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        member->shape[i] = 1;
    }
    for (size_t n = 0; more > 0 && (more = graft_json_cursor_more(cursor, '}', n)) > 0; n++) {
        if (!take_field(cursor, member, &seen)) {
            return 0;
        }
    }
    return more == 0 && seen == 7;
}

/* Finds the end of an object, whose content is left to the JSON parser. */
static int take_metadata(struct graft_json_cursor *cursor, struct graft_safetensors_member *member) {
    if (!graft_json_cursor_sees(cursor, '{')) {
        return 0;
    }
    member->metadata = cursor->text + cursor->at;
    size_t start = cursor->at;
    int skipped = graft_json_cursor_skip(cursor) == 0;
    member->metadata_length = cursor->at - start;
    return skipped;
}

struct graft_safetensors_scan graft_safetensors_scan_begin(const char *text, size_t length) {
    struct graft_safetensors_scan scan = {.cursor = {text, length, 0}};
    scan.usual = graft_json_cursor_take(&scan.cursor, '{');
    return scan;
}

enum graft_safetensors_scanned graft_safetensors_scan_next(struct graft_safetensors_scan *scan,
                                                           struct graft_safetensors_member *member) {
    struct graft_json_cursor *cursor = &scan->cursor;
    int more = scan->usual ? graft_json_cursor_more(cursor, '}', scan->members++) : -1;
    if (more == 0) {
        (void)graft_json_cursor_sees(cursor, '}'); /* the object must end here; only white space may follow */
        return cursor->at == cursor->length ? GRAFT_SCANNED_END : GRAFT_SCANNED_UNUSUAL;
    }
    if (more < 0 || graft_json_cursor_plain(cursor, &member->name, &member->name_length) != 0 ||
        !graft_json_cursor_take(cursor, ':')) {
        return GRAFT_SCANNED_UNUSUAL;
    }
    if (is_key(member->name, member->name_length, "__metadata__")) {
        return take_metadata(cursor, member) ? GRAFT_SCANNED_METADATA : GRAFT_SCANNED_UNUSUAL;
    }
    return take_tensor(cursor, member) ? GRAFT_SCANNED_TENSOR : GRAFT_SCANNED_UNUSUAL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/safetensors_scan.h"

#include <string.h>

#include "weights/tensor_view.h"

/* So few digits that no int64 overflows. */
enum { MAX_DIGITS = 18, MAX_DTYPE_BYTES = 15 };

static void skip_space(struct graft_safetensors_scan *scan) {
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\r' || *scan->at == '\t')) {
        scan->at++;
    }
}

/* Steps over white space and then `c`, if that is what follows. */
static int take(struct graft_safetensors_scan *scan, char c) {
    skip_space(scan);
    if (scan->at == scan->end || *scan->at != c) {
        return 0;
    }
    scan->at++;
    return 1;
}

/* A string without escapes. */
static int take_string(struct graft_safetensors_scan *scan, const char **string, size_t *length) {
    if (!take(scan, '"')) {
        return 0;
    }
    *string = scan->at;
    while (scan->at < scan->end && *scan->at != '"') {
        if (*scan->at == '\\' || (unsigned char)*scan->at < 0x20) {
            return 0;
        }
        scan->at++;
    }
    *length = (size_t)(scan->at - *string);
    return take(scan, '"');
}

/* A number of plain digits. What may follow one is the caller's to take, so that 1.5 and 1e5 end there. */
static int take_number(struct graft_safetensors_scan *scan, int64_t *number) {
    skip_space(scan);
    const char *first = scan->at;
    *number = 0;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') {
        if (scan->at - first == MAX_DIGITS) {
            return 0; /* one more could overflow */
        }
        *number = 10 * *number + (*scan->at - '0');
        scan->at++;
    }
    int64_t digits = scan->at - first;
    return digits > 0 && (digits == 1 || *first != '0');
}

/* An array of at most `room` numbers. */
static int take_numbers(struct graft_safetensors_scan *scan, int64_t *numbers, int32_t room, int32_t *count) {
    *count = 0;
    if (!take(scan, '[')) {
        return 0;
    }
    if (take(scan, ']')) {
        return 1;
    }
    do {
        if (*count == room || !take_number(scan, &numbers[*count])) {
            return 0;
        }
        ++*count;
    } while (take(scan, ','));
    return take(scan, ']');
}

static int take_dtype(struct graft_safetensors_scan *scan, graft_dtype *dtype) {
    char name[MAX_DTYPE_BYTES + 1];
    const char *string;
    size_t length;
    if (!take_string(scan, &string, &length) || length > MAX_DTYPE_BYTES) {
        return 0;
    }
    memcpy(name, string, length);
    name[length] = '\0';
    *dtype = graft_dtype_from_name(name);
    return *dtype != GRAFT_DTYPE_NONE && strlen(name) == length;
}

static int take_offsets(struct graft_safetensors_scan *scan, struct graft_safetensors_member *member) {
    int64_t offsets[2];
    int32_t count;
    if (!take_numbers(scan, offsets, 2, &count) || count != 2) {
        return 0;
    }
    member->begin = offsets[0];
    member->end = offsets[1];
    return 1;
}

static int is_key(const char *string, size_t length, const char *key) {
    return length == strlen(key) && memcmp(string, key, length) == 0;
}

/* An object of exactly the three members that a tensor has, in any order. */
static int take_tensor(struct graft_safetensors_scan *scan, struct graft_safetensors_member *member) {
    enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4 };
    int seen = 0;
    if (!take(scan, '{')) {
        return 0;
    }
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        member->shape[i] = 1;
    }
    do {
        const char *key;
        size_t length;
        int which = 0, taken = 0;
        if (!take_string(scan, &key, &length) || !take(scan, ':')) {
            return 0;
        }
        if (is_key(key, length, "dtype")) {
            which = DTYPE;
            taken = take_dtype(scan, &member->dtype);
        } else if (is_key(key, length, "shape")) {
            which = SHAPE;
            taken = take_numbers(scan, member->shape, GRAFT_MAX_RANK, &member->rank);
        } else if (is_key(key, length, "data_offsets")) {
            which = OFFSETS;
            taken = take_offsets(scan, member);
        }
        if (!taken || (seen & which) != 0) {
            return 0;
        }
        seen |= which;
    } while (take(scan, ','));
    return seen == (DTYPE | SHAPE | OFFSETS) && take(scan, '}');
}

/* The extent of an object that has none inside; whether it is one at all is for the parser to say. */
static int take_metadata(struct graft_safetensors_scan *scan, struct graft_safetensors_member *member) {
    skip_space(scan);
    member->metadata = scan->at;
    if (!take(scan, '{')) {
        return 0;
    }
    int in_string = 0;
    for (; scan->at < scan->end; scan->at++) {
        if (*scan->at == '\\' || (!in_string && *scan->at == '{')) {
            return 0;
        }
        in_string ^= *scan->at == '"';
        if (!in_string && *scan->at == '}') {
            scan->at++;
            member->metadata_length = (size_t)(scan->at - member->metadata);
            return 1;
        }
    }
    return 0;
}

struct graft_safetensors_scan graft_safetensors_scan_begin(const char *text, size_t length) {
    return (struct graft_safetensors_scan){text, text + length, 0};
}

enum graft_safetensors_scanned graft_safetensors_scan_next(struct graft_safetensors_scan *scan,
                                                           struct graft_safetensors_member *member) {
    if (scan->members == 0 && !take(scan, '{')) {
        return GRAFT_SCANNED_UNUSUAL;
    }
    if (take(scan, '}')) {
        skip_space(scan);
        return scan->at == scan->end ? GRAFT_SCANNED_END : GRAFT_SCANNED_UNUSUAL;
    }
    if ((scan->members++ > 0 && !take(scan, ',')) || !take_string(scan, &member->name, &member->name_length) ||
        !take(scan, ':')) {
        return GRAFT_SCANNED_UNUSUAL;
    }
    if (is_key(member->name, member->name_length, "__metadata__")) {
        return take_metadata(scan, member) ? GRAFT_SCANNED_METADATA : GRAFT_SCANNED_UNUSUAL;
    }
    return take_tensor(scan, member) ? GRAFT_SCANNED_TENSOR : GRAFT_SCANNED_UNUSUAL;
}

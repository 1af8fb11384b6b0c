/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads headers in the form that writers produce without building a JSON document, since a file may have tens of
 * thousands of tensors. Anything unusual (an escape, an unknown member, a number or type in another form, any mistake)
 * is left to the JSON parser, so that nothing is decided twice. All functions are [load].
 */
#ifndef GRAFT_WEIGHTS_SAFETENSORS_SCAN_H
#define GRAFT_WEIGHTS_SAFETENSORS_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/json_cursor.h"
#include "graft/dtype.h"
#include "graft/tensor.h"

struct graft_safetensors_scan {
    struct graft_json_cursor cursor;
    int usual;      /* 0 once something unusual was found */
    size_t members; /* members read so far */
};

enum graft_safetensors_scanned {
    GRAFT_SCANNED_TENSOR,
    GRAFT_SCANNED_METADATA,
    GRAFT_SCANNED_END,    /* the header is complete */
    GRAFT_SCANNED_UNUSUAL /* the JSON parser has to read the header from the start */
};

/* One member of the header. Texts point into the header and have no NUL. */
struct graft_safetensors_member {
    const char *name;
    size_t name_length;
    const char *metadata; /* the object, as JSON */
    size_t metadata_length;
    graft_dtype dtype;
    int32_t rank;
    int64_t shape[GRAFT_MAX_RANK]; /* entries from `rank` on are 1 */
    int64_t begin;                 /* data_offsets */
    int64_t end;
};

/* Starts a scan of a text, which is valid UTF-8. */
struct graft_safetensors_scan graft_safetensors_scan_begin(const char *text, size_t length);

/* Reads the next member. */
enum graft_safetensors_scanned graft_safetensors_scan_next(struct graft_safetensors_scan *scan,
                                                           struct graft_safetensors_member *member);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* graft.json/1: JSON text that is not config.json, as a checkpoint may have it in a tensor, read with the helpers of
 * config.h. */
#ifndef GRAFT_JSON_H
#define GRAFT_JSON_H

#include "abi.h"
#include "config.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_JSON_ID "graft.json/1"

struct graft_json_service {
    uint32_t struct_size;
    uint32_t reserved;
    /* [any] The object that `length` bytes of text are. `source` stands for the file in errors (GRAFT_ERROR_MODEL); it
     * is copied, and the text not kept. The caller's, for `free`; NULL with an error recorded. */
    const struct graft_config *(*read)(const char *text, int64_t length, const char *source, struct graft_error *error);
    /* [any] NULL is nothing. */
    void (*free)(const struct graft_config *config);
};

GRAFT_ASSERT_SIZE(struct graft_json_service, 24);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* graft.json/1: reads JSON text other than config.json, such as a checkpoint may have in a tensor, with the helpers of
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
    /* [any] Parses `length` bytes of text, an object. `source` names the file in errors (GRAFT_ERROR_MODEL); it is
     * copied, and the text is not kept. The caller frees the result with `free`; NULL with an error recorded on
     * failure. */
    const struct graft_config *(*read)(const char *text, int64_t length, const char *source, struct graft_error *error);
    /* [any] Accepts NULL. */
    void (*free)(const struct graft_config *config);
};

GRAFT_ASSERT_SIZE(struct graft_json_service, 24);

#ifdef __cplusplus
}
#endif

#endif

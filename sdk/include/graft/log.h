/* SPDX-License-Identifier: Apache-2.0 */
/* graft.log/1: logs lines for the user. They go to stderr, preceded by the sender's name. */
#ifndef GRAFT_LOG_H
#define GRAFT_LOG_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_LOG_ID "graft.log/1"

struct graft_log {
    uint32_t struct_size;
    uint32_t reserved;
    /* [any] Logs a line, which has no line end; `sender` is the plugin's id. Control characters are replaced; text
     * beyond 2047 bytes (of the sender 127) is cut off. Both strings are borrowed during the call. */
    void (*line)(const char *sender, const char *text);
};

GRAFT_ASSERT_SIZE(struct graft_log, 16);

#ifdef __cplusplus
}
#endif

#endif

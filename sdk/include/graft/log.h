/* SPDX-License-Identifier: Apache-2.0 */
/* graft.log/1: lines for the person who runs the program. They go to stderr, with the sender's name before them. */
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
    /* [any] One line without its line end; `sender` is the plugin's id. Control characters are replaced, and what is
     * longer than 2047 bytes (the sender: 127) is cut. Both strings are the caller's and not kept. */
    void (*line)(const char *sender, const char *text);
};

GRAFT_ASSERT_SIZE(struct graft_log, 16);

#ifdef __cplusplus
}
#endif

#endif

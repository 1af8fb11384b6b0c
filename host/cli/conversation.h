/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and builds conversations: arrays of messages in JSON, as chat templates take them. */
#ifndef GRAFT_CLI_CONVERSATION_H
#define GRAFT_CLI_CONVERSATION_H

#include "base/json.h"
#include "cli/options.h"
#include "graft/image.h"

/* Whether the command line has messages. */
int graft_conversation_is_given(const struct graft_options *options);

/* Reads the messages of --system, --messages and --message, in this order, into an array. The caller frees it, even on
 * failure, when it may be NULL. */
int graft_conversation_read(const struct graft_options *options, graft_json **messages, struct graft_error *error);

/* Reads an array of messages from a file of limited size. */
int graft_conversation_read_file(const char *path, graft_json **messages, struct graft_error *error);

/* Appends {"role": ROLE, "content": TEXT}. Returns 0, or -1 out of memory. */
int graft_conversation_add(graft_json *messages, const char *role, const char *text, size_t length);

/* Whether some message has a part of this type, "image" or "video". */
int graft_conversation_has_part(const graft_json *messages, const char *type);

/* Inserts parts for images and videos before the text of the user's last message. */
int graft_conversation_add_images(graft_json *messages, const struct graft_image *images, size_t n,
                                  struct graft_error *error);

/* Read --tools and --template-variable as JSON texts; NULL if they are not given. The caller frees them, even on
 * failure. */
int graft_conversation_read_tools(const struct graft_options *options, char **tools, struct graft_error *error);
int graft_conversation_read_variables(const struct graft_options *options, char **variables, struct graft_error *error);

#endif

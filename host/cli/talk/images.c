/* SPDX-License-Identifier: Apache-2.0 */
/* Images of a conversation. Messages contain the paths of their files, so that a saved conversation can be loaded with
 * its images. */
#include <string.h>

#include "base/alloc.h"
#include "cli/talk/talk.h"

int graft_talk_add_image(struct graft_talk *talk, const char *file, struct graft_error *error) {
    graft_json *part = graft_json_new_object();
    int failed = graft_json_set_take(part, "type", graft_json_new_string("image")) != 0 ||
                 graft_json_set_take(part, "path", graft_json_new_string(file)) != 0;
    int status =
        failed ? graft_fail_memory(error, file) : graft_message_images_add(talk->model, part, 0, &talk->images, error);
    if (status != GRAFT_OK) {
        graft_json_free(part);
        return status;
    }
    if (talk->next_parts == NULL) {
        talk->next_parts = graft_json_new_array();
    }
    return graft_json_append_take(talk->next_parts, part) == 0 ? GRAFT_OK : graft_fail_memory(error, file);
}

void graft_talk_drop_images(struct graft_talk *talk) {
    graft_message_images_free(&talk->images);
    graft_json_free(talk->next_parts);
    talk->next_parts = NULL;
}

int graft_talk_take_messages(struct graft_talk *talk, graft_json *messages_take, struct graft_error *error) {
    graft_talk_drop_images(talk);
    graft_json_free(talk->messages);
    talk->messages = messages_take;
    return graft_message_images_read(talk->model, talk->messages, &talk->images, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the prompts of the command line as token ids. */
#ifndef GRAFT_CLI_PROMPTS_H
#define GRAFT_CLI_PROMPTS_H

#include "cli/options.h"
#include "graft/host/graft.h"
#include "graft/host/tokenizer.h"

struct graft_prompts {
    struct graft_ids *ids;        /* [count] */
    struct graft_prompt *prompts; /* [count], pointing into `ids` */
    size_t count;
    struct graft_image *images; /* [n_images]: images and videos of all prompts, one after another */
    size_t n_images;
};

/* Reads --prompt, then --prompt-file, then --input-ids, each in the order given. `tokenizer` may be NULL if there are
 * only ids. */
int graft_prompts_read(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_tokenizer *tokenizer, struct graft_prompts *prompts,
                       struct graft_error *error);

/* Sends the prompts of rank 0 to the other processes, whose `prompts` is {0}. */
int graft_prompts_share(const struct graft_options *options, struct graft_prompts *prompts, struct graft_error *error);
void graft_prompts_finish(struct graft_prompts *prompts);

/* Adds the numbers of "1,2,3", the value of `option`, to `ids`. */
int graft_prompts_read_ids(const char *text, const char *option, struct graft_ids *ids, struct graft_error *error);

#endif

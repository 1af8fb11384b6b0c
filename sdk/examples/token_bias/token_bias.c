/* SPDX-License-Identifier: Apache-2.0 */
/* A logits processor that makes given tokens more or less likely. `--plugin-option token_bias.list=5:1.5,17:-4`
 * adds 1.5 to the score of token 5 and subtracts 4 from that of token 17. It needs no state for each sequence. */
#include <stdlib.h>

#include "graft/args.h"
#include "graft/logits_processor.h"
#include "graft/option.h"
#include "graft/plugin.h"

enum { MOST = 64 };

static struct {
    long id;
    float bias;
} biases[MOST];
static int n_biases;

static int process(void *state, const struct graft_logits_args *args, struct graft_error *error) {
    (void)state;
    for (int i = 0; i < n_biases; i++) {
        if (biases[i].id >= args->vocab_size) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "token_bias",
                                   "option list: token %ld is outside the vocabulary of %lld", biases[i].id,
                                   (long long)args->vocab_size);
        }
        args->scores[biases[i].id] += biases[i].bias;
    }
    return GRAFT_OK;
}

static const struct graft_logits_processor processor = {.struct_size = sizeof processor,
                                                        .interface_id = GRAFT_INTERFACE_LOGITS_PROCESSOR,
                                                        .name = "token_bias",
                                                        .description = "Adds a number to the scores of tokens",
                                                        .process = process};
static const struct graft_option options[] = {{.struct_size = sizeof options[0],
                                               .kind = GRAFT_OPTION_STRING,
                                               .name = "list",
                                               .help = "token ids with what is added to their scores: 5:1.5,17:-4",
                                               .default_value = ""}};
static int init(struct graft_error *error);
static const struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                           .id = "token_bias",
                                           .version = "1.0.0",
                                           .license = "Apache-2.0",
                                           .description = "Makes tokens more or less likely",
                                           .init = init,
                                           .options = options,
                                           .n_options = 1,
                                           .option_stride = sizeof options[0],
                                           .logits_processors = &processor,
                                           .n_logits_processors = 1,
                                           .logits_processor_stride = sizeof processor};
static const struct graft_host *host;

/* Parses "ID:BIAS,ID:BIAS". Invalid text from the user is refused here, before anything runs. */
static int init(struct graft_error *error) {
    const char *list = graft_args_string(host->options(&plugin), "list", "");
    for (n_biases = 0; *list != '\0';) {
        char *end;
        const long id = strtol(list, &end, 10);
        const int has_id = end != list && *end == ':' && id >= 0;
        list = has_id ? end + 1 : list;
        const float bias = strtof(list, &end);
        if (!has_id || end == list || (*end != ',' && *end != '\0') || n_biases == MOST) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "token_bias",
                                   "option list: expected up to %d of ID:BIAS with commas between, got \"%s\"", MOST,
                                   list);
        }
        biases[n_biases].id = id;
        biases[n_biases++].bias = bias;
        list = *end == ',' ? end + 1 : end;
    }
    return GRAFT_OK;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/token_ids.h"

#include "base/alloc.h"
#include "base/file.h"
#include "graft/host/plan.h"

int graft_token_ids_check(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                          const struct graft_ids *ids, struct graft_error *error) {
    const int64_t vocab_size = graft_model_vocab_size(model);
    for (size_t i = 0; i < ids->n; i++) {
        if (ids->ids[i] < vocab_size) {
            continue;
        }
        const char *token = graft_tokenizer_token(tokenizer, ids->ids[i], NULL);
        char *file = graft_path_join(graft_model_plan(model)->directory, "tokenizer.json");
        int status = file == NULL
                         ? graft_fail_memory(error, "tokenizer.json")
                         : graft_error_set(error, GRAFT_ERROR_MODEL, file,
                                           "token \"%.100s\": expected an id below the model's vocab_size, which is "
                                           "%lld, got %ld",
                                           token != NULL ? token : "", (long long)vocab_size, (long)ids->ids[i]);
        graft_free(file);
        return status;
    }
    return GRAFT_OK;
}

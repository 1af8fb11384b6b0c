/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/model_work.h"

#include "base/alloc.h"

void graft_model_work_free(struct graft_model_work *work) {
    graft_merge_free(&work->merge);
    graft_free(work->path);
    graft_text_free(&work->scratch);
    *work = (struct graft_model_work){0};
}

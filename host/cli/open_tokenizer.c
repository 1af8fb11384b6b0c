/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/open_tokenizer.h"

#include "cli/output.h"

int graft_open_tokenizer(const struct graft_options *options, struct graft_tokenizer **tokenizer,
                         struct graft_error *error) {
    const struct graft_tokenizer_options wanted = {sizeof wanted, (int32_t)options->ignored_fields.count,
                                                   options->ignored_fields.items};
    int status = graft_tokenizer_load_with(options->model, &wanted, tokenizer, error);
    const char *note;
    for (size_t i = 0; status == GRAFT_OK && !options->quiet && (note = graft_tokenizer_note(*tokenizer, i)) != NULL;
         i++) {
        graft_output_line(stderr, "note: %s", note);
    }
    return status;
}

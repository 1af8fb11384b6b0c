/* SPDX-License-Identifier: Apache-2.0 */
/* `family`: subcommands for authors of family files. */
#include "cli/commands/family.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/output.h"
#include "graft/host/choices.h"

/* Prints the built-in family file of a model type. */
static int show(const struct graft_options *options, struct graft_error *error) {
    const char *model_type = options->files.items[0];
    graft_json *document = NULL;
    size_t length = 0;
    const char *text = graft_family_text(model_type, &length);
    if (text == NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, model_type, "not a model type that a family file describes");
        graft_error_hint(error, "`list --families` names all model types");
        return GRAFT_ERROR_USAGE;
    }
    int status = graft_json_parse(text, length, model_type, &document, error);
    if (status == GRAFT_OK) {
        status = graft_output_json(document, stdout, 2, error);
    }
    graft_json_free(document);
    return status;
}

int graft_command_family(const struct graft_options *options, struct graft_error *error) {
    if (strcmp(options->subject, "choices") == 0) {
        return graft_family_choices(options, error);
    }
    return strcmp(options->subject, "show") == 0 ? show(options, error) : graft_family_new(options, error);
}

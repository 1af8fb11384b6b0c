/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/hints.h"
#include "cli/program.h"

int graft_output_json(const graft_json *document, FILE *out, int indent, struct graft_error *error) {
    char *text = graft_json_dump(document, indent);
    if (text == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "output", "out of memory");
    }
    (void)fputs(text, out);
    (void)fputc('\n', out);
    graft_free(text);
    return graft_output_flush(out, error);
}

int graft_output_flush(FILE *out, struct graft_error *error) {
    if (fflush(out) != 0 || ferror(out)) {
        return graft_error_set(error, GRAFT_ERROR_IO, out == stdout ? "standard output" : "standard error", "%s",
                               strerror(errno));
    }
    return GRAFT_OK;
}

void graft_output_error(const struct graft_error *error) {
    struct graft_error shown = *error;
    graft_hint_translate(&shown);
    graft_text_defang(shown.source);
    graft_text_defang(shown.message);
    graft_text_defang(shown.hint);
    (void)fprintf(stderr, "%s: %s%s%s%s%s\n", graft_program_name(), shown.source, shown.source[0] != '\0' ? ": " : "",
                  shown.message, shown.hint[0] != '\0' ? "; " : "", shown.hint);
}

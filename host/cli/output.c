/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/hints.h"
#include "cli/program.h"

int graft_output_json(const graft_json *document, FILE *out, int indent, struct graft_error *error) {
    char *text = graft_json_dump(document, indent);
    if (text == NULL) {
        return graft_fail_memory(error, "output");
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
    graft_error_clean(shown.source);
    graft_error_clean(shown.message);
    graft_error_clean(shown.hint);
    (void)fprintf(stderr, "%s: %s%s%s%s%s\n", graft_program_name(), shown.source, shown.source[0] != '\0' ? ": " : "",
                  shown.message, shown.hint[0] != '\0' ? "; " : "", shown.hint);
}

void graft_output_line(FILE *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *line = length >= 0 ? graft_alloc((size_t)length + 1, 1) : NULL;
    if (line != NULL) {
        va_start(arguments, format);
        (void)vsnprintf(line, (size_t)length + 1, format, arguments);
        va_end(arguments);
        graft_error_clean(line);
    }
    (void)fprintf(out, "%s\n", line != NULL ? line : "?");
    graft_free(line);
}

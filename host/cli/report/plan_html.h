/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the plan as an HTML page: one file, without active scripts or external resources. It contains the document of
 * `plan --json` as data. */
#ifndef GRAFT_CLI_REPORT_PLAN_HTML_H
#define GRAFT_CLI_REPORT_PLAN_HTML_H

#include "base/json.h"
#include "base/text.h"
#include "graft/host/graft.h"

/* Writes the page to `path`, atomically. `document` is the `plan --json` of the same model. */
int graft_plan_html_write(const struct graft_model *model, const struct graft_library *library,
                          const graft_json *document, const char *path, struct graft_error *error);

/* Shared by the files that write the page: */

/* Adds untrusted text, with HTML and control characters escaped. NULL adds nothing. */
void plan_html_escape(struct graft_text *page, const char *text);

/* Adds a size: "12.3 MB". */
void plan_html_size(struct graft_text *page, int64_t bytes);

/* Adds the letter of a plugin by its number: "A: ", "B: ", ..., after Z "AA: ", "AB: ". */
void plan_html_letter(struct graft_text *page, int number);

/* A plugin's number, which gives its colour and letter: its index among the loaded plugins, -1 if it is not loaded. */
int plan_html_plugin(const struct graft_library *library, const char *id);
enum { PLAN_HTML_COLOURS = 6 };

/* Adds the module tree, each module with its parameters. */
void plan_html_tree(struct graft_text *page, const struct graft_model *model, const struct graft_library *library,
                    const graft_json *document);

extern const char graft_plan_html_style[];

#endif

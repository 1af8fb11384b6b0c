/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as a page: one file, no script that runs, nothing fetched. The document of `plan --json` is in it as data.
 */
#ifndef GRAFT_CLI_REPORT_PLAN_HTML_H
#define GRAFT_CLI_REPORT_PLAN_HTML_H

#include "base/json.h"
#include "base/text.h"
#include "graft/host/graft.h"

/* Writes the page to `path`, whole or not at all. `document` is the report of the same model. */
int graft_plan_html_write(const struct graft_model *model, const struct graft_library *library,
                          const graft_json *document, const char *path, struct graft_error *error);

/* The parts, for the units of the page: */

/* Text from outside, with what means something in HTML, and control characters, made harmless. NULL adds nothing. */
void plan_html_escape(struct graft_text *page, const char *text);

/* "12.3 MB". */
void plan_html_size(struct graft_text *page, int64_t bytes);

/* "A: ", "B: ", and behind Z "AA: ", "AB: " for the plugin of a number. */
void plan_html_letter(struct graft_text *page, int number);

/* A plugin's number for its colour and letter: its place among those loaded, -1 when it is none of them. */
int plan_html_plugin(const struct graft_library *library, const char *id);
enum { PLAN_HTML_COLOURS = 6 };

/* The module tree, each module with its parameters. */
void plan_html_tree(struct graft_text *page, const struct graft_model *model, const struct graft_library *library,
                    const graft_json *document);

extern const char graft_plan_html_style[];

#endif

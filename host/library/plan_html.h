/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the page that graft_model_plan_html makes: one file, without active scripts or external resources. It
 * contains the document of graft_model_plan_json as data. */
#ifndef GRAFT_LIBRARY_PLAN_HTML_H
#define GRAFT_LIBRARY_PLAN_HTML_H

#include "base/json.h"
#include "base/text.h"
#include "graft/host/graft.h"

/* Adds untrusted text, with HTML and control characters escaped. NULL adds nothing. */
void graft_plan_html_escape(struct graft_text *page, const char *text);

/* Adds a size: "12.3 MB". */
void graft_plan_html_size(struct graft_text *page, int64_t bytes);

/* Adds the letter of a plugin by its number: "A: ", "B: ", ..., after Z "AA: ", "AB: ". */
void graft_plan_html_letter(struct graft_text *page, int number);

/* A plugin's number, which gives its colour and letter: its index among the loaded plugins, -1 if it is not loaded. */
int graft_plan_html_plugin(const struct graft_library *library, const char *id);
enum { PLAN_HTML_COLOURS = 6 };

/* Adds the module tree, each module with its parameters. */
void graft_plan_html_tree(struct graft_text *page, const struct graft_model *model, const struct graft_library *library,
                          const graft_json *document);

extern const char graft_plan_html_style[];

#endif

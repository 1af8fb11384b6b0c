/* SPDX-License-Identifier: Apache-2.0 */
#include "library/plan_html.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "library/library.h"
#include "library/plan_json.h"

void graft_plan_html_escape(struct graft_text *page, const char *text) {
    static const char special[] = "&<>\"'";
    static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    char *clean = text != NULL ? graft_strdup(text) : NULL;
    if (text != NULL && clean == NULL) {
        page->failed = 1;
        return;
    }
    if (clean != NULL) {
        graft_error_clean(clean);
    }
    for (const char *at = clean; at != NULL && *at != '\0'; at++) {
        const char *found = strchr(special, *at);
        if (found != NULL) {
            graft_text_add_string(page, escapes[found - special]);
        } else {
            graft_text_add(page, at, 1);
        }
    }
    graft_free(clean);
}

void graft_plan_html_size(struct graft_text *page, int64_t bytes) {
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double size = (double)bytes / 1e3;
    size_t unit = 0;
    if (bytes < 1000) {
        graft_text_printf(page, "%lld bytes", (long long)bytes);
        return;
    }
    while (size >= 1000.0 && unit < 3) {
        size /= 1e3;
        unit++;
    }
    graft_text_printf(page, "%.3g %s", size, units[unit]);
}

int graft_plan_html_plugin(const struct graft_library *library, const char *id) {
    const struct graft_plugin_info *plugin;
    for (size_t i = 0; id != NULL && (plugin = graft_library_plugin(library, i)) != NULL; i++) {
        if (strcmp(plugin->descriptor->id, id) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static void add_head(struct graft_text *page, const char *architecture) {
    graft_text_add_string(page, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                                "<meta http-equiv=\"Content-Security-Policy\" "
                                "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>Plan of ");
    graft_plan_html_escape(page, architecture);
    graft_text_printf(page, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n", graft_plan_html_style);
}

static void add_fact(struct graft_text *page, const char *name, size_t number) {
    graft_text_printf(page, "<div><dt>%s</dt><dd>%zu</dd></div>\n", name, number);
}

static void add_size_fact(struct graft_text *page, const char *name, int64_t bytes) {
    graft_text_printf(page, "<div><dt>%s</dt><dd>", name);
    graft_plan_html_size(page, bytes);
    graft_text_add_string(page, "</dd></div>\n");
}

static void add_facts(struct graft_text *page, const struct graft_model *model, const graft_json *document) {
    const struct graft_named_module *module;
    size_t modules = 0;
    size_t replaced = 0;
    int64_t mapped = graft_json_int(graft_json_get(document, "mapped_bytes"));
    int64_t copied = graft_json_int(graft_json_get(document, "copied_bytes"));
    double share = mapped + copied > 0 ? 100.0 * (double)mapped / ((double)mapped + (double)copied) : 100.0;
    for (size_t i = 0; (module = graft_model_module(model, i)) != NULL; i++) {
        modules += (module->flags & GRAFT_MODULE_SUPER) == 0;
        replaced += module->original_class != NULL;
    }
    graft_text_add_string(page, "<dl class=\"facts\">\n");
    add_fact(page, "modules", modules);
    add_fact(page, "replaced", replaced);
    add_size_fact(page, "mapped from files", mapped);
    add_size_fact(page, "copied at load", copied);
    add_fact(page, "missing", graft_json_size(graft_json_get(document, "missing")));
    add_fact(page, "unexpected", graft_json_size(graft_json_get(document, "unexpected")));
    graft_text_printf(page,
                      "</dl>\n<div class=\"bar\" role=\"img\" aria-label=\"%.1f %% of the weights mapped, %.1f %% "
                      "copied\"><span class=\"m\" style=\"width:%.2f%%\"></span><span class=\"c\" "
                      "style=\"width:%.2f%%\"></span></div>\n<p class=\"soft\">Solid: mapped from the files. Striped: "
                      "copied when the model is loaded.</p>\n",
                      share, 100.0 - share, share, 100.0 - share);
}

void graft_plan_html_letter(struct graft_text *page, int number) {
    enum { LETTERS = 26 };
    if (number >= LETTERS) {
        graft_text_printf(page, "%c", 'A' + (number / LETTERS - 1) % LETTERS);
    }
    graft_text_printf(page, "%c: ", 'A' + number % LETTERS);
}

/* Adds a plugin with its colour, letter and name, and the targets of its replacements. */
static void add_plugin(struct graft_text *page, const graft_json *plugin, size_t i) {
    const graft_json *patches = graft_json_get(plugin, "patches");
    graft_text_printf(page, "<li><span class=\"who p%zu\">", i % PLAN_HTML_COLOURS);
    graft_plan_html_letter(page, (int)i);
    graft_text_add_string(page, "<b>");
    graft_plan_html_escape(page, graft_json_string(graft_json_get(plugin, "id"), NULL));
    graft_text_add_string(page, "</b> ");
    graft_plan_html_escape(page, graft_json_string(graft_json_get(plugin, "version"), NULL));
    graft_text_add_string(page, "</span> <code>");
    graft_plan_html_escape(page, graft_json_string(graft_json_get(plugin, "file"), NULL));
    graft_text_add_string(page, "</code><ul>");
    for (size_t j = 0; j < graft_json_size(patches); j++) {
        graft_text_add_string(page, "<li><code>");
        graft_plan_html_escape(page, graft_json_string(graft_json_get(graft_json_at(patches, j), "key"), NULL));
        graft_text_add_string(page, "</code> → <code>");
        graft_plan_html_escape(page, graft_json_string(graft_json_get(graft_json_at(patches, j), "class"), NULL));
        graft_text_add_string(page, "</code></li>");
    }
    graft_text_add_string(page, "</ul></li>\n");
}

static void add_plugins(struct graft_text *page, const graft_json *plugins) {
    graft_text_add_string(page, "<h2>Plugins</h2>\n");
    if (graft_json_size(plugins) == 0) {
        graft_text_add_string(page, "<p>None: every class is the host's own.</p>\n");
        return;
    }
    graft_text_add_string(page, "<ul>\n");
    for (size_t i = 0; i < graft_json_size(plugins); i++) {
        add_plugin(page, graft_json_at(plugins, i), i);
    }
    graft_text_add_string(page, "</ul>\n");
}

/* Adds a list of strings under a heading, if it is not empty. */
static void add_list(struct graft_text *page, const char *heading, const char *class_name, const graft_json *strings) {
    if (graft_json_size(strings) == 0) {
        return;
    }
    graft_text_printf(page, "<h2>%s</h2>\n<ul class=\"%s\">\n", heading, class_name);
    for (size_t i = 0; i < graft_json_size(strings); i++) {
        graft_text_add_string(page, "<li>");
        graft_plan_html_escape(page, graft_json_string(graft_json_at(strings, i), NULL));
        graft_text_add_string(page, "</li>\n");
    }
    graft_text_add_string(page, "</ul>\n");
}

/* Adds the fields of JSON files with one kind of use: unused, or ignored by an option. */
static void add_fields_of_use(struct graft_text *page, const char *heading, const char *use, const graft_json *fields) {
    size_t n = 0;
    for (size_t i = 0; i < graft_json_size(fields); i++) {
        const graft_json *field = graft_json_at(fields, i);
        const char *adapter = graft_json_string(graft_json_get(field, "adapter"), NULL);
        if (strcmp(graft_json_string(graft_json_get(field, "use"), NULL), use) != 0) {
            continue;
        }
        if (n++ == 0) {
            graft_text_printf(page, "<h2>%s</h2>\n<ul class=\"bad\">\n", heading);
        }
        graft_text_add_string(page, "<li>");
        graft_plan_html_escape(page, graft_json_string(graft_json_get(field, "file"), NULL));
        graft_text_add_string(page, adapter != NULL ? " of " : "");
        graft_plan_html_escape(page, adapter);
        graft_text_add_string(page, ": <code>");
        graft_plan_html_escape(page, graft_json_string(graft_json_get(field, "name"), NULL));
        graft_text_add_string(page, "</code> (<code>");
        graft_plan_html_escape(page, graft_json_string(graft_json_get(field, "value"), NULL));
        graft_text_add_string(page, "</code>)</li>\n");
    }
    graft_text_add_string(page, n > 0 ? "</ul>\n" : "");
}

static void add_fields(struct graft_text *page, const graft_json *fields) {
    add_fields_of_use(page, "Fields that are not used", "not used", fields);
    add_fields_of_use(page, "Fields that are ignored on request", "ignored", fields);
}

/* Adds the chains of --fuse. */
static void add_fused(struct graft_text *page, const graft_json *fused) {
    if (graft_json_size(fused) == 0) {
        return;
    }
    graft_text_add_string(page, "<h2>Fused</h2>\n<ul>\n");
    for (size_t i = 0; i < graft_json_size(fused); i++) {
        const graft_json *chain = graft_json_at(fused, i);
        const graft_json *modules = graft_json_get(chain, "modules");
        const char *plugin = graft_json_string(graft_json_get(chain, "plugin"), NULL);
        graft_text_add_string(page, "<li>");
        for (size_t j = 0; j < graft_json_size(modules); j++) {
            graft_text_add_string(page, j > 0 ? " + <code>" : "<code>");
            graft_plan_html_escape(page, graft_json_string(graft_json_at(modules, j), NULL));
            graft_text_add_string(page, "</code>");
        }
        graft_text_add_string(page, plugin != NULL ? " by " : " one after another");
        graft_plan_html_escape(page, plugin);
        graft_text_add_string(page, "</li>\n");
    }
    graft_text_add_string(page, "</ul>\n");
}

/* Adds JSON to the page, with "<", which occurs only in strings, as an escape, so that no text in it can end the script
 * element. */
static void add_data(struct graft_text *page, const char *json) {
    graft_text_add_string(page, "<script type=\"application/json\" id=\"plan\">\n");
    for (size_t length; *json != '\0'; json += length) {
        length = strcspn(json, "<");
        graft_text_add(page, json, length);
        if (json[length] == '<') {
            graft_text_add_string(page, "\\u003c");
            length++;
        }
    }
    graft_text_add_string(page, "\n</script>\n");
}

static void add_page(struct graft_text *page, const struct graft_model *model, const struct graft_library *library,
                     const graft_json *document) {
    const char *architecture = graft_json_string(graft_json_get(document, "architecture"), NULL);
    add_head(page, architecture);
    graft_text_add_string(page, "<h1>");
    graft_plan_html_escape(page, architecture);
    graft_text_add_string(page, "</h1>\n<p class=\"soft\">model type ");
    graft_plan_html_escape(page, graft_json_string(graft_json_get(document, "model_type"), NULL));
    graft_text_add_string(page, ", from <code>");
    graft_plan_html_escape(page, graft_model_plan(model)->directory);
    graft_text_add_string(page, "</code></p>\n");
    add_facts(page, model, document);
    add_plugins(page, graft_json_get(document, "plugins"));
    add_fused(page, graft_json_get(document, "chains"));
    add_list(page, "Missing parameters", "bad", graft_json_get(document, "missing"));
    add_list(page, "Unexpected tensors", "bad", graft_json_get(document, "unexpected"));
    add_fields(page, graft_json_get(document, "fields"));
    add_list(page, "Notes", "notes", graft_json_get(document, "notes"));
    graft_text_add_string(page, "<h2>Modules</h2>\n");
    graft_plan_html_tree(page, model, library, document);
    graft_text_add_string(page, "</main>\n");
}

int graft_model_plan_html(const struct graft_model *model, struct graft_text *html, struct graft_error *error) {
    graft_json *document = graft_plan_document(model);
    char *json = document != NULL ? graft_json_dump(document, 1) : NULL;
    if (json != NULL) {
        add_page(html, model, model->library, document);
        add_data(html, json);
        graft_text_add_string(html, "</body>\n</html>\n");
    }
    const int failed = json == NULL || html->failed;
    graft_json_free(document);
    graft_free(json);
    return failed ? graft_fail_memory(error, model->directory) : GRAFT_OK;
}

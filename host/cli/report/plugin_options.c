/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/plugin_options.h"

#include "graft/option.h"

void graft_list_options(const struct graft_plugin_info *plugin, FILE *out) {
    for (int32_t i = 0; i < plugin->descriptor->n_options; i++) {
        (void)fprintf(out, "%s %s=%s", i > 0 ? "," : "; options", graft_plugin_option(plugin->descriptor, i)->name,
                      plugin->options[i]);
    }
}

void graft_inspect_options(struct graft_writer *writer, graft_json *object, const struct graft_plugin_info *plugin) {
    static const char *const kinds[] = {[GRAFT_OPTION_INT] = "int",
                                        [GRAFT_OPTION_REAL] = "real",
                                        [GRAFT_OPTION_STRING] = "string",
                                        [GRAFT_OPTION_BOOL] = "bool"};
    graft_json *options = graft_json_new_array();
    for (int32_t i = 0; i < plugin->descriptor->n_options; i++) {
        const struct graft_option *option = graft_plugin_option(plugin->descriptor, i);
        graft_json *row = graft_json_new_object();
        graft_writer_set_string(writer, row, "name", option->name);
        graft_writer_set_string(writer, row, "kind", kinds[option->kind]);
        graft_writer_set_string(writer, row, "help", option->help);
        graft_writer_set_string(writer, row, "default", option->default_value);
        graft_writer_set(writer, row, "choices", graft_writer_list(writer, option->choices));
        graft_writer_set_string(writer, row, "value", plugin->options[i]);
        graft_writer_append(writer, options, row);
    }
    graft_writer_set(writer, object, "options", options);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the processes have opened the same model. Layers and shards that only some of them have are not compared.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"
#include "graft/host/process.h"
#include "library/library.h"
#include "parallel/ranks.h"

/* Adds a name from a file or plugin, without line ends. */
static void add_name(struct graft_text *text, const char *name) {
    size_t start = text->length;
    graft_text_add_string(text, name);
    for (size_t i = start; i < text->length && !text->failed; i++) {
        text->bytes[i] = (unsigned char)text->bytes[i] < ' ' ? '?' : text->bytes[i];
    }
}

/* --- config.json --- */

/* Adds all fields but `adapters`, which has the adapters' directories on each machine. */
static int add_fields(const struct graft_model *model, struct graft_text *text) {
    const char *key = NULL;
    const graft_json *value = NULL;
    void *iterator = NULL;
    while (graft_json_next(model->config->document, &iterator, &key, &value)) {
        char *dumped = strcmp(key, "adapters") != 0 ? graft_json_dump(value, 0) : graft_strdup("");
        if (dumped == NULL) {
            return -1;
        }
        add_name(text, key);
        graft_text_printf(text, "\t%s\n", dumped);
        graft_free(dumped);
    }
    return 0;
}

/* --- generation_config.json --- */

/* Adds the settings that all ranks need: how many sequences a prompt has, and when each ends. Rank 0 alone chooses
 * tokens. */
static void add_generation(const struct graft_generation_settings *settings, struct graft_text *text) {
    const struct graft_generation *generation = &settings->generation;
    graft_text_printf(text, "max_new_tokens\t%lld\n", (long long)generation->max_new_tokens);
    graft_text_printf(text, "max_length\t%lld\n", (long long)generation->max_length);
    graft_text_printf(text, "do_sample\t%d\n", (int)generation->do_sample);
    graft_text_printf(text, "num_beams\t%lld\n", (long long)generation->num_beams);
    graft_text_printf(text, "num_return_sequences\t%lld\n", (long long)generation->num_return_sequences);
    graft_text_printf(text, "length_penalty\t%.17g\n", generation->length_penalty);
    graft_text_printf(text, "early_stopping\t%d\n", (int)generation->early_stopping);
    graft_text_printf(text, "guidance_scale\t%.17g\n", generation->guidance_scale);
    graft_text_printf(text, "prompt_lookup_num_tokens\t%d\n", (int)generation->speculate);
    graft_text_add_string(text, "eos_token_id\t");
    for (size_t i = 0; i < settings->eos.n; i++) {
        graft_text_printf(text, "%s%d", i > 0 ? ", " : "", (int)settings->eos.ids[i]);
    }
    graft_text_add_string(text, "\nstop_strings\t");
    for (size_t i = 0; i < generation->n_stop_strings; i++) {
        graft_text_add_string(text, i > 0 ? ", " : "");
        add_name(text, generation->stop_strings[i]);
    }
    graft_text_add_string(text, "\n");
}

/* --- Modules, parameters, tensors --- */

static int add_module(void *data, struct graft_node *node, struct graft_error *error) {
    struct graft_text *text = data;
    (void)error;
    if (node->known == NULL) {
        return GRAFT_OK;
    }
    graft_text_add_string(text, node->wrapper != NULL ? "wrapped module " : "module ");
    add_name(text, node->path);
    graft_text_printf(text, "\t%s of %s\n", node->class_name,
                      node->known->origin.plugin != NULL ? node->known->origin.plugin : "the host");
    return GRAFT_OK;
}

/* Adds a parameter and the class that converts it; ranks may have different parts of it. */
static void add_parameter(const struct graft_binding *binding, struct graft_text *text) {
    const struct graft_known_class *converter = binding->site != NULL ? binding->site->described_by : NULL;
    graft_text_add_string(text, "parameter ");
    add_name(text, binding->parameter->name);
    graft_text_printf(text, "\tmade by %s\n", converter != NULL ? converter->cls->name : "none");
}

static void add_tensor(const struct graft_tensor_view *tensor, struct graft_text *text) {
    graft_text_add_string(text, "tensor ");
    add_name(text, tensor->name);
    graft_text_printf(text, "\t%s [", graft_stored_dtype_name(tensor->dtype));
    for (int32_t i = 0; i < tensor->rank; i++) {
        graft_text_printf(text, "%s%lld", i > 0 ? ", " : "", (long long)tensor->shape[i]);
    }
    graft_text_add_string(text, "]\n");
}

static int agree(const char *what, struct graft_text *text, int32_t partial, struct graft_error *error) {
    int status = text->failed ? graft_fail_memory(error, "parallel")
                              : graft_parallel_agree(what, text->bytes != NULL ? text->bytes : "", partial, error);
    graft_text_free(text);
    return status;
}

int graft_parallel_agree_model(const struct graft_model *model, struct graft_error *error) {
    struct graft_text fields = {0}, generation = {0}, parts = {0};
    if (graft_ranks_get()->size == 1) {
        return GRAFT_OK;
    }
    if (add_fields(model, &fields) != 0) {
        graft_text_free(&fields);
        return graft_fail_memory(error, "parallel");
    }
    int status = agree("the fields of config.json", &fields, 0, error);
    if (status == GRAFT_OK) {
        add_generation(&model->generation, &generation);
        status = agree("the fields of generation_config.json", &generation, 0, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    (void)graft_tree_walk(model->tree, add_module, &parts, error);
    for (size_t i = 0; i < model->plan->n_bindings; i++) {
        add_parameter(&model->plan->bindings[i], &parts);
    }
    for (size_t i = 0; i < graft_checkpoint_count(model->checkpoint); i++) {
        add_tensor(graft_checkpoint_at(model->checkpoint, i), &parts);
    }
    return agree("the modules and tensors", &parts, 1, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the use of each field of a model's JSON files, from the ledgers of its documents and from the field rules.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "config/path.h"
#include "config/quantization.h"
#include "config/rules.h"
#include "graft/host/plan.h"
#include "library/library.h"
#include "tokenizer/config_fields.h"

enum { MAX_SHOWN = 60, MAX_VALUE = 200, MAX_BY = 96, MAX_NAMED = 8 };

/* One document and the rules for its fields. */
struct classifying {
    struct graft_model *model;
    const struct graft_model_file *document;
    const char *file;                /* "config.json" */
    const struct graft_rules *lists; /* [n_lists] */
    size_t n_lists;
    struct graft_error *error;
};

/* --- Rules --- */

static struct graft_rules rules_of_family(const struct graft_model *model, char by[MAX_BY]) {
    (void)snprintf(by, MAX_BY, "model type %.80s", model->config->model_type);
    const struct graft_family *family = model->family.family;
    int32_t n = graft_family_n_field_rules(family);
    return n > 0 ? (struct graft_rules){family->field_rules, n, family->field_rule_stride, by}
                 : (struct graft_rules){.by = by};
}

/* Adds the values that a rule accepts, in readable form: "null or 0.0". */
static void add_values(struct graft_text *text, const struct graft_field_rule *rule) {
    graft_json *values = NULL;
    (void)graft_json_parse(rule->values, strlen(rule->values), rule->name, &values, NULL);
    for (size_t i = 0; i < graft_json_size(values); i++) {
        graft_text_add_string(text, i > 0 ? " or " : "");
        graft_path_show(graft_json_at(values, i), MAX_SHOWN, text);
    }
    graft_json_free(values);
}

static int refuse(const struct graft_model_file *document, const char *name, const graft_json *value,
                  const struct graft_field_rule *rule, const char *by, struct graft_error *error) {
    struct graft_text expected = {0}, got = {0};
    add_values(&expected, rule);
    graft_path_show(value, MAX_SHOWN, &got);
    int status = expected.failed || got.failed
                     ? graft_fail_memory(error, document->file)
                     : graft_error_set(error, GRAFT_ERROR_MODEL, document->file,
                                       "%s: expected %s, got %s: %s does not compute what it asks for", name,
                                       expected.bytes != NULL ? expected.bytes : "nothing", got.bytes, by);
    graft_error_hint(error, "ignore the field by its name, if the results may differ from the reference's");
    graft_text_free(&expected);
    graft_text_free(&got);
    return status;
}

/* Judges a field, also under the name that a family's rules use for it. */
static enum graft_ruling judge(const struct graft_model *model, const struct graft_rules *list, const char *path,
                               const graft_json *value, const struct graft_field_rule **rule) {
    enum graft_ruling ruling = graft_rules_judge(list, path, value, rule);
    const char *name = graft_model_config_name(model->config, path);
    return ruling == GRAFT_RULING_NONE && name != NULL ? graft_rules_judge(list, name, value, rule) : ruling;
}

/* Applies the first rule of all lists that covers the field, and says whose it is. A value that it refuses is an error.
 */
static int consult(const struct classifying *classifying, const char *path, const graft_json *value,
                   enum graft_ruling *ruling, const char **by) {
    *ruling = GRAFT_RULING_NONE;
    *by = NULL;
    for (size_t i = 0; i < classifying->n_lists && *ruling == GRAFT_RULING_NONE; i++) {
        const struct graft_field_rule *rule = NULL;
        *by = classifying->lists[i].by;
        *ruling = judge(classifying->model, &classifying->lists[i], path, value, &rule);
        if (*ruling == GRAFT_RULING_FAILED) {
            return graft_fail_memory(classifying->error, classifying->document->file);
        }
        if (*ruling == GRAFT_RULING_REFUSED) {
            return refuse(classifying->document, path, value, rule, *by, classifying->error);
        }
    }
    *by = *ruling != GRAFT_RULING_NONE ? *by : NULL;
    return GRAFT_OK;
}

static int refuse_field(void *data, const char *path, const graft_json *value) {
    enum graft_ruling ruling;
    const char *by;
    return consult(data, path, value, &ruling, &by);
}

int graft_model_refuse_fields(struct graft_model *model, struct graft_error *error) {
    char by[MAX_BY];
    const struct graft_rules lists[] = {rules_of_family(model, by), graft_usual_rules("config.json")};
    struct classifying classifying = {model, model->config->source, "config.json", lists, 2, error};
    int status = graft_path_walk(model->config->document, refuse_field, &classifying);
    return status >= 0 ? status : graft_fail_memory(error, model->config->file);
}

/* --- Determining the use of fields --- */

/* File, adapter and name of a field, from its path in the document. */
static struct graft_model_field place_of(const struct classifying *classifying, const char *path) {
    struct graft_model_field place = {.struct_size = sizeof place, .file = classifying->file, .name = path};
    const struct graft_adapters *adapters = &classifying->model->adapters;
    for (size_t i = 0; classifying->document == classifying->model->config->source && i < adapters->n; i++) {
        const char *name = adapters->items[i].name;
        size_t prefix = strlen("adapter."), length = strlen(name);
        if (strncmp(path, "adapter.", prefix) == 0 && strncmp(path + prefix, name, length) == 0 &&
            path[prefix + length] == '.') {
            place.file = "adapter_config.json";
            place.adapter = name;
            place.name = path + prefix + length + 1;
        }
    }
    return place;
}

static int publish(const struct classifying *classifying, const char *path, const graft_json *value, int32_t use,
                   const char *by) {
    struct graft_published *published = &classifying->model->published;
    struct graft_text text = {0};
    struct graft_model_field field = place_of(classifying, path);
    graft_path_show(value, MAX_VALUE, &text);
    field.use = use;
    field.name = graft_arena_strdup(&published->arena, field.name);
    field.value = graft_arena_strdup(&published->arena, text.bytes != NULL ? text.bytes : "");
    field.by = by != NULL ? graft_arena_strdup(&published->arena, by) : NULL;
    int failed = text.failed || field.name == NULL || field.value == NULL || (by != NULL && field.by == NULL) ||
                 graft_grow(&published->fields, &published->fields_capacity, published->n_fields,
                            sizeof *published->fields) != 0;
    graft_text_free(&text);
    if (failed) {
        return graft_fail_memory(classifying->error, classifying->document->file);
    }
    published->fields[published->n_fields++] = field;
    return GRAFT_OK;
}

static int is_empty(const graft_json *value) {
    return graft_json_type(value) == GRAFT_JSON_NULL ||
           ((graft_json_type(value) == GRAFT_JSON_ARRAY || graft_json_type(value) == GRAFT_JSON_OBJECT) &&
            graft_json_size(value) == 0);
}

static int classify_field(const struct classifying *classifying, const char *path, const graft_json *value,
                          int is_used) {
    enum graft_ruling ruling;
    const char *by;
    int status = consult(classifying, path, value, &ruling, &by);
    if (status != GRAFT_OK) {
        return status;
    }
    if (is_used) {
        return publish(classifying, path, value, GRAFT_FIELD_USED, NULL);
    }
    int32_t use = ruling == GRAFT_RULING_WITHOUT_EFFECT               ? GRAFT_FIELD_WITHOUT_EFFECT
                  : ruling == GRAFT_RULING_NEUTRAL || is_empty(value) ? GRAFT_FIELD_NEUTRAL
                                                                      : GRAFT_FIELD_NOT_USED;
    return publish(classifying, path, value, use, by);
}

static int classify(void *data, const char *path, const graft_json *value) {
    const struct classifying *classifying = data;
    if (classifying->model->adapters.n > 0 && strncmp(path, "adapters.", 9) == 0) {
        return GRAFT_OK; /* an adapter's `directory` is added by the host, and is not a field of a file */
    }
    return classify_field(classifying, path, value, graft_ledger_has(classifying->document->ledger, path));
}

static int publish_ignored(const struct classifying *classifying) {
    const struct graft_model_file *document = classifying->document;
    int status = GRAFT_OK;
    for (size_t i = 0; i < document->n_ignored && status == GRAFT_OK; i++) {
        status = publish(classifying, document->ignored[i].path, document->ignored[i].value, GRAFT_FIELD_IGNORED, NULL);
    }
    return status;
}

static int classify_document(struct graft_model *model, const struct graft_model_file *document, const char *file,
                             const struct graft_rules *lists, size_t n_lists, struct graft_error *error) {
    struct classifying classifying = {model, document, file, lists, n_lists, error};
    int status =
        graft_ledger_close(document->ledger) == 0 ? graft_path_walk(document->json, classify, &classifying) : -1;
    if (status == GRAFT_OK) {
        status = publish_ignored(&classifying);
    }
    return status >= 0 ? status : graft_fail_memory(error, document->file);
}

/* Collects the ids of the plugins that have classes in the model, each once. `ids` has room for all plugins, "program"
 * and "patch". Returns their number. */
static size_t list_origins(const struct graft_model *model, const char **ids) {
    const char *last = NULL;
    size_t count = 0;
    for (size_t i = 0; i < model->published.n_modules; i++) {
        const char *id = model->published.modules[i].plugin;
        if (id == NULL || id == last) {
            continue;
        }
        size_t k = 0;
        while (k < count && strcmp(ids[k], id) != 0) {
            k++;
        }
        ids[k] = id;
        count += k == count;
        last = id;
    }
    return count;
}

/* Whether a plugin takes part in the model: a class of it is built, or it reads the weights' method. */
static int takes_part(const struct graft_model *model, const char *const *ids, size_t n_ids,
                      const struct graft_plugin *plugin) {
    const char *method = graft_quantization_method(&model->config->view);
    for (size_t i = 0; method != NULL && plugin->quant_methods != NULL && plugin->quant_methods[i] != NULL; i++) {
        if (strcmp(plugin->quant_methods[i], method) == 0) {
            return 1;
        }
    }
    for (size_t i = 0; i < n_ids; i++) {
        if (strcmp(ids[i], plugin->id) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Applies the rules for config.json: those of the host and the family, then those of plugins that take part. */
static int classify_config(struct graft_model *model, struct graft_error *error) {
    char by[MAX_BY];
    size_t n = 0, n_lists = 3;
    const struct graft_snapshot *snapshot = model->tree->snapshot;
    while (graft_snapshot_plugin_at(snapshot, n) != NULL) {
        n++;
    }
    struct graft_rules *lists = graft_alloc(n_lists + n, sizeof *lists);
    char(*names)[MAX_BY] = graft_alloc(n, sizeof *names);
    const char **ids = graft_alloc(n + 2, sizeof *ids);
    if (lists == NULL || names == NULL || ids == NULL) {
        graft_free(lists);
        graft_free(names);
        graft_free(ids);
        return graft_fail_memory(error, model->directory);
    }
    const size_t n_ids = list_origins(model, ids);
    lists[0] = rules_of_family(model, by);
    lists[1] = graft_usual_rules("config.json");
    lists[2] = graft_usual_rules(model->generation_config != NULL ? "config.json beside generation_config.json" : "");
    for (size_t i = 0; i < n; i++) {
        const struct graft_plugin *plugin = graft_snapshot_plugin_at(snapshot, i)->descriptor;
        if (graft_plugin_n_field_rules(plugin) > 0 && takes_part(model, ids, n_ids, plugin)) {
            (void)snprintf(names[i], sizeof names[i], "plugin %s", plugin->id);
            lists[n_lists++] =
                (struct graft_rules){plugin->field_rules, plugin->n_field_rules, plugin->field_rule_stride, names[i]};
        }
    }
    int status = classify_document(model, model->config->source, "config.json", lists, n_lists, error);
    graft_free(lists);
    graft_free(names);
    graft_free(ids);
    return status;
}

static int classify_generation(struct graft_model *model, struct graft_error *error) {
    const struct graft_rules list = graft_usual_rules("generation_config.json");
    return model->generation_config != NULL
               ? classify_document(model, model->generation_config, "generation_config.json", &list, 1, error)
               : GRAFT_OK;
}

/* Each member of tokenizer_config.json is one field. There is no ledger for them, because programs that need the
 * tokenizer open it later, if at all; the tokenizer has a list of what it reads. */
static int classify_tokenizer(struct graft_model *model, struct graft_error *error) {
    enum { MAX_BYTES = 64 << 20 };
    static const char file[] = "tokenizer_config.json";
    const struct graft_rules list = graft_usual_rules(file);
    struct graft_model_file *document = NULL;
    const graft_json *value;
    const char *name;
    int status =
        graft_model_file_read_any_strings(model->directory, file, MAX_BYTES, &model->ignored, &document, error);
    if (status != GRAFT_OK || document == NULL) {
        return status;
    }
    struct classifying classifying = {model, document, file, &list, 1, error};
    for (size_t i = 0; status == GRAFT_OK && (value = graft_json_member(document->json, i, &name)) != NULL; i++) {
        status = classify_field(&classifying, name, value, graft_tokenizer_reads(name, value));
    }
    if (status == GRAFT_OK) {
        status = publish_ignored(&classifying);
    }
    graft_model_file_free(document);
    return status;
}

static int classify_processors(struct graft_model *model, struct graft_error *error) {
    const struct graft_rules list = graft_usual_rules("preprocessor_config.json");
    int status = GRAFT_OK;
    for (size_t i = 0; i < GRAFT_PROCESSOR_FILES && status == GRAFT_OK; i++) {
        const char *file = graft_model_processor_file(model, i);
        status = file != NULL ? classify_document(model, model->processors.files[i], file, &list, 1, error) : GRAFT_OK;
    }
    return status;
}

/* Refuses names of ignored fields that no file has: they are most likely misspelt. */
static int check_ignored(const struct graft_model *model, struct graft_error *error) {
    for (int32_t i = 0; i < model->ignored.n && !model->ignored_may_lack; i++) {
        size_t k = 0;
        while (k < model->published.n_fields &&
               (model->published.fields[k].use != GRAFT_FIELD_IGNORED ||
                strcmp(model->published.fields[k].name, model->ignored.names[i]) != 0)) {
            k++;
        }
        if (k == model->published.n_fields) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory,
                                   "ignored_fields: no file of the model has a field \"%.200s\"",
                                   model->ignored.names[i]);
        }
    }
    return GRAFT_OK;
}

int graft_model_classify_fields(struct graft_model *model, struct graft_error *error) {
    int status = classify_config(model, error);
    if (status == GRAFT_OK) {
        status = classify_generation(model, error);
    }
    if (status == GRAFT_OK) {
        status = classify_tokenizer(model, error);
    }
    if (status == GRAFT_OK) {
        status = classify_processors(model, error);
    }
    if (status == GRAFT_OK) {
        status = check_ignored(model, error);
    }
    return status == GRAFT_OK ? graft_model_check_aliases(model, error) : status;
}

/* --- Queries --- */

static int is_same_file(const struct graft_model_field *a, const struct graft_model_field *b) {
    return strcmp(a->file, b->file) == 0 && a->adapter == b->adapter;
}

/* The directory that the file of a field is in. */
static const char *directory_of(const struct graft_model *model, const struct graft_model_field *field) {
    for (size_t i = 0; i < model->adapters.n; i++) {
        if (model->adapters.items[i].name == field->adapter) {
            return model->adapters.items[i].directory;
        }
    }
    return model->directory;
}

/* Reports the unused fields of the first file that has any. */
int graft_model_check_used(const struct graft_model *model, struct graft_error *error) {
    const struct graft_model_field *first = NULL;
    struct graft_text text = {0};
    size_t n = 0;
    for (size_t i = 0; i < model->published.n_fields; i++) {
        const struct graft_model_field *field = &model->published.fields[i];
        if (field->use == GRAFT_FIELD_NOT_USED && (first == NULL || is_same_file(first, field)) && n < MAX_NAMED) {
            graft_text_printf(&text, "%s%s (%s)", n > 0 ? ", " : "", field->name, field->value);
            first = first == NULL ? field : first;
            n++;
        }
    }
    if (first == NULL) {
        return GRAFT_OK;
    }
    char *file = graft_path_join(directory_of(model, first), first->file);
    int status = text.failed || file == NULL
                     ? graft_fail_memory(error, model->directory)
                     : graft_error_set(error, GRAFT_ERROR_MODEL, file, "not used: %s", text.bytes);
    graft_error_hint(error, "ignore a field by its name where it is known to change nothing");
    graft_free(file);
    graft_text_free(&text);
    return status;
}

const struct graft_model_field *graft_model_field_at(const struct graft_model *model, size_t i) {
    return i < model->published.n_fields ? &model->published.fields[i] : NULL;
}

const char *graft_model_asked_field(const struct graft_model *model, size_t i) {
    return graft_ledger_at(model->config->source->ledger, model->published.first_asked + i);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cli/command_name.h"
#include "cli/size.h"

enum kind { FLAG, TEXT, TEXTS, NAMED_TEXTS, NAMED_TEXT, NUMBER, FRACTION, SIZE };

struct spec {
    const char *name; /* without leading dashes */
    enum kind kind;
    size_t offset; /* offset of the field in struct graft_options */
    int commands;  /* commands that take it, and LOCKED or PROSE */
};

enum {
    RUN = GRAFT_COMMAND_RUN,
    PLAN = GRAFT_COMMAND_PLAN,
    TOKENIZE = GRAFT_COMMAND_TOKENIZE,
    LIST = GRAFT_COMMAND_LIST,
    INSPECT = GRAFT_COMMAND_INSPECT,
    VERIFY = GRAFT_COMMAND_VERIFY,
    BENCH = GRAFT_COMMAND_BENCH,
    SAVE = GRAFT_COMMAND_SAVE,
    PERPLEXITY = GRAFT_COMMAND_PERPLEXITY,
    TRY = GRAFT_COMMAND_TRY,
    VALIDATE = GRAFT_COMMAND_VALIDATE,
    CHAT = GRAFT_COMMAND_CHAT,
    FAMILY = GRAFT_COMMAND_FAMILY,
    SERVE = GRAFT_COMMAND_SERVE,
    NEW = GRAFT_COMMAND_NEW,
    PACK = GRAFT_COMMAND_PACK,
    INSTALL = GRAFT_COMMAND_INSTALL,
    REMOVE = GRAFT_COMMAND_REMOVE,
    COMPARE_HF = GRAFT_COMMAND_COMPARE_HF,
    SAYS = RUN | CHAT, /* commands that generate text for a reader */
    LOADED = SAYS | VERIFY | BENCH | PERPLEXITY | SERVE,
    MODEL = LOADED | PLAN | INSPECT | SAVE,
    ADAPTED = LOADED | PLAN, /* commands that take adapters; others show or write the model itself */
    PROMPT = RUN | VERIFY,
    MUTED = MODEL | TOKENIZE | LIST | VALIDATE | FAMILY | NEW | PACK | INSTALL | REMOVE,
    EVERY = MUTED | TRY | COMPARE_HF,
    /* Properties of options rather than commands. */
    LOCKED = 1 << 28, /* changes how a model is built, so locks record it */
    PROSE = 1 << 29   /* its value is text for the model, which may be empty; values of other options may not */
};

static const struct spec specs[] = {
    {"model", TEXT, offsetof(struct graft_options, model), MODEL | TOKENIZE | VALIDATE | NEW},
    {"plugins-dir", TEXTS, offsetof(struct graft_options, plugins_dirs),
     MODEL | LIST | VALIDATE | FAMILY | NEW | INSTALL | REMOVE | COMPARE_HF},
    {"plugins", TEXT, offsetof(struct graft_options, plugins), MODEL | LIST | FAMILY | NEW | COMPARE_HF | LOCKED},
    {"enable", TEXTS, offsetof(struct graft_options, enabled), MODEL | LIST | FAMILY | NEW | COMPARE_HF | LOCKED},
    {"no-plugins", FLAG, offsetof(struct graft_options, no_plugins), MODEL | LOCKED},
    {"plugin-option", TEXTS, offsetof(struct graft_options, plugin_options), MODEL | LIST},
    {"skip-bad-plugins", FLAG, offsetof(struct graft_options, skip_bad_plugins), MODEL | LIST | FAMILY | LOCKED},
    {"rescan", FLAG, offsetof(struct graft_options, rescan), MODEL | LIST | FAMILY},
    {"lock", TEXT, offsetof(struct graft_options, lock), LOADED | PLAN | SAVE},
    {"sha256", FLAG, offsetof(struct graft_options, sha256), RUN | PERPLEXITY | PLAN | LIST},
    {"fusion", TEXTS, offsetof(struct graft_options, fusion), MODEL | LOCKED},
    {"fusion-config", TEXT, offsetof(struct graft_options, fusion_config), MODEL | LOCKED},
    {"fuse", TEXTS, offsetof(struct graft_options, fuse), LOADED | PLAN | LOCKED},
    {"patch", TEXT, offsetof(struct graft_options, patch), MODEL | LOCKED},
    {"adapter", TEXTS, offsetof(struct graft_options, adapters), ADAPTED | LOCKED},
    {"adapter-scale", TEXTS, offsetof(struct graft_options, adapter_scales), ADAPTED | LOCKED},
    {"attn-implementation", TEXT, offsetof(struct graft_options, attn_implementation), MODEL | LOCKED},
    {"experts-implementation", TEXT, offsetof(struct graft_options, experts_implementation), MODEL | LOCKED},
    {"kernels", TEXT, offsetof(struct graft_options, kernels), MODEL | LOCKED},
    {"parallel", TEXT, offsetof(struct graft_options, parallel), RUN | PLAN | BENCH | PERPLEXITY},
    {"threads", NUMBER, offsetof(struct graft_options, threads), MODEL},
    {"dtype", TEXT, offsetof(struct graft_options, dtype), MODEL | LOCKED},
    {"kv-cache-dtype", TEXT, offsetof(struct graft_options, kv_cache_dtype), LOADED | LOCKED},
    {"quantize", TEXT, offsetof(struct graft_options, quantize), MODEL | LOCKED},
    {"dequantize", FLAG, offsetof(struct graft_options, dequantize), MODEL | LOCKED},
    {"strict", FLAG, offsetof(struct graft_options, strict), MODEL | LOCKED},
    {"ignore-field", TEXTS, offsetof(struct graft_options, ignored_fields), MODEL | LOCKED},
    {"report", TEXT, offsetof(struct graft_options, report), SAYS | PERPLEXITY | SERVE},
    {"quiet", FLAG, offsetof(struct graft_options, quiet), MUTED},
    {"prompt", TEXTS, offsetof(struct graft_options, prompts), PROMPT | PROSE},
    {"prompt-file", TEXTS, offsetof(struct graft_options, prompt_files), PROMPT},
    {"input-ids", TEXTS, offsetof(struct graft_options, input_ids), PROMPT},
    {"system", TEXT, offsetof(struct graft_options, system), SAYS | PROSE},
    {"message", TEXTS, offsetof(struct graft_options, message), RUN},
    {"messages", TEXT, offsetof(struct graft_options, messages), SAYS},
    {"tools", TEXT, offsetof(struct graft_options, tools), SAYS},
    {"template-variable", TEXTS, offsetof(struct graft_options, template_variables), SAYS},
    {"prompt-adapter", TEXTS, offsetof(struct graft_options, prompt_adapters), RUN},
    {"image", NAMED_TEXTS, offsetof(struct graft_options, images), PROMPT},
    {"video", NAMED_TEXTS, offsetof(struct graft_options, images), PROMPT},
    {"pixel-values", TEXT, offsetof(struct graft_options, pixel_values), PROMPT},
    {"token-type-ids", TEXTS, offsetof(struct graft_options, token_type_ids), RUN},
    {"text-pair", TEXTS, offsetof(struct graft_options, text_pairs), RUN | PROSE},
    {"lines", FLAG, offsetof(struct graft_options, lines), RUN},
    {"pairs", FLAG, offsetof(struct graft_options, pairs), RUN},
    {"embed", FLAG, offsetof(struct graft_options, embed), RUN},
    {"max-new-tokens", NUMBER, offsetof(struct graft_options, max_new_tokens), PROMPT | CHAT | SERVE},
    {"temperature", FRACTION, offsetof(struct graft_options, temperature), SAYS},
    {"top-k", NUMBER, offsetof(struct graft_options, top_k), SAYS},
    {"top-p", FRACTION, offsetof(struct graft_options, top_p), SAYS},
    {"repetition-penalty", FRACTION, offsetof(struct graft_options, repetition_penalty), SAYS},
    {"seed", NUMBER, offsetof(struct graft_options, seed), SAYS},
    {"speculate", NUMBER, offsetof(struct graft_options, speculate), SAYS},
    {"do-sample", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"max-length", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"min-length", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"min-new-tokens", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"suppress-tokens", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"begin-suppress-tokens", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"bad-words-ids", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"sequence-bias", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"no-repeat-ngram-size", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"encoder-no-repeat-ngram-size", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"encoder-repetition-penalty", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"forced-bos-token-id", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"forced-eos-token-id", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"exponential-decay-length-penalty", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"remove-invalid-values", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"renormalize-logits", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"min-p", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"typical-p", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"epsilon-cutoff", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"eta-cutoff", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"top-h", NAMED_TEXT, offsetof(struct graft_options, generation), SAYS},
    {"num-beams", NAMED_TEXT, offsetof(struct graft_options, generation), RUN},
    {"length-penalty", NAMED_TEXT, offsetof(struct graft_options, generation), RUN},
    {"early-stopping", NAMED_TEXT, offsetof(struct graft_options, generation), RUN},
    {"num-return-sequences", NAMED_TEXT, offsetof(struct graft_options, generation), RUN},
    {"guidance-scale", NAMED_TEXT, offsetof(struct graft_options, generation), RUN},
    {"stop-strings", TEXTS, offsetof(struct graft_options, stop_strings), SAYS},
    {"logits-processor", TEXTS, offsetof(struct graft_options, logits_processors), SAYS},
    {"json-schema", TEXT, offsetof(struct graft_options, json_schema), SAYS},
    {"grammar", TEXT, offsetof(struct graft_options, grammar), SAYS},
    {"session", TEXT, offsetof(struct graft_options, session), SAYS},
    {"logits", TEXT, offsetof(struct graft_options, logits), RUN},
    {"hidden-states", TEXT, offsetof(struct graft_options, hidden_states), RUN},
    {"attentions", TEXT, offsetof(struct graft_options, attentions), RUN},
    {"router-logits", TEXT, offsetof(struct graft_options, router_logits), RUN},
    {"module-outputs", TEXT, offsetof(struct graft_options, module_outputs), RUN},
    {"trace", TEXT, offsetof(struct graft_options, trace), RUN | PERPLEXITY},
    {"check-finite", FLAG, offsetof(struct graft_options, check_finite), RUN | PERPLEXITY},
    {"output-ids", FLAG, offsetof(struct graft_options, output_ids), RUN},
    {"keep-special-tokens", FLAG, offsetof(struct graft_options, keep_special_tokens), RUN},
    {"logprobs", NUMBER, offsetof(struct graft_options, logprobs), RUN},
    {"no-special-tokens", FLAG, offsetof(struct graft_options, no_special_tokens), PROMPT | TOKENIZE},
    {"against", TEXT, offsetof(struct graft_options, against), VERIFY},
    {"tolerance", FRACTION, offsetof(struct graft_options, tolerance), VERIFY | COMPARE_HF},
    {"prompt-tokens", NUMBER, offsetof(struct graft_options, prompt_tokens), BENCH},
    {"new-tokens", NUMBER, offsetof(struct graft_options, new_tokens), BENCH},
    {"repeat", NUMBER, offsetof(struct graft_options, repeat), BENCH},
    {"sequences", NUMBER, offsetof(struct graft_options, sequences), BENCH},
    {"compare", TEXT, offsetof(struct graft_options, compare), BENCH},
    {"modules", FLAG, offsetof(struct graft_options, modules), BENCH},
    {"text", TEXT, offsetof(struct graft_options, text), PERPLEXITY},
    {"window", NUMBER, offsetof(struct graft_options, window), PERPLEXITY},
    {"host", TEXT, offsetof(struct graft_options, host), SERVE},
    {"port", NUMBER, offsetof(struct graft_options, port), SERVE},
    {"api-key-file", TEXT, offsetof(struct graft_options, api_key_file), SERVE},
    {"cors-origin", TEXT, offsetof(struct graft_options, cors_origin), SERVE},
    {"served-model-name", TEXT, offsetof(struct graft_options, served_model_name), SERVE},
    {"max-running", NUMBER, offsetof(struct graft_options, max_running), SERVE},
    {"max-waiting", NUMBER, offsetof(struct graft_options, max_waiting), SERVE},
    {"max-cache", SIZE, offsetof(struct graft_options, max_cache_bytes), SERVE},
    {"max-body", SIZE, offsetof(struct graft_options, max_body_bytes), SERVE},
    {"sessions", TEXT, offsetof(struct graft_options, sessions), SERVE},
    {"sessions-size", SIZE, offsetof(struct graft_options, sessions_bytes), SERVE},
    {"timeout", NUMBER, offsetof(struct graft_options, timeout), SERVE},
    {"idle-timeout", NUMBER, offsetof(struct graft_options, idle_timeout), SERVE},
    {"html", TEXT, offsetof(struct graft_options, html), PLAN},
    {"diff", TEXT, offsetof(struct graft_options, diff), PLAN},
    {"like", TEXT, offsetof(struct graft_options, like), FAMILY},
    {"output", TEXT, offsetof(struct graft_options, output), SAVE | FAMILY | PACK},
    {"runtime-layout", FLAG, offsetof(struct graft_options, runtime_layout), SAVE},
    {"max-shard-size", SIZE, offsetof(struct graft_options, max_shard_bytes), SAVE},
    {"json", FLAG, offsetof(struct graft_options, json),
     RUN | PLAN | TOKENIZE | LIST | INSPECT | VERIFY | BENCH | PERPLEXITY | VALIDATE | FAMILY},
    {"list", FLAG, offsetof(struct graft_options, list), VALIDATE},
    {"c", FLAG, offsetof(struct graft_options, as_c), INSPECT},
    {"class", TEXT, offsetof(struct graft_options, class_name), NEW},
    {"lang", TEXT, offsetof(struct graft_options, language), NEW},
    {"key", TEXTS, offsetof(struct graft_options, key), PACK | INSTALL},
    {"deb", FLAG, offsetof(struct graft_options, deb), PACK},
    {"installed", FLAG, offsetof(struct graft_options, installed), LIST},
    {"fuzz", NUMBER, offsetof(struct graft_options, fuzz), VALIDATE},
    {"thorough", FLAG, offsetof(struct graft_options, thorough), VALIDATE},
    {"only", TEXTS, offsetof(struct graft_options, only), VALIDATE},
    {"decode", FLAG, offsetof(struct graft_options, decode), TOKENIZE},
    {"classes", FLAG, offsetof(struct graft_options, classes), LIST},
    {"families", FLAG, offsetof(struct graft_options, families), LIST},
    {"version", FLAG, offsetof(struct graft_options, version), EVERY},
    {"help", FLAG, offsetof(struct graft_options, help), EVERY},
    {"list-options", FLAG, offsetof(struct graft_options, list_options), EVERY},
};

static int usage(struct graft_error *error, const char *what, const char *name) {
    (void)graft_error_set(error, GRAFT_ERROR_USAGE, name, "%s", what);
    graft_error_hint(error, "see --help");
    return GRAFT_ERROR_USAGE;
}

enum { GIVEN_BITS = 64 };
_Static_assert(sizeof specs / sizeof specs[0] <= sizeof((struct graft_options *)0)->given * 8, "a bit for each");

/* The state of parsing. */
struct parser {
    int argc;
    char **argv;
    int at;
    struct graft_options *options;
};

/* The option of a name of that length; NULL: there is none. */
static const struct spec *find_name(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        if (strlen(specs[i].name) == length && memcmp(specs[i].name, name, length) == 0) {
            return &specs[i];
        }
    }
    return NULL;
}

/* Finds the option of `argument` ("--name" or "--name=value"). `*value` becomes the text after '=', or NULL. */
static const struct spec *find(const char *argument, const char **value) {
    const char *name = argument + 2;
    size_t length = strcspn(name, "=");
    *value = name[length] == '=' ? name + length + 1 : NULL;
    return find_name(name, length);
}

static int append(struct graft_strings *list, const char *value, const char *argument, struct graft_error *error) {
    if (graft_grow(&list->items, &list->capacity, list->count, sizeof *list->items) != 0) {
        return graft_fail_memory(error, argument);
    }
    list->items[list->count++] = value;
    return GRAFT_OK;
}

static int store(const struct spec *spec, struct graft_options *options, const char *argument, const char *value,
                 struct graft_error *error) {
    void *field = (char *)options + spec->offset;
    struct graft_named_strings *named = field;
    char *end = NULL;
    int status;
    switch (spec->kind) {
    case FLAG:
        *(int *)field = 1;
        return GRAFT_OK;
    case TEXT:
        *(const char **)field = value;
        return GRAFT_OK;
    case TEXTS:
        return append(field, value, argument, error);
    case NAMED_TEXTS:
    case NAMED_TEXT:
        status = append(&named->names, spec->name, argument, error);
        return status == GRAFT_OK ? append(&named->values, value, argument, error) : status;
    case SIZE:
        return graft_size_parse(value, field) == 0 ? GRAFT_OK
                                                   : usage(error, "expected a size such as 500MB or 5GB", argument);
    case FRACTION:
        errno = 0;
        *(double *)field = strtod(value, &end);
        if (errno != 0 || end == value || *end != '\0' || !(*(double *)field >= 0.0 && *(double *)field < 1e6)) {
            return usage(error, "expected a non-negative number below 1000000", argument);
        }
        return GRAFT_OK;
    case NUMBER:
    default:
        errno = 0;
        *(int64_t *)field = strtoll(value, &end, 10);
        if (errno != 0 || end == value || *end != '\0' || *(int64_t *)field < 0) {
            return usage(error, "expected a non-negative number", argument);
        }
        return GRAFT_OK;
    }
}

static int is_given(const struct graft_options *options, const struct spec *spec) {
    size_t i = (size_t)(spec - specs);
    return (int)(options->given[i / GIVEN_BITS] >> i % GIVEN_BITS & 1);
}

/* Whether an option with a single value has been given before. */
static int is_repeated(struct parser *parser, const struct spec *spec) {
    size_t i = (size_t)(spec - specs);
    int repeated =
        is_given(parser->options, spec) && spec->kind != FLAG && spec->kind != TEXTS && spec->kind != NAMED_TEXTS;
    parser->options->given[i / GIVEN_BITS] |= UINT64_C(1) << i % GIVEN_BITS;
    return repeated;
}

/* Sets the error for an option that the command does not take, with a reason if there is one. */
static int misplaced(const struct parser *parser, const struct spec *spec, struct graft_error *error) {
    int is_adapter = spec->offset == offsetof(struct graft_options, adapters) ||
                     spec->offset == offsetof(struct graft_options, adapter_scales);
    return usage(error,
                 is_adapter && parser->options->command == GRAFT_COMMAND_SAVE
                     ? "not an option of save, which writes the model as it was read, without adapters"
                     : "not an option of this command",
                 parser->argv[parser->at]);
}

/* Sets the error for an unknown option, with the most similar option of the command as a hint. */
static int unknown(const struct parser *parser, const char *argument, struct graft_error *error) {
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + strspn(argument, "-"), "="),
                   argument + strspn(argument, "-"));
    struct graft_nearest nearest = {.wanted = name, .prefix = "--"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        if ((specs[i].commands & (int)parser->options->command) != 0) {
            graft_nearest_add(&nearest, specs[i].name);
        }
    }
    (void)graft_error_set(error, GRAFT_ERROR_USAGE, argument, "no such option");
    graft_nearest_hint(&nearest, error);
    graft_error_hint(error, "see --help"); /* ignored after a hint at a similar name */
    return GRAFT_ERROR_USAGE;
}

static int parse_option(struct parser *parser, struct graft_error *error) {
    const char *argument = parser->argv[parser->at];
    const char *value = NULL;
    const struct spec *spec = strncmp(argument, "--", 2) == 0 ? find(argument, &value) : NULL;
    if (spec == NULL && argument[0] != '-') {
        return usage(error, "expected an option: name a model with --model, and give a text with --prompt", argument);
    }
    if (spec == NULL) {
        return unknown(parser, argument, error);
    }
    if ((spec->commands & (int)parser->options->command) == 0) {
        return misplaced(parser, spec, error);
    }
    if (spec->kind == FLAG && value != NULL) {
        return usage(error, "takes no value", argument);
    }
    if (is_repeated(parser, spec)) {
        return usage(error, "given more than once", argument);
    }
    if (spec->kind != FLAG && value == NULL) {
        if (parser->at + 1 >= parser->argc) {
            return usage(error, "expected a value", argument);
        }
        parser->at++;
        value = parser->argv[parser->at];
    }
    if (spec->kind != FLAG && value[0] == '\0' && (spec->commands & PROSE) == 0) {
        return usage(error, "expected a value, got an empty one", argument);
    }
    return store(spec, parser->options, argument, value, error);
}

static int one_of(const char *value, const char *const *choices) {
    for (; *choices != NULL; choices++) {
        if (strcmp(value, *choices) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether the options can make `verify`'s model differ from the original. Kernels and fusion families come from
 * plugins. */
static int changes_model(const struct graft_options *options) {
    return options->plugins_dirs.count > 0 || options->fuse.count > 0 || options->attn_implementation != NULL ||
           options->experts_implementation != NULL || options->against != NULL;
}

/* Checks that `family` has the arguments of its subcommand. */
static int check_family(const struct graft_options *options, struct graft_error *error) {
    static const char *const words[] = {"choices", "new", "show", NULL};
    if (options->subject == NULL || !one_of(options->subject, words)) {
        return usage(error, "expected choices, new or show", "family");
    }
    const int takes_one = strcmp(options->subject, "choices") != 0;
    const int is_new = strcmp(options->subject, "new") == 0;
    if (options->files.count != (size_t)takes_one) {
        return usage(error,
                     !takes_one ? "takes nothing more"
                     : is_new   ? "expected one model directory"
                                : "expected one model type",
                     options->subject);
    }
    if (!is_new && (options->like != NULL || options->output != NULL)) {
        return usage(error, "is for `family new`", options->like != NULL ? "--like" : "--output");
    }
    return options->json && takes_one ? usage(error, "is for `family choices`", "--json") : GRAFT_OK;
}

/* Checks options that the command requires. */
static int check_command(const struct graft_options *options, struct graft_error *error) {
    if (options->command == GRAFT_COMMAND_INSPECT && options->subject == NULL) {
        return usage(error, "expected a plugin file or a class", "inspect");
    }
    if (options->as_c && (options->json || graft_options_name_file(options))) {
        return usage(error, "prints a class as the C to begin with: not with --json, nor of a plugin's file", "--c");
    }
    if (options->command == GRAFT_COMMAND_VALIDATE && options->subject == NULL && !options->list) {
        return usage(error, "expected a plugin file", "validate");
    }
    if (options->command == GRAFT_COMMAND_TRY && options->files.count == 0) {
        return usage(error, "expected plugin files", "try");
    }
    if (options->command == GRAFT_COMMAND_FAMILY) {
        return check_family(options, error);
    }
    if (options->model == NULL &&
        (options->command & (LIST | INSPECT | TRY | VALIDATE | NEW | PACK | INSTALL | REMOVE | COMPARE_HF)) == 0) {
        return usage(error, "missing, expected a model directory", "--model");
    }
    if (options->classes + options->families + options->installed > 1) {
        return usage(error, "use only one of --classes, --families and --installed", "list");
    }
    if (options->command == GRAFT_COMMAND_LIST && !options->classes && !options->families && !options->installed &&
        options->plugins_dirs.count == 0) {
        return usage(error, "expected --plugins-dir, --classes, --families or --installed", "list");
    }
    if (options->command == GRAFT_COMMAND_VERIFY && !changes_model(options)) {
        return usage(error,
                     "nothing to compare: expected --plugins-dir, --fuse, --attn-implementation, "
                     "--experts-implementation or --against",
                     "verify");
    }
    if (options->command == GRAFT_COMMAND_VERIFY && options->adapters.count > 0 && options->against == NULL) {
        return usage(error, "needs --against: an adapter makes the model differ from its original in any case",
                     "--adapter");
    }
    return GRAFT_OK;
}

/* Checks options that require others, or that a command restricts. */
static int check_needs(const struct graft_options *options, struct graft_error *error) {
    if (options->plugins != NULL && options->plugins_dirs.count == 0) {
        return usage(error, "needs --plugins-dir, which says where the plugins are", "--plugins");
    }
    if (options->enabled.count > 0 && options->plugins_dirs.count == 0) {
        return usage(error, "needs --plugins-dir, which says where the plugins are", "--enable");
    }
    if (options->enabled.count > 0 && (options->plugins != NULL || options->no_plugins)) {
        return usage(error, "cannot be combined with --plugins or --no-plugins, which leave out all others",
                     "--enable");
    }
    if (options->plugins != NULL && options->command == GRAFT_COMMAND_INSPECT && graft_options_name_file(options)) {
        return usage(
            error, "cannot be combined with a plugin's file, which takes precedence over all plugins of --plugins-dir",
            "--plugins");
    }
    if (options->plugin_options.count > 0 && options->plugins_dirs.count == 0 && !graft_options_name_file(options)) {
        return usage(error, "needs --plugins-dir, which says where the plugins are", "--plugin-option");
    }
    if (options->command == GRAFT_COMMAND_VALIDATE && options->plugins_dirs.count > 0 && options->model == NULL) {
        return usage(error, "needs --model: the plugins there are loaded for the type or parts of that model",
                     "--plugins-dir");
    }
    if (options->command == GRAFT_COMMAND_SAVE && options->output == NULL) {
        return usage(error, "missing, expected an output directory", "--output");
    }
    if (options->command == GRAFT_COMMAND_PERPLEXITY && options->text == NULL) {
        return usage(error, "missing, expected a text file", "--text");
    }
    return GRAFT_OK;
}

/* Checks values, and options that exclude each other. */
static int check_values(const struct graft_options *options, struct graft_error *error) {
    static const char *const dtypes[] = {"auto", "float32", "bfloat16", NULL};
    static const char *const reports[] = {"text", "full", "json", "none", NULL};
    if (options->window >= 0 && options->window < 2) {
        return usage(error, "expected 2 or more: the first token of a window is not predicted", "--window");
    }
    if (options->fusion.count > 0 && options->fusion_config != NULL) {
        return usage(error, "use only one of them", "--fusion and --fusion-config");
    }
    if (options->quantize != NULL && options->dequantize) {
        return usage(error, "use only one of them", "--quantize and --dequantize");
    }
    if (options->patch != NULL && (options->quantize != NULL || options->dequantize)) {
        return usage(error,
                     "says how the files' own tensors are read, so it cannot be combined with --quantize or "
                     "--dequantize",
                     "--patch");
    }
    if (!one_of(options->dtype, dtypes)) {
        return usage(error, "expected auto, float32 or bfloat16", "--dtype");
    }
    if (!one_of(options->kv_cache_dtype, dtypes)) {
        return usage(error, "expected auto, float32 or bfloat16", "--kv-cache-dtype");
    }
    if (!one_of(options->report, reports)) {
        return usage(error, "expected text, full, json or none", "--report");
    }
    const int n_raw = options->prompts.count + options->prompt_files.count + options->input_ids.count > 0;
    const int has_messages = options->system != NULL || options->messages != NULL || options->message.count > 0;
    if (n_raw && has_messages) {
        return usage(error, "cannot be combined with --prompt, --prompt-file and --input-ids, which are not messages",
                     options->system != NULL     ? "--system"
                     : options->messages != NULL ? "--messages"
                                                 : "--message");
    }
    if (options->command == GRAFT_COMMAND_RUN && options->system != NULL && options->messages == NULL &&
        options->message.count == 0) {
        return usage(error, "needs messages: --message user:TEXT, or --messages FILE", "--system");
    }
    if (options->command == GRAFT_COMMAND_RUN && !has_messages &&
        (options->tools != NULL || options->template_variables.count > 0)) {
        return usage(error, "needs messages: --message user:TEXT, or --messages FILE",
                     options->tools != NULL ? "--tools" : "--template-variable");
    }
    if (options->diff != NULL && options->json) {
        return usage(error, "use only one of them: a comparison is text", "--diff and --json");
    }
    if (options->logprobs >= 0 && !options->json) {
        return usage(error, "needs --json", "--logprobs");
    }
    if (options->logprobs > GRAFT_MAX_LOGPROBS) {
        return usage(error, "expected at most 1000", "--logprobs");
    }
    if (options->top_p == 0.0 || options->top_p > 1.0) {
        return usage(error, "expected more than 0 and at most 1", "--top-p");
    }
    if (options->repetition_penalty == 0.0) {
        return usage(error, "expected more than 0", "--repetition-penalty");
    }
    return GRAFT_OK;
}

static int check(const struct graft_options *options, struct graft_error *error) {
    if (options->help || options->version || options->list_options) {
        return GRAFT_OK;
    }
    int status = check_command(options, error);
    if (status == GRAFT_OK) {
        status = check_needs(options, error);
    }
    return status == GRAFT_OK ? check_values(options, error) : status;
}

static int records(const struct graft_options *options) {
    return options->hidden_states != NULL || options->attentions != NULL || options->router_logits != NULL ||
           options->module_outputs != NULL;
}

/* Checks that --check-finite and --trace are not combined with options that they exclude, as both hook the model's
 * modules. */
static int check_watch(const struct graft_options *options, struct graft_error *error) {
    const char *name = options->check_finite ? "--check-finite" : "--trace";
    if (!options->check_finite && options->trace == NULL) {
        return GRAFT_OK;
    }
    if (records(options)) {
        return usage(error, "cannot be combined with options that record something else: use it in a run of its own",
                     name);
    }
    return options->fuse.count > 0
               ? usage(error, "observes modules one by one, so it cannot be combined with --fuse", name)
               : GRAFT_OK;
}

static int check_parallel(const struct graft_options *options, struct graft_error *error) {
    if (options->parallel == NULL || options->help || options->version || options->list_options) {
        return GRAFT_OK;
    }
    if (options->plugins_dirs.count == 0) {
        return usage(error, "needs --plugins-dir, which says where the plugins are", "--parallel");
    }
    if (options->lock != NULL) {
        return usage(error, "takes no --lock: each process has a plan of its own", "--parallel");
    }
    if (records(options)) {
        return usage(error, "records nothing: each process has a part of the model", "--parallel");
    }
    return GRAFT_OK;
}

enum { MAX_TOKENS = 1 << 20, MAX_REPEATS = 10000, MAX_SEQUENCES = 64 };

/* Checks the numbers of `bench` and `serve`, which have the same defaults for all other commands. */
static int check_ranges(const struct graft_options *options, struct graft_error *error) {
    const struct {
        const char *name;
        int64_t value, minimum, maximum;
    } ranges[] = {{"--prompt-tokens", options->prompt_tokens < 0 ? 1 : options->prompt_tokens, 1, MAX_TOKENS},
                  {"--new-tokens", options->new_tokens, 1, MAX_TOKENS},
                  {"--repeat", options->repeat, 1, MAX_REPEATS},
                  {"--sequences", options->sequences, 1, MAX_SEQUENCES},
                  {"--port", options->port < 0 ? 0 : options->port, 0, UINT16_MAX}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (ranges[i].value < ranges[i].minimum || ranges[i].value > ranges[i].maximum) {
            (void)graft_error_set(error, GRAFT_ERROR_USAGE, ranges[i].name, "expected %lld to %lld",
                                  (long long)ranges[i].minimum, (long long)ranges[i].maximum);
            graft_error_hint(error, "see --help");
            return GRAFT_ERROR_USAGE;
        }
    }
    return options->compare != NULL && options->json
               ? usage(error, "use only one of them: a comparison is text", "--compare and --json")
               : GRAFT_OK;
}

/* Reads the command from the first word, if that is not an option. `help COMMAND` is `COMMAND --help`. */
static int parse_command(struct parser *parser, struct graft_error *error) {
    struct graft_options *options = parser->options;
    if (parser->argc < 2 || parser->argv[1][0] == '-' || parser->argv[1][0] == '\0') {
        return GRAFT_OK;
    }
    const int helps = strcmp(parser->argv[1], "help") == 0;
    const char *word = helps && parser->argc > 2 ? parser->argv[2] : parser->argv[1];
    options->is_named = graft_command_find(word, &options->command);
    options->help = helps;
    parser->at = helps ? parser->argc : 2;
    return options->is_named || strcmp(word, "help") == 0 ? GRAFT_OK : graft_command_unknown(word, error);
}

int graft_options_parse(int argc, char **argv, struct graft_options *options, struct graft_error *error) {
    struct parser parser = {.argc = argc, .argv = argv, .at = 1, .options = options};
    *options = (struct graft_options){
        .command = GRAFT_COMMAND_RUN,
        .kv_cache_dtype = "auto",
        .max_new_tokens = -1,
        .temperature = -1.0,
        .top_p = -1.0,
        .repetition_penalty = -1.0,
        .logprobs = -1,
        .top_k = -1,
        .seed = -1,
        .speculate = -1,
        .tolerance = -1.0,
        .prompt_tokens = -1,
        .new_tokens = 32,
        .repeat = 3,
        .sequences = 1,
        .window = -1,
        .port = -1,
    };
    int status = parse_command(&parser, error);
    if (options->command == GRAFT_COMMAND_COMPARE_HF && !(argc == 3 && strcmp(argv[2], "--list-options") == 0)) {
        options->arguments = (const char *const *)argv + parser.at; /* the script's */
        parser.at = argc;
    }
    for (; status == GRAFT_OK && parser.at < argc; parser.at++) {
        int is_word = argv[parser.at][0] != '-';
        if (argv[parser.at][0] == '\0') {
            status = usage(error, "expected arguments that are not empty, got an empty one", "arguments");
        } else if ((options->command & (INSPECT | VALIDATE | FAMILY | NEW | PACK | INSTALL | REMOVE)) != 0 &&
                   options->subject == NULL && is_word) {
            options->subject = argv[parser.at];
        } else if ((options->command & (TRY | FAMILY | NEW)) != 0 && is_word) {
            status = append(&options->files, argv[parser.at], argv[parser.at], error);
        } else {
            status = parse_option(&parser, error);
        }
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (options->report == NULL) {
        options->report = options->command == GRAFT_COMMAND_CHAT ? "none" : "text";
    }
    if (options->dtype == NULL) {
        options->dtype = options->command == GRAFT_COMMAND_VERIFY ? "float32" : "auto";
    }
    status = check(options, error);
    if (status == GRAFT_OK) {
        status = check_parallel(options, error);
    }
    if (status == GRAFT_OK) {
        status = check_watch(options, error);
    }
    return status == GRAFT_OK ? check_ranges(options, error) : status;
}

int graft_options_add_prompt_file(struct graft_options *options, const char *path, struct graft_error *error) {
    return append(&options->prompt_files, path, "--prompt-file", error);
}

int graft_options_name_file(const struct graft_options *options) {
    const char *subject = options->subject;
    return subject != NULL && (strchr(subject, '/') != NULL || graft_ends_with(subject, ".so") ||
                               graft_ends_with(subject, ".family.json"));
}

void graft_options_print(enum graft_command command) {
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        if ((specs[i].commands & (int)command) != 0 &&
            specs[i].offset != offsetof(struct graft_options, list_options)) {
            (void)printf("--%s%s\n", specs[i].name, specs[i].kind == FLAG ? "" : " VALUE");
        }
    }
}

int graft_options_take(enum graft_command command, const char *line) {
    const char *name = line + strspn(line, "-");
    const struct spec *spec = find_name(name, strcspn(name, " ,\n"));
    return spec != NULL && (spec->commands & (int)command) != 0;
}

static void add_list(const struct graft_strings *list, const char *name, struct graft_text *text) {
    for (size_t i = 0; i < list->count; i++) {
        graft_text_printf(text, "--%s\t%s\n", name, list->items[i]);
    }
}

static void add_named(const struct graft_named_strings *list, const char *name, struct graft_text *text) {
    for (size_t i = 0; i < list->names.count; i++) {
        if (strcmp(list->names.items[i], name) == 0) {
            graft_text_printf(text, "--%s\t%s\n", name, list->values.items[i]);
        }
    }
}

/* Adds the option's number to the text; a negative one means that the option was not given. */
static void add_number(const char *name, int64_t number, struct graft_text *text) {
    if (number < 0) {
        graft_text_printf(text, "--%s\tnot given\n", name);
    } else {
        graft_text_printf(text, "--%s\t%lld\n", name, (long long)number);
    }
}

static void add_value(const struct spec *spec, const struct graft_options *options, struct graft_text *text) {
    const void *field = (const char *)options + spec->offset;
    const char *const *string = field;
    switch (spec->kind) {
    case FLAG:
        graft_text_printf(text, "--%s\t%d\n", spec->name, *(const int *)field);
        return;
    case TEXT:
        graft_text_printf(text, "--%s\t%s\n", spec->name, *string != NULL ? *string : "");
        return;
    case TEXTS:
        add_list(field, spec->name, text);
        return;
    case NAMED_TEXTS:
    case NAMED_TEXT:
        add_named(field, spec->name, text);
        return;
    case FRACTION:
        graft_text_printf(text, "--%s\t%.17g\n", spec->name, *(const double *)field);
        return;
    case SIZE:
    case NUMBER:
    default:
        add_number(spec->name, *(const int64_t *)field, text);
    }
}

/* Whether an option may differ between processes: paths of files, and the number of threads, differ between
 * machines. */
static int is_own(const struct spec *spec) {
    static const char *const own[] = {"model", "plugins-dir", "prompt-file", "messages", "tools", "patch",
                                      "text",  "threads",     "report",      "quiet",    NULL};
    return one_of(spec->name, own);
}

void graft_options_shared(const struct graft_options *options, struct graft_text *text) {
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        if (!is_own(&specs[i])) {
            add_value(&specs[i], options, text);
        }
    }
}

static graft_json *strings_json(const struct graft_strings *list) {
    struct graft_writer writer = {0};
    return graft_writer_strings(&writer, list->items, (int32_t)list->count);
}

graft_json *graft_options_locked(const struct graft_options *options) {
    graft_json *locked = graft_json_new_object();
    int failed = locked == NULL;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        const struct spec *spec = &specs[i];
        const void *field = (const char *)options + spec->offset;
        char name[32];
        if ((spec->commands & LOCKED) == 0 || !is_given(options, spec)) {
            continue;
        }
        (void)snprintf(name, sizeof name, "--%s", spec->name);
        failed |= graft_json_set_take(locked, name,
                                      spec->kind == FLAG   ? graft_json_new_bool(1)
                                      : spec->kind == TEXT ? graft_json_new_string(*(const char *const *)field)
                                                           : strings_json(field)) != 0;
    }
    if (failed) {
        graft_json_free(locked);
        return NULL;
    }
    return locked;
}

void graft_options_finish(struct graft_options *options) {
    graft_text_free(&options->standard_input);
    graft_free(options->found_model);
    graft_free(options->found_against);
    graft_free(options->files.items);
    graft_free(options->plugins_dirs.items);
    graft_free(options->enabled.items);
    graft_free(options->plugin_options.items);
    graft_free(options->fusion.items);
    graft_free(options->fuse.items);
    graft_free(options->adapters.items);
    graft_free(options->ignored_fields.items);
    graft_free(options->adapter_scales.items);
    graft_free(options->images.values.items);
    graft_free(options->images.names.items);
    graft_free(options->generation.values.items);
    graft_free(options->generation.names.items);
    graft_free(options->stop_strings.items);
    graft_free(options->logits_processors.items);
    graft_free(options->prompts.items);
    graft_free(options->prompt_files.items);
    graft_free(options->input_ids.items);
    graft_free(options->message.items);
    graft_free(options->template_variables.items);
    graft_free(options->prompt_adapters.items);
    graft_free(options->token_type_ids.items);
    graft_free(options->text_pairs.items);
    graft_free(options->only.items);
    graft_free(options->key.items);
}

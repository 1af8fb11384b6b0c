/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: docs/cli.md says what each option means. */
#ifndef GRAFT_CLI_OPTIONS_H
#define GRAFT_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/host/tokenizer.h"

enum graft_command {
    GRAFT_COMMAND_RUN = 1,
    GRAFT_COMMAND_PLAN = 2,
    GRAFT_COMMAND_TOKENIZE = 4,
    GRAFT_COMMAND_LIST = 8,
    GRAFT_COMMAND_INSPECT = 16,
    GRAFT_COMMAND_VERIFY = 32,
    GRAFT_COMMAND_BENCH = 64,
    GRAFT_COMMAND_SAVE = 128,
    GRAFT_COMMAND_PERPLEXITY = 256,
    GRAFT_COMMAND_TRY = 512,
    GRAFT_COMMAND_VALIDATE = 1024,
    GRAFT_COMMAND_CHAT = 2048,
    GRAFT_COMMAND_FAMILY = 4096,
    GRAFT_COMMAND_SERVE = 8192,
    GRAFT_COMMAND_NEW = 16384,
    GRAFT_COMMAND_PACK = 32768,
    GRAFT_COMMAND_INSTALL = 65536,
    GRAFT_COMMAND_REMOVE = 131072,
    GRAFT_COMMAND_COMPARE_HF = 262144
};

/* A repeatable option's values, in order; they point into argv. */
struct graft_strings {
    const char **items;
    size_t count;
    size_t capacity;
};

/* Values of several options in the order given, and each one's option, without the dashes. */
struct graft_named_strings {
    struct graft_strings values;
    struct graft_strings names;
};

enum { GRAFT_MAX_LOGPROBS = 1000 };

struct graft_lock;

struct graft_options {
    enum graft_command command;
    uint64_t given[4];   /* a bit for each option that was there, in the order of options.c */
    const char *subject; /* word after the command: a file or class for `inspect`, a file for `validate`, a subcommand
                            for `family` and `new`, a folder for `pack`, a package for `install`, an id for `remove` */
    struct graft_strings files; /* words after `try`; for `family` a directory or a model type, for `new` a folder */
    int is_named;               /* 1: the command was named, not left out */
    int help;
    int version;
    int list_options;

    const char *model;   /* a directory or a repository; once it was found (graft_setup_find_models), a directory */
    char *found_model;   /* the directory that `model` means; NULL: not found yet */
    char *found_against; /* likewise, `against` */
    struct graft_strings plugins_dirs;
    const char *plugins; /* "ID,ID", or NULL */
    struct graft_strings enabled;
    int no_plugins;
    int skip_bad_plugins;
    int rescan;
    const char *lock;          /* a file; or NULL */
    struct graft_lock *locked; /* content of the lock (cli/lock/lock.h); NULL: the file does not exist yet */
    int sha256;
    struct graft_strings plugin_options; /* "ID.NAME=VALUE" each */
    struct graft_strings fusion;         /* names of families */
    const char *fusion_config;           /* JSON, or NULL */
    const char *patch;                   /* a file, or NULL */
    struct graft_strings adapters;       /* "NAME=DIR" or "DIR" each */
    struct graft_strings adapter_scales; /* "NAME=NUMBER" each */
    struct graft_strings fuse;           /* "GLOB,GLOB" each */
    const char *attn_implementation;     /* NULL: the default; likewise: */
    const char *experts_implementation;
    const char *kernels; /* "NAME,NAME", or NULL */
    int64_t threads;     /* 0: all */
    const char *dtype;   /* "auto" unless given, for `verify` "float32" */
    const char *kv_cache_dtype;
    const char *quantize; /* "int4:32"; NULL: weights stay as they are */
    int dequantize;
    const char *parallel; /* the plugin that connects processes; NULL: there is one */
    int strict;
    struct graft_strings ignored_fields; /* paths of fields */
    const char *report;
    int quiet;

    struct graft_strings prompts;
    struct graft_strings prompt_files;
    struct graft_text standard_input; /* text of standard input, if it is a prompt (cli/standard_input.h) */
    struct graft_strings input_ids;
    const char *system;                      /* for a conversation, with the next; or NULL */
    const char *messages;                    /* a file */
    struct graft_strings message;            /* "ROLE:TEXT" each */
    const char *tools;                       /* a file */
    struct graft_strings template_variables; /* "NAME=JSON" each */
    struct graft_strings prompt_adapters;    /* a name for each prompt; or none */
    struct graft_named_strings images;       /* of --image and --video */
    const char *pixel_values;                /* a safetensors file; or NULL */
    struct graft_strings token_type_ids;     /* for encoders, with the next */
    struct graft_strings text_pairs;
    int lines;
    int pairs;
    int embed;
    int64_t max_new_tokens; /* -1: as the model says */
    double temperature;     /* -1: as the model says; likewise below */
    double top_p;
    double repetition_penalty;
    int64_t top_k;
    int64_t seed;
    int64_t speculate;                     /* -1: as the model says */
    struct graft_named_strings generation; /* options for the other fields of generation_config.json */
    struct graft_strings stop_strings;
    struct graft_strings logits_processors;
    const char *session;     /* a file; or NULL */
    const char *json_schema; /* a file, as the following; or NULL */
    const char *grammar;
    const char *logits;
    const char *hidden_states; /* output files, with the next; or NULL */
    const char *attentions;
    const char *router_logits;
    const char *module_outputs;
    const char *trace; /* a file; or NULL */
    int check_finite;
    int output_ids;
    int keep_special_tokens;
    int64_t logprobs; /* --logprobs: how many alternatives to print for each token; -1: print no probabilities */
    int no_special_tokens;

    const char *against;   /* for `verify`, with the next; NULL: the model without replacements */
    double tolerance;      /* -1: the default */
    int64_t prompt_tokens; /* for `bench`, with the next; -1: the default */
    int64_t new_tokens;
    int64_t repeat;
    int64_t sequences;
    const char *compare; /* a document of `bench --json`; or NULL */
    int modules;

    const char *text; /* for `perplexity`, with the next */
    int64_t window;   /* -1: the usual one */

    const char *host; /* for `serve`, with the next; NULL: the default */
    int64_t port;     /* -1: the usual one */
    const char *api_key_file;
    const char *cors_origin;
    const char *served_model_name;
    int64_t max_running; /* 0: as usual, likewise below */
    int64_t max_waiting;
    int64_t max_cache_bytes;
    int64_t max_body_bytes;
    const char *sessions; /* a folder; NULL: none */
    int64_t sessions_bytes;
    int64_t timeout;
    int64_t idle_timeout;

    const char *html; /* for `plan`: where the page goes; or NULL */
    const char *diff; /* for `plan`: an earlier document of `plan --json`; or NULL */

    const char *like; /* for `family`: a model type; or NULL */

    const char *output; /* for `save` and `family`, with the next */
    int runtime_layout;
    int64_t max_shard_bytes; /* 0: the default size */

    int json;
    int list;                     /* for `validate`: list the checks */
    int64_t fuzz;                 /* for `validate`: number of models of random sizes */
    int thorough;                 /* for `validate`: let every allocation fail */
    struct graft_strings only;    /* for `validate`: names of checks and groups; empty: all */
    int as_c;                     /* for `inspect`: print a class as C source */
    const char *class_name;       /* for `new`: the class to replace; or NULL */
    const char *language;         /* for `new`; NULL: C */
    struct graft_strings key;     /* for `pack` and `install`: files of keys */
    int deb;                      /* for `pack`: make a Debian package */
    int installed;                /* for `list`: list installed packages */
    const char *const *arguments; /* for `compare-hf`: arguments of its script, NULL-terminated */
    int decode;
    int classes;
    int families;
};

/* Parses the command line. The caller finishes the result, also after an error (GRAFT_ERROR_USAGE). */
int graft_options_parse(int argc, char **argv, struct graft_options *options, struct graft_error *error);
void graft_options_finish(struct graft_options *options);

/* Adds a value of --prompt-file, which outlives the options. */
int graft_options_add_prompt_file(struct graft_options *options, const char *path, struct graft_error *error);

/* Writes as text the options that must be the same in all processes that run one model: all except paths of files,
 * --threads, and those for reports. */
void graft_options_shared(const struct graft_options *options, struct graft_text *text);

/* The given options that decide how a model is built, for locks: {"--dtype": "float32", "--fuse": ["GLOB,GLOB"],
 * "--strict": true}. The caller frees it; NULL if memory ran out. */
struct json_t *graft_options_locked(const struct graft_options *options);

/* Whether `inspect` is given a plugin's file, not a class. */
int graft_options_name_file(const struct graft_options *options);

/* Prints the options of a command to stdout, for shell completions: one a line, as "--prompt VALUE" if it takes a
 * value. */
void graft_options_print(enum graft_command command);

/* Whether a command takes the option at the start of `line`, a line of --help: "--model DIR   a directory ...". */
int graft_options_take(enum graft_command command, const char *line);

/* Prints the text of --help to stdout: of a named command what is about that command. */
void graft_usage_print(const struct graft_options *options);

#endif

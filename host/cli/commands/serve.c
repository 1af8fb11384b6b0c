/* SPDX-License-Identifier: Apache-2.0 */
/* `serve`: runs the library's server with the options of the command line. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "cli/chat.h"
#include "cli/commands/commands.h"
#include "cli/commands/serve.h"
#include "cli/open_tokenizer.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "graft/host/serve.h"

enum { USUAL_PORT = 8000, MAX_KEY_FILE = 1 << 20 };

/* Objects that are freed when the server has ended. */
struct serving {
    struct graft_tokenizer *tokenizer;
    struct graft_chat_template *chat;
    struct graft_adapter_options *adapters;
    const char **adapter_names;
    char *keys_text;
    const char **keys;
    size_t n_keys;
    size_t keys_capacity;
    char *name;
};

static struct graft_server *running;

static void stop(int number) {
    (void)number;
    graft_server_stop(running);
}

static void catch (void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
}

/* Reads the API keys, one a line. Empty lines and lines that begin with '#' are ignored. */
static int read_keys(const struct graft_options *options, struct serving *serving, struct graft_error *error) {
    const char *file = options->api_key_file;
    size_t length = 0;
    if (file == NULL) {
        return GRAFT_OK;
    }
    int status = graft_file_read(file, MAX_KEY_FILE, GRAFT_ERROR_IO, &serving->keys_text, &length, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (strlen(serving->keys_text) != length) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, file, "expected lines of text, got a NUL byte");
    }
    for (char *line = serving->keys_text; line != NULL && *line != '\0';) {
        char *next = strchr(line, '\n');
        const size_t n = next != NULL ? (size_t)(next - line) : strlen(line);
        if (next != NULL) {
            *next++ = '\0';
        }
        line[n > 0 && line[n - 1] == '\r' ? n - 1 : n] = '\0';
        if (line[0] != '\0' && line[0] != '#') {
            if (graft_grow(&serving->keys, &serving->keys_capacity, serving->n_keys, sizeof *serving->keys) != 0) {
                return graft_fail_memory(error, file);
            }
            serving->keys[serving->n_keys++] = line;
        }
        line = next;
    }
    return serving->n_keys > 0 ? GRAFT_OK
                               : graft_error_set(error, GRAFT_ERROR_USAGE, file, "expected a key on a line, got none");
}

static int read_adapters(const struct graft_options *options, struct serving *serving, struct graft_error *error) {
    const size_t n = options->adapters.count;
    int status = graft_setup_adapters(options, &serving->adapters, error);
    serving->adapter_names = status == GRAFT_OK ? graft_alloc(n, sizeof *serving->adapter_names) : NULL;
    if (status == GRAFT_OK && serving->adapter_names == NULL) {
        return graft_fail_memory(error, "--adapter");
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        serving->adapter_names[i] = serving->adapters[i].name;
    }
    return status;
}

/* The name that clients use: --served-model-name, or the last part of the model directory's path. */
static int find_name(const struct graft_options *options, struct serving *serving, struct graft_error *error) {
    const char *path = options->served_model_name != NULL ? options->served_model_name : options->model;
    size_t end = strlen(path);
    size_t start = 0;
    if (options->served_model_name == NULL) {
        while (end > 1 && path[end - 1] == '/') {
            end--;
        }
        for (size_t i = 0; i + 1 < end; i++) {
            start = path[i] == '/' ? i + 1 : start;
        }
    }
    serving->name = graft_strndup(path + start, end - start);
    return serving->name != NULL ? GRAFT_OK : graft_fail_memory(error, "serve");
}

static int prepare(const struct graft_options *options, struct serving *serving, struct graft_error *error) {
    const struct graft_tokenizer_options wanted = {sizeof wanted, (int32_t)options->ignored_fields.count,
                                                   options->ignored_fields.items};
    int status = find_name(options, serving, error);
    if (status == GRAFT_OK) {
        status = read_keys(options, serving, error);
    }
    if (status == GRAFT_OK) {
        status = read_adapters(options, serving, error);
    }
    if (status == GRAFT_OK) {
        status = graft_open_tokenizer(options, &serving->tokenizer, error);
    }
    return status == GRAFT_OK
               ? graft_chat_template_load(options->model, serving->tokenizer, &wanted, &serving->chat, error)
               : status;
}

static int number(int64_t value, const char *option, int32_t *to, struct graft_error *error) {
    *to = (int32_t)value;
    return value <= INT32_MAX / 2 ? GRAFT_OK : graft_error_set(error, GRAFT_ERROR_USAGE, option, "is too large");
}

static void print_note(void *data, const char *note) {
    (void)data;
    graft_output_line(stderr, "note: %s", note);
}

/* Creates the folder of --sessions, readable only by the user, since it reveals what others have asked. */
static int make_sessions(const struct graft_options *options, struct graft_error *error) {
    if (options->sessions == NULL) {
        return options->sessions_bytes == 0
                   ? GRAFT_OK
                   : graft_error_set(error, GRAFT_ERROR_USAGE, "--sessions-size", "needs --sessions DIR");
    }
    return mkdir(options->sessions, 0700) == 0 || errno == EEXIST
               ? GRAFT_OK
               : graft_fail_errno(error, GRAFT_ERROR_IO, options->sessions, "cannot be created", errno);
}

static int fill_in(const struct graft_options *options, const struct serving *serving,
                   struct graft_server_options *wanted, struct graft_error *error) {
    const struct {
        int64_t value;
        const char *option;
        int32_t *to;
    } numbers[] = {
        {options->port >= 0 ? options->port : USUAL_PORT, "--port", &wanted->port},
        {options->max_running, "--max-running", &wanted->max_running},
        {options->max_waiting, "--max-waiting", &wanted->max_waiting},
        {options->timeout, "--timeout", &wanted->timeout_seconds},
        {options->idle_timeout, "--idle-timeout", &wanted->idle_seconds},
    };
    int fd = -1;
    int status = make_sessions(options, error);
    if (status == GRAFT_OK) {
        status = graft_serve_socket(&fd, error);
    }
    wanted->address = options->host;
    wanted->has_listening = fd >= 0;
    wanted->listening = fd;
    wanted->name = serving->name;
    wanted->adapters = serving->adapter_names;
    wanted->n_adapters = options->adapters.count;
    wanted->keys = serving->keys;
    wanted->n_keys = serving->n_keys;
    wanted->cors_origin = options->cors_origin;
    wanted->max_cache_bytes = options->max_cache_bytes;
    wanted->max_body_bytes = options->max_body_bytes;
    wanted->session_folder = options->sessions;
    wanted->session_bytes = options->sessions_bytes;
    wanted->on_note = print_note;
    wanted->max_new_tokens = options->max_new_tokens > 0 ? options->max_new_tokens : 0;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == GRAFT_OK; i++) {
        status = number(numbers[i].value, numbers[i].option, numbers[i].to, error);
    }
    return status;
}

/* Prints the address. If other machines can reach it and no key is required, a note says so. */
static void say_where(const struct graft_options *options, const struct serving *serving,
                      const struct graft_server *server) {
    const char *address = options->host != NULL ? options->host : "127.0.0.1";
    const int is_six = strchr(address, ':') != NULL;
    if (options->host != NULL && serving->n_keys == 0 && strncmp(address, "127.", 4) != 0 &&
        strcmp(address, "localhost") != 0 && strcmp(address, "::1") != 0) {
        graft_output_line(stderr, "note: whoever reaches %s may use the model; --api-key-file asks for a key", address);
    }
    graft_output_line(stderr, "serving %s at http://%s%s%s:%d", serving->name, is_six ? "[" : "", address,
                      is_six ? "]" : "", (int)graft_server_port(server));
}

static int serve(const struct graft_options *options, struct graft_model *model, const struct serving *serving,
                 struct graft_error *error) {
    struct graft_server_options wanted = {.struct_size = sizeof wanted};
    struct graft_server *server = NULL;
    int status = fill_in(options, serving, &wanted, error);
    if (status == GRAFT_OK) {
        status = graft_server_create(model, serving->tokenizer, serving->chat, &wanted, &server, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    running = server;
    catch (stop);
    say_where(options, serving, server);
    graft_serve_notify("READY=1");
    status = graft_server_run(server, error);
    graft_serve_notify("STOPPING=1");
    catch (SIG_DFL);
    graft_server_free(server);
    return status;
}

int graft_command_serve(const struct graft_options *options, struct graft_model *model, struct graft_error *error) {
    struct serving serving = {0};
    int status = prepare(options, &serving, error);
    if (status == GRAFT_OK) {
        status = serve(options, model, &serving, error);
    }
    graft_chat_template_free(serving.chat);
    graft_tokenizer_free(serving.tokenizer);
    graft_setup_adapters_free(serving.adapters, options->adapters.count);
    graft_free(serving.adapter_names);
    graft_free(serving.keys);
    graft_free(serving.keys_text);
    graft_free(serving.name);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/package/signature.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "cli/options.h"

#ifdef GRAFT_HAS_SODIUM

#include <sodium.h>

#include "base/base64.h"

enum { MAX_BYTES = 1 << 16, KEY_ID = 8 };

/* A public key, as its file has it after the comment: base64 of this. */
struct public_key {
    unsigned char algorithm[2]; /* "Ed" */
    unsigned char id[KEY_ID];
    unsigned char key[crypto_sign_PUBLICKEYBYTES];
};

struct secret_key {
    unsigned char algorithm[2]; /* "Ed" */
    unsigned char kdf[2];       /* zeros: there is no password */
    unsigned char checksum_algorithm[2];
    unsigned char salt[32];
    unsigned char limits[16];
    unsigned char id[KEY_ID];
    unsigned char key[crypto_sign_SECRETKEYBYTES];
    unsigned char checksum[32];
};

struct signature {
    unsigned char algorithm[2]; /* "ED": of the BLAKE2b hash of the content */
    unsigned char id[KEY_ID];
    unsigned char bytes[crypto_sign_BYTES];
};

static const char comment_start[] = "trusted comment: ";

/* The lines of a small file, cut in place. */
struct lines {
    char *text;
    const char *line[4]; /* "" for those that it lacks */
};

static int read_lines(const char *path, struct lines *lines, struct graft_error *error) {
    size_t length = 0;
    *lines = (struct lines){NULL, {"", "", "", ""}};
    int status = graft_file_read(path, MAX_BYTES, GRAFT_ERROR_IO, &lines->text, &length, error);
    char *at = lines->text;
    for (size_t i = 0; status == GRAFT_OK && i < 4 && at != NULL; i++) {
        char *end = strchr(at, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        lines->line[i] = at;
        at = end != NULL ? end + 1 : NULL;
    }
    return status;
}

/* Decodes base64 into `size` bytes. Returns 0, or -1 if the line is not base64 of that size. */
static int decode(const char *line, void *to, size_t size) {
    struct graft_text bytes = {0};
    size_t length = strlen(line);
    length -= length > 0 && line[length - 1] == '\r';
    int is_right = graft_base64_decode(line, length, &bytes) == 0 && !bytes.failed && bytes.length == size;
    if (is_right) {
        memcpy(to, bytes.bytes, size);
    }
    graft_text_free(&bytes);
    return is_right ? 0 : -1;
}

static int start(const char *source, struct graft_error *error) {
    return sodium_init() >= 0 ? GRAFT_OK
                              : graft_error_set(error, GRAFT_ERROR_INTERNAL, source, "libsodium cannot be used");
}

static void hash(const char *bytes, size_t length, unsigned char digest[crypto_generichash_BYTES_MAX]) {
    (void)crypto_generichash(digest, crypto_generichash_BYTES_MAX, (const unsigned char *)bytes, length, NULL, 0);
}

/* --- Signing --- */

static int read_secret(const char *path, struct secret_key *key, struct graft_error *error) {
    struct lines lines;
    int status = read_lines(path, &lines, error);
    if (status == GRAFT_OK && (decode(lines.line[1], key, sizeof *key) != 0 || memcmp(key->algorithm, "Ed", 2) != 0)) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, path, "expected a secret key of minisign");
    }
    if (status == GRAFT_OK && (key->kdf[0] != 0 || key->kdf[1] != 0)) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, path, "this key has a password, which is not asked for here");
        graft_error_hint(error, "`minisign -Sm ARCHIVE` signs with it; `minisign -GW` makes one without");
        status = GRAFT_ERROR_USAGE;
    }
    if (lines.text != NULL) {
        sodium_memzero(lines.text, strlen(lines.text));
    }
    graft_free(lines.text);
    return status;
}

/* Adds what is signed in addition to the content: the signature of it, and the trusted comment. */
static void add_global(struct graft_text *global, const struct signature *signature, const char *comment) {
    graft_text_add(global, (const char *)signature->bytes, sizeof signature->bytes);
    graft_text_add_string(global, comment);
}

static int write_signature(const char *archive, const char *bytes, size_t length, const struct secret_key *key,
                           struct graft_error *error) {
    unsigned char digest[crypto_generichash_BYTES_MAX], global_signature[crypto_sign_BYTES];
    struct signature signature = {.algorithm = {'E', 'D'}};
    struct graft_text text = {0}, comment = {0}, global = {0};
    char *path = graft_format("%s.minisig", archive);
    hash(bytes, length, digest);
    memcpy(signature.id, key->id, sizeof signature.id);
    (void)crypto_sign_detached(signature.bytes, NULL, digest, sizeof digest, key->key);
    graft_text_printf(&comment, "file:%s\thashed", graft_path_name(archive));
    add_global(&global, &signature, comment.failed ? "" : comment.bytes);
    int status = path == NULL || comment.failed || global.failed ? graft_fail_memory(error, archive) : GRAFT_OK;
    if (status == GRAFT_OK) {
        (void)crypto_sign_detached(global_signature, NULL, (const unsigned char *)global.bytes, global.length,
                                   key->key);
        graft_text_add_string(&text, "untrusted comment: signature of a package for Graft\n");
        graft_base64_encode((const char *)&signature, sizeof signature, &text);
        graft_text_printf(&text, "\n%s%s\n", comment_start, comment.bytes);
        graft_base64_encode((const char *)global_signature, sizeof global_signature, &text);
        graft_text_add_string(&text, "\n");
        const struct graft_file_piece piece = {text.bytes, text.length};
        status = text.failed ? graft_fail_memory(error, path) : graft_file_write(path, &piece, 1, error);
    }
    graft_text_free(&global);
    graft_text_free(&comment);
    graft_text_free(&text);
    graft_free(path);
    return status;
}

int signature_write(const char *archive, const char *bytes, size_t length, const char *key_file,
                    struct graft_error *error) {
    struct secret_key key;
    int status = start(key_file, error);
    if (status == GRAFT_OK) {
        status = read_secret(key_file, &key, error);
    }
    if (status == GRAFT_OK) {
        status = write_signature(archive, bytes, length, &key, error);
    }
    sodium_memzero(&key, sizeof key);
    return status;
}

/* --- Checking --- */

static int read_public(const char *path, struct public_key *key, struct graft_error *error) {
    struct lines lines;
    int status = read_lines(path, &lines, error);
    if (status == GRAFT_OK && (decode(lines.line[1], key, sizeof *key) != 0 || memcmp(key->algorithm, "Ed", 2) != 0)) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, path, "expected a public key of minisign");
    }
    graft_free(lines.text);
    return status;
}

/* Whether the signature was made with the key. */
static int is_signed(const struct lines *lines, const struct signature *signature, const struct public_key *key,
                     const unsigned char *digest, size_t digest_length) {
    unsigned char global_signature[crypto_sign_BYTES];
    struct graft_text global = {0};
    add_global(&global, signature, lines->line[2] + strlen(comment_start));
    int is_right = !global.failed && decode(lines->line[3], global_signature, sizeof global_signature) == 0 &&
                   crypto_sign_verify_detached(signature->bytes, digest, digest_length, key->key) == 0 &&
                   crypto_sign_verify_detached(global_signature, (const unsigned char *)global.bytes, global.length,
                                               key->key) == 0;
    graft_text_free(&global);
    return is_right;
}

/* Finds the trusted key of a signature, and checks it. */
static int check_lines(const char *path, const struct lines *lines, const char *bytes, size_t length,
                       const struct graft_strings *keys, char **signer, struct graft_error *error) {
    unsigned char digest[crypto_generichash_BYTES_MAX];
    struct signature signature;
    if (decode(lines->line[1], &signature, sizeof signature) != 0 || memcmp(signature.algorithm, "ED", 2) != 0 ||
        strncmp(lines->line[2], comment_start, strlen(comment_start)) != 0) {
        return graft_error_set(error, GRAFT_ERROR_VERIFY, path,
                               "expected a signature of minisign, of the file's hash (ED)");
    }
    hash(bytes, length, digest);
    for (size_t i = 0; i < keys->count; i++) {
        struct public_key key;
        int status = read_public(keys->items[i], &key, error);
        if (status != GRAFT_OK) {
            return status;
        }
        if (memcmp(key.id, signature.id, sizeof key.id) == 0) {
            if (!is_signed(lines, &signature, &key, digest, sizeof digest)) {
                return graft_error_set(error, GRAFT_ERROR_VERIFY, path,
                                       "the signature is wrong: the archive is not what the owner of %s signed",
                                       keys->items[i]);
            }
            *signer = graft_strdup(keys->items[i]);
            return *signer != NULL ? GRAFT_OK : graft_fail_memory(error, path);
        }
    }
    return graft_error_set(error, GRAFT_ERROR_VERIFY, path, "signed with a key that is not among the %zu trusted",
                           keys->count);
}

static int check_with(const char *archive, const char *bytes, size_t length, const struct graft_strings *keys,
                      char **signer, struct graft_error *error) {
    struct lines lines = {NULL, {NULL}};
    char *path = graft_format("%s.minisig", archive);
    int status = path != NULL ? start(path, error) : graft_fail_memory(error, archive);
    if (status == GRAFT_OK && !graft_file_exists(path)) {
        status = graft_error_set(error, GRAFT_ERROR_VERIFY, archive, "it is not signed (no %s), but keys are trusted",
                                 graft_path_name(path));
    }
    if (status == GRAFT_OK) {
        status = read_lines(path, &lines, error);
    }
    if (status == GRAFT_OK) {
        status = check_lines(path, &lines, bytes, length, keys, signer, error);
    }
    graft_free(lines.text);
    graft_free(path);
    return status;
}

#else

static const char without[] = "this build knows no signatures: it was built without libsodium";

int signature_write(const char *archive, const char *bytes, size_t length, const char *key_file,
                    struct graft_error *error) {
    (void)archive;
    (void)bytes;
    (void)length;
    return graft_error_set(error, GRAFT_ERROR_USAGE, key_file, "%s", without);
}

static int check_with(const char *archive, const char *bytes, size_t length, const struct graft_strings *keys,
                      char **signer, struct graft_error *error) {
    (void)bytes;
    (void)length;
    (void)keys;
    (void)signer;
    return graft_error_set(error, GRAFT_ERROR_USAGE, archive, "keys are trusted, but %s", without);
}

#endif

/* --- Trusted keys --- */

static int is_key(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && dot != NULL && strcmp(dot, ".pub") == 0;
}

static int add(struct graft_strings *keys, char *path_take, struct graft_error *error) {
    if (path_take == NULL || graft_grow(&keys->items, &keys->capacity, keys->count, sizeof *keys->items) != 0) {
        graft_free(path_take);
        return graft_fail_memory(error, "keys");
    }
    keys->items[keys->count++] = path_take;
    return GRAFT_OK;
}

static int find_keys(const char *const *key_files, size_t n, const char *folder, struct graft_strings *keys,
                     struct graft_error *error) {
    struct dirent **entries = NULL;
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = add(keys, graft_strdup(key_files[i]), error);
    }
    int n_entries = folder != NULL ? scandir(folder, &entries, is_key, alphasort) : 0;
    for (int i = 0; i < n_entries; i++) {
        if (status == GRAFT_OK) {
            status = add(keys, graft_path_join(folder, entries[i]->d_name), error);
        }
        free(entries[i]); /* the C library's, as is the list */
    }
    free(entries);
    return status;
}

int signature_check(const char *archive, const char *bytes, size_t length, const char *const *key_files, size_t n,
                    const char *folder, char **signer, struct graft_error *error) {
    struct graft_strings keys = {0};
    *signer = NULL;
    int status = find_keys(key_files, n, folder, &keys, error);
    if (status == GRAFT_OK && keys.count > 0) {
        status = check_with(archive, bytes, length, &keys, signer, error);
    }
    for (size_t i = 0; i < keys.count; i++) {
        graft_free((void *)(uintptr_t)keys.items[i]);
    }
    graft_free(keys.items);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of packages, in the format of minisign (https://jedisct1.github.io/minisign/): Ed25519 of the BLAKE2b
 * hash, in ARCHIVE.minisig next to the archive. By libsodium; in a build without it, asking for a signature is an
 * error. */
#ifndef GRAFT_CLI_PACKAGE_SIGNATURE_H
#define GRAFT_CLI_PACKAGE_SIGNATURE_H

#include <stddef.h>

#include "graft/error.h"

/* Signs the content of an archive with the secret key in a file, which has no password, and writes ARCHIVE.minisig. */
int signature_write(const char *archive, const char *bytes, size_t length, const char *key_file,
                    struct graft_error *error);

/* Checks ARCHIVE.minisig against the keys that are trusted: those in `key_files` [n], and all *.pub in `folder`, which
 * need not exist. `*signer` becomes the file of the key, which the caller frees; NULL where no key is trusted at all,
 * and nothing was checked. A missing or wrong signature, or one by another key, is GRAFT_ERROR_VERIFY. */
int signature_check(const char *archive, const char *bytes, size_t length, const char *const *key_files, size_t n,
                    const char *folder, char **signer, struct graft_error *error);

#endif

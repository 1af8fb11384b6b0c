/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz target defines, under libFuzzer's name. It crashes, or it does not. */
#ifndef GRAFT_TESTS_FUZZ_TARGET_H
#define GRAFT_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A folder of this process's own, made at the first call, and a file in it with the input as content. The path is
 * valid until the next call. Ends the process when that cannot be done. */
const char *fuzz_folder(void);
const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size);

#endif

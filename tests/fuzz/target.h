/* SPDX-License-Identifier: Apache-2.0 */
/* The function that every fuzz target defines, with libFuzzer's name. It reports faults by crashing. */
#ifndef GRAFT_TESTS_FUZZ_TARGET_H
#define GRAFT_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A folder of this process, made at the first call, and a file in it with the input as content. The path is valid until
 * the next call. Ends the process on failure. */
const char *fuzz_folder(void);
const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size);

#endif

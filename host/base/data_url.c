/* SPDX-License-Identifier: Apache-2.0 */
#include "base/data_url.h"

#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/fail.h"

int graft_data_url_decode(const char *url, size_t length, const char *source, struct graft_text *bytes,
                          struct graft_error *error) {
    static const char scheme[] = "data:", encoding[] = ";base64";
    const size_t n = sizeof encoding - 1;
    const char *comma = memchr(url, ',', length);
    const size_t head = comma != NULL ? (size_t)(comma - url) : 0;
    if (length < sizeof scheme - 1 || strncasecmp(url, scheme, sizeof scheme - 1) != 0) {
        return graft_error_set(
            error, GRAFT_ERROR_USAGE, source,
            "expected data:image/png;base64,... or image/jpeg; images are not fetched from elsewhere");
    }
    if (head < n || strncasecmp(url + head - n, encoding, n) != 0 ||
        graft_base64_decode(url + head + 1, length - head - 1, bytes) != 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, source, "expected base64 after data:image/png;base64,");
    }
    return bytes->failed ? graft_fail_memory(error, source) : GRAFT_OK;
}

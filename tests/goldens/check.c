/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

void check(int holds, const char *format, ...) {
    va_list arguments;
    if (holds) {
        return;
    }
    failures++;
    va_start(arguments, format);
    (void)fputs("FAIL: ", stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
}

int check_failures(void) {
    return failures;
}

void need(int status, const struct graft_error *error) {
    if (status != GRAFT_OK) {
        (void)fprintf(stderr, "FAIL: status %d: %s: %s\n", status, error->source, error->message);
        exit(1);
    }
}

double max_difference(const float *a, const float *b, size_t count) {
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        double difference = fabs((double)a[i] - (double)b[i]);
        if (!(difference <= largest)) {
            largest = isnan(difference) ? (double)INFINITY : difference;
        }
    }
    return largest;
}

double rms_difference(const float *a, const float *b, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        double difference = (double)a[i] - (double)b[i];
        sum += difference * difference;
    }
    return sqrt(sum / (double)count);
}

void *need_memory(size_t count, size_t size) {
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        (void)fputs("FAIL: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

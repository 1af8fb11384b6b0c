/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/likelihood.h"

#include <math.h>

#include "kernels/threads.h"

struct job {
    const float *logits; /* [rows, vocab_size] */
    const int32_t *targets;
    double *loss;
    int64_t vocab_size;
};

/* log(sum of exp(row)) - row[target]; the largest number is subtracted first so that nothing overflows. */
static double cross_entropy(const float *row, int64_t vocab_size, int32_t target) {
    float largest = row[0];
    double sum = 0.0;
    for (int64_t i = 1; i < vocab_size; i++) {
        largest = row[i] > largest ? row[i] : largest;
    }
    for (int64_t i = 0; i < vocab_size; i++) {
        sum += (double)expf(row[i] - largest);
    }
    return log(sum) - ((double)row[target] - (double)largest);
}

static void do_rows(void *data, int64_t begin, int64_t end) {
    const struct job *job = data;
    for (int64_t r = begin; r < end; r++) {
        int32_t target = job->targets[r];
        job->loss[r] = target >= 0 ? cross_entropy(job->logits + r * job->vocab_size, job->vocab_size, target) : 0.0;
    }
}

void graft_cross_entropy(const float *logits, int64_t rows, int64_t vocab_size, const int32_t *targets, double *loss) {
    struct job job = {logits, targets, loss, vocab_size};
    graft_threads_get()->parallel_for(rows, 1, do_rows, &job);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the frequencies of each rope type. Intermediate results are rounded to f32 where the reference does so. */
#include <math.h>

#include "rope/parameters.h"

static const double two_pi = 6.28318530717958647692;

/* theta^(-2i / head_dim), Su et al. 2021, section 3.2.2. */
static float plain(float theta, int64_t i, int64_t dim) {
    return 1.0f / powf(theta, (float)(2 * i) / (float)dim);
}

/* Wavelengths above original_max_position_embeddings / low_freq_factor are stretched by `factor`, those below
 * original_max_position_embeddings / high_freq_factor are kept, and between the two it is blended linearly in the
 * number of turns per original context. Published with Llama 3.1 (Meta 2024), in its config fields and model code. */
static float stretch(const struct graft_rope *rope, float inv_freq) {
    float original = (float)rope->original_max_position_embeddings;
    float factor = (float)rope->factor;
    float low = (float)rope->low_freq_factor;
    float high = (float)rope->high_freq_factor;
    float wavelength = (float)two_pi / inv_freq;
    if (wavelength > original / low) {
        return inv_freq / factor;
    }
    if (wavelength < original / high) {
        return inv_freq;
    }
    float kept = (original / wavelength - low) / (high - low);
    return (1.0f - kept) * inv_freq / factor + kept * inv_freq;
}

/* theta * (factor * length / max_position_embeddings - (factor - 1))^(head_dim / (head_dim - 2)): the base for which
 * the longest wavelength grows as linear scaling to this length would make it ("NTK-aware", Peng et al. 2023, section
 * 3.1, with the scale of the current length, appendix B.1). */
static float grown_theta(const struct graft_rope *rope, int64_t length) {
    float scale = (float)rope->factor * (float)length / (float)rope->max_position_embeddings;
    float exponent = (float)rope->dim / (float)(rope->dim - 2);
    return (float)rope->rope_theta * powf(scale - (float)(rope->factor - 1.0), exponent);
}

/* The index of the frequency that rotates `turns` times within the original length (Peng et al. 2023, section 3.2). */
static double index_of_turns(const struct graft_rope *rope, double turns) {
    double original = (double)rope->original_max_position_embeddings;
    return (double)rope->dim * log(original / (turns * two_pi)) / (2.0 * log(rope->rope_theta));
}

/* Peng et al. 2023, section 3.2: frequencies up to the index for beta_fast are kept, those from the index for beta_slow
 * on are divided by `factor`, and those in between are blended. */
static void yarn(const struct graft_rope *rope, float *inv_freq) {
    double low = index_of_turns(rope, rope->beta_fast);
    double high = index_of_turns(rope, rope->beta_slow);
    if (rope->truncate) {
        low = floor(low);
        high = ceil(high);
    }
    low = fmax(low, 0.0);
    high = fmin(high, (double)(rope->dim - 1));
    if (low == high) {
        high += 0.001; /* avoids a division by zero, as the reference does */
    }
    for (int64_t i = 0; i < rope->width / 2; i++) {
        float ramp = fminf(fmaxf(((float)i - (float)low) / (float)(high - low), 0.0f), 1.0f);
        float kept = 1.0f - ramp;
        float power = powf((float)rope->rope_theta, (float)(2 * i) / (float)rope->dim);
        inv_freq[i] = 1.0f / ((float)rope->factor * power) * (1.0f - kept) + 1.0f / power * kept;
    }
}

int64_t graft_rope_fixed_length(const struct graft_rope *rope) {
    switch (rope->rope_type) {
    case GRAFT_ROPE_DYNAMIC:
        return rope->max_position_embeddings;
    case GRAFT_ROPE_LONGROPE:
        return rope->original_max_position_embeddings;
    default:
        return INT64_MAX;
    }
}

float graft_rope_scale(const struct graft_rope *rope, int64_t length) {
    return (float)(rope->short_mscale == 0.0                         ? rope->attention_factor
                   : length > rope->original_max_position_embeddings ? rope->long_mscale
                                                                     : rope->short_mscale);
}

void graft_rope_inv_freq(const struct graft_rope *rope, int64_t length, float *inv_freq) {
    int is_long = rope->short_mscale == 0.0 && length > graft_rope_fixed_length(rope);
    int grows = is_long && rope->rope_type == GRAFT_ROPE_DYNAMIC;
    float theta = grows ? grown_theta(rope, length) : (float)rope->rope_theta;
    if (rope->rope_type == GRAFT_ROPE_YARN) {
        yarn(rope, inv_freq);
        return;
    }
    for (int64_t i = 0; i < rope->width / 2; i++) {
        inv_freq[i] = plain(theta, i, rope->dim);
        if (rope->rope_type == GRAFT_ROPE_LLAMA3) {
            inv_freq[i] = stretch(rope, inv_freq[i]);
        } else if (rope->rope_type == GRAFT_ROPE_LINEAR) {
            inv_freq[i] /= (float)rope->factor;
        } else if (rope->rope_type == GRAFT_ROPE_LONGROPE) {
            float power = powf(theta, (float)(2 * i) / (float)rope->dim);
            inv_freq[i] = 1.0f / ((is_long ? rope->long_factor : rope->short_factor)[i] * power);
        } else if (rope->rope_type == GRAFT_ROPE_PROPORTIONAL) {
            int rotated = i < (int64_t)(rope->partial_rotary_factor * (double)rope->width) / 2;
            inv_freq[i] = rotated ? inv_freq[i] / (float)rope->factor : 0.0f;
        }
    }
}

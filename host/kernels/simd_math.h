/* SPDX-License-Identifier: Apache-2.0 */
/* exp and the activation functions on vectors. */
#ifndef GRAFT_KERNELS_SIMD_MATH_H
#define GRAFT_KERNELS_SIMD_MATH_H

#include <math.h>

#include "graft/kernels.h"

/* exp(x) within 2 units in the last place (tested over all of the range): x = n ln 2 + r with |r| <= ln 2 / 2, and the
 * Taylor series of exp(r), whose first omitted term is 5e-9. ln 2 is subtracted in two parts, the first of which has
 * few enough bits that n times it is exact. The bounds are beyond those of f32, where the result is 0 or infinite. */
INLINE vf vf_exp(vf x) {
    x = vf_min(vf_set(89.0f), vf_max(vf_set(-104.0f), x));
    vf n = vf_round(vf_mul(x, vf_set(1.44269504088896341f)));
    vf r = vf_fma(n, vf_set(-0.693359375f), x);
    r = vf_fma(n, vf_set(2.12194440054690583e-4f), r);
    vf p = vf_set(1.0f / 5040.0f);
    p = vf_fma(p, r, vf_set(1.0f / 720.0f));
    p = vf_fma(p, r, vf_set(1.0f / 120.0f));
    p = vf_fma(p, r, vf_set(1.0f / 24.0f));
    p = vf_fma(p, r, vf_set(1.0f / 6.0f));
    p = vf_fma(p, r, vf_set(0.5f));
    p = vf_fma(p, r, vf_set(1.0f));
    p = vf_fma(p, r, vf_set(1.0f));
    return vf_scale2(p, n);
}

/* exp(x) for x <= 0 within a part in 300,000, for what becomes bf16, which rounds by up to one in 256: 2^n times a fit
 * of our own to 2^f for |f| <= 1 / 2. Below the bound the result is 0. */
INLINE vf vf_exp_falling(vf x) {
    vf t = vf_max(vf_set(-151.0f), vf_mul(x, vf_set(1.44269504088896341f)));
    vf n = vf_round(t);
    vf f = vf_sub(t, n);
    vf p = vf_set(0.00958285201f);
    p = vf_fma(p, f, vf_set(0.0559064262f));
    p = vf_fma(p, f, vf_set(0.240240991f));
    p = vf_fma(p, f, vf_set(0.693124175f));
    p = vf_fma(p, f, vf_set(1.0f));
    return vf_scale2(p, n);
}

/* x / (1 + exp(-z)) */
INLINE vf vf_times_sigmoid(vf x, vf z) {
    return vf_div(x, vf_add(vf_set(1.0f), vf_exp(vf_sub(vf_zero(), z))));
}

/* x * Phi(x), from the tail Phi(-|x|) = erfc(z) / 2 at z = |x| / sqrt 2. erfc(z) / 2 = exp(-z^2) t P(t) with
 * t = 1 / (1 + z / 2) and P a least-squares fit of our own for z <= 7, relative error 5e-8. */
INLINE vf vf_gelu(vf x) {
    static const float fit[] = {-0.0286223311f, 0.137713701f, -0.233830884f, 0.127454698f, -0.00500615221f,
                                0.0976607949f,  0.122534223f, 0.141043916f,  0.141052023f};
    vf z = vf_mul(vf_abs(x), vf_set(0.70710678118654752f));
    vf t = vf_div(vf_set(1.0f), vf_fma(z, vf_set(0.5f), vf_set(1.0f)));
    vf p = vf_set(fit[0]);
    for (int i = 1; i < (int)(sizeof fit / sizeof fit[0]); i++) {
        p = vf_fma(p, t, vf_set(fit[i]));
    }
    vf tail = vf_mul(vf_mul(p, t), vf_exp(vf_sub(vf_zero(), vf_mul(z, z))));
    return vf_mul(x, vf_if_negative(x, tail, vf_sub(vf_set(1.0f), tail)));
}

/* x (1 + tanh u) / 2 = x sigmoid(2 u) */
INLINE vf vf_gelu_tanh(vf x) {
    vf cube = vf_mul(vf_mul(x, x), x);
    vf u = vf_fma(cube, vf_set(0.044715f), x);
    return vf_times_sigmoid(x, vf_mul(u, vf_set(1.59576912160573071f)));
}

/* `activation` is a constant where this is inlined; it is not tanh, which is left to the scalar loops. */
INLINE vf vf_activate(const int32_t activation, vf x) {
    switch (activation) {
    case GRAFT_ACTIVATION_SILU:
        return vf_times_sigmoid(x, x);
    case GRAFT_ACTIVATION_GELU:
        return vf_gelu(x);
    case GRAFT_ACTIVATION_GELU_TANH:
        return vf_gelu_tanh(x);
    case GRAFT_ACTIVATION_QUICK_GELU:
        return vf_times_sigmoid(x, vf_mul(x, vf_set(1.702f)));
    case GRAFT_ACTIVATION_RELU:
        return vf_max(vf_zero(), x);
    case GRAFT_ACTIVATION_RELU2:
        x = vf_max(vf_zero(), x);
        return vf_mul(x, x);
    case GRAFT_ACTIVATION_SIGMOID:
        return vf_times_sigmoid(vf_set(1.0f), x);
    default:
        return vf_set(NAN); /* unreachable: callers check with graft_activation_check */
    }
}

/* y[i] = act(x[i]), or act(x[i]) * up[i] if there is an `up`. */
INLINE void activate_with(const int32_t activation, const float *x, const float *up, int64_t count, float *y) {
    int64_t i = 0;
    for (; i + VF_WIDTH <= count; i += VF_WIDTH) {
        vf result = vf_activate(activation, vf_load(x + i));
        vf_store(y + i, up != NULL ? vf_mul(result, vf_load(up + i)) : result);
    }
    if (i < count) {
        vf result = vf_activate(activation, vf_load_part(x + i, count - i));
        vf_store_part(y + i, up != NULL ? vf_mul(result, vf_load_part(up + i, count - i)) : result, count - i);
    }
}

/* The same where `activation` is no constant. With an `up`, y is x. */
static void activate_any(int32_t activation, const float *x, const float *up, int64_t count, float *y) {
    switch (activation) {
    case GRAFT_ACTIVATION_SILU:
        activate_with(GRAFT_ACTIVATION_SILU, x, up, count, y);
        break;
    case GRAFT_ACTIVATION_GELU:
        activate_with(GRAFT_ACTIVATION_GELU, x, up, count, y);
        break;
    case GRAFT_ACTIVATION_GELU_TANH:
        activate_with(GRAFT_ACTIVATION_GELU_TANH, x, up, count, y);
        break;
    case GRAFT_ACTIVATION_QUICK_GELU:
        activate_with(GRAFT_ACTIVATION_QUICK_GELU, x, up, count, y);
        break;
    case GRAFT_ACTIVATION_RELU:
        activate_with(GRAFT_ACTIVATION_RELU, x, up, count, y);
        break;
    case GRAFT_ACTIVATION_RELU2:
        activate_with(GRAFT_ACTIVATION_RELU2, x, up, count, y);
        break;
    case GRAFT_ACTIVATION_SIGMOID:
        activate_with(GRAFT_ACTIVATION_SIGMOID, x, up, count, y);
        break;
    default: /* those without vectors, such as tanh */
        if (up != NULL) {
            graft_loops_scalar.activate_gate(activation, y, up, count);
        } else {
            graft_loops_scalar.activate(activation, x, count, y);
        }
    }
}

static void activate(int32_t activation, const float *x, int64_t count, float *y) {
    activate_any(activation, x, NULL, count, y);
}

static void activate_gate(int32_t activation, float *gate, const float *up, int64_t count) {
    activate_any(activation, gate, up, count, gate);
}

#endif

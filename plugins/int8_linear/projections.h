/* SPDX-License-Identifier: Apache-2.0 */
/* Which Linears quantizers take (int8_linear, int4_linear): a pattern of module paths. */
#ifndef INT8_LINEAR_PROJECTIONS_H
#define INT8_LINEAR_PROJECTIONS_H

/* Decoders, experts that are modules, and vision MLPs call them ..._proj, or ..._proj_with_mqa; what encoders and
 * vision blocks call otherwise is taken inside their numbered layers, or has a name like Wqkv. Routers and gates of
 * shared experts are none of these. */
#define PROJECTIONS \
    "_proj(_\\w+)?$|\\.(layer|blocks)\\.\\d+\\..*\\b(query|key|value|dense|qkv|proj|fc1|fc2)$|\\bW(qkv|i|o)$"

#define LANGUAGE_MODEL_HEAD "(^|\\.)lm_head$"

#endif

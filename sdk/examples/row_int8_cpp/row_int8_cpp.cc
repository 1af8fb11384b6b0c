/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What row_int8 reads, in C++17: `weight` has integers of 8 bits, `weight_scale` the scale of each row. The schemes of
 * graft/quant_format.h are functions in C, so `describe` has the arguments that it has there.
 */
#include "graft/graft.hpp"
#include "graft/quant_format.h"

namespace {

int describe(const graft_class *, const graft_config *, const graft_args *args, const graft_sink *sink,
             graft_error *error) {
    graft_scheme scheme{};
    if (graft_scheme_of_linear(&scheme, args, sink->path, error) == GRAFT_OK) {
        scheme.codec.kind = GRAFT_CODE_INT;
        scheme.codec.bits = 8;
        graft_scheme_codes(&scheme, "weight", scheme.codec.columns, GRAFT_DTYPE_I8); /* [out, in] */
        graft_scheme_scales(&scheme, "weight_scale", GRAFT_DTYPE_NONE);              /* [out, 1], of any float type */
        graft_scheme_describe_linear(&scheme, args, sink, error);
    }
    return error->code;
}

/* Everything but the description is inherited from the Linear that it replaces. */
graft_class make_linear() {
    graft_class made{};
    made.struct_size = sizeof made;
    made.name = "RowInt8LinearInCpp";
    made.interface_id = GRAFT_INTERFACE_LINEAR;
    made.describe = describe;
    return made;
}

const graft_class linear = make_linear();

graft_replacement replace_linears() {
    graft_replacement made{};
    made.struct_size = sizeof made;
    made.key = GRAFT_KEY_NAME;
    made.target = "Linear";
    made.replacement = &linear;
    return made;
}

/* Only in models whose config.json names the method, and in modules that have scales. */
constexpr const char *methods[] = {"row_int8", nullptr};
constexpr const char *scales[] = {"weight_scale", nullptr};
constexpr graft_condition conditions[] = {GRAFT_SCHEME_IS_METHOD(methods), GRAFT_SCHEME_HAS_TENSOR(scales)};
const graft_replacement replacements[] = {graft::only_if(conditions, replace_linears())};

graft_plugin make_plugin() {
    graft_plugin made = graft::plugin("row_int8_cpp", "1.0.0", "Apache-2.0",
                                      "Linears with integers of 8 bits and a scale for each row, in C++", replacements);
    made.quant_methods = methods;
    return made;
}

const graft_plugin descriptor = make_plugin();

} // namespace

const graft_plugin *graft_plugin_entry(const graft_host *, graft_error *) {
    return &descriptor;
}

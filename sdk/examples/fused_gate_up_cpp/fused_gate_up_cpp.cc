/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused_gate_up in C++17: the MLP of a decoder with one projection for gate and up. The rows of gate_up_proj are those
 * of gate_proj, then those of up_proj; joining them copies nothing. Results are those of the original to the bit.
 */
#include <algorithm>

#include "graft/graft.hpp"

namespace {

constexpr std::int64_t max_size = 1 << 20;

/* What `describe` finds out for the constructor. */
struct sizes {
    std::int64_t hidden;
    std::int64_t intermediate;
};

/* How checkpoints hold it: the second conversion is left out where there are no biases. */
constexpr const char *weight_sources[] = {"gate_proj.weight", "up_proj.weight"};
constexpr const char *weight_targets[] = {"gate_up_proj.weight"};
constexpr const char *bias_sources[] = {"gate_proj.bias", "up_proj.bias"};
constexpr const char *bias_targets[] = {"gate_up_proj.bias"};
constexpr graft_operation join[] = {graft::concatenate(0)};

class FusedGateUpMLP : public graft::module<graft::mlp> {
  public:
    static constexpr const char *name = "FusedGateUpMLPInCpp";
    static constexpr graft_conversion conversions[] = {
        graft::conversion(weight_sources, weight_targets, join),
        graft::conversion(bias_sources, bias_targets, join),
    };

    static void describe(const graft::sink &sink, const graft::config &config, const graft::arguments &args) {
        sizes &found = sink.keep<sizes>();
        const bool bias = args.integer("mlp_bias") != 0;
        found.hidden = args.size("hidden_size", max_size);
        found.intermediate = args.size("intermediate_size", max_size);
        sink.linear("gate_up_proj", found.hidden, 2 * found.intermediate, bias);
        sink.linear("down_proj", found.intermediate, found.hidden, bias);
        sink.activation("act_fn", config, args, "hidden_act");
    }

    explicit FusedGateUpMLP(const graft::build &build)
        : gate_up_proj(build.child<graft::linear>("gate_up_proj")), down_proj(build.child<graft::linear>("down_proj")),
          act_fn(build.child<graft::activation>("act_fn")), intermediate(build.kept<sizes>().intermediate) {}

    /* output = down_proj(act_fn(gate) * up) */
    void forward(const graft::call &call, const graft_mlp_args &args) const {
        const std::int64_t tokens = args.tokens;
        float *gate_up = call.floats(tokens, 2 * intermediate); /* [tokens, 2, intermediate] */
        float *gate = call.floats(tokens, intermediate);        /* [tokens, intermediate] */
        float *up = call.floats(tokens, intermediate);          /* [tokens, intermediate] */
        gate_up_proj(call, tokens, args.hidden_states, gate_up);
        for (std::int64_t t = 0; t < tokens; t++) {
            const float *row = gate_up + 2 * t * intermediate;
            std::copy_n(row, intermediate, gate + t * intermediate);
            std::copy_n(row + intermediate, intermediate, up + t * intermediate);
        }
        graft::gate(call, act_fn, gate, up, tokens, intermediate);
        down_proj(call, tokens, gate, args.output);
    }

  private:
    graft::child<graft::linear> gate_up_proj; /* hidden -> 2 * intermediate */
    graft::child<graft::linear> down_proj;    /* intermediate -> hidden */
    graft::child<graft::activation> act_fn;
    std::int64_t intermediate;
};

/* The interface keeps the pattern to classes that are called like an MLP. That their weights are a gate and an up is
 * known of these families. */
constexpr const char *model_types[] = {"llama", "mistral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", nullptr};

const graft_replacement replacements[] = {graft::replacement<FusedGateUpMLP>(GRAFT_KEY_PATTERN, "MLP$", model_types)};
const graft_plugin descriptor = graft::plugin("fused_gate_up_cpp", "1.0.0", "Apache-2.0",
                                              "An MLP with one projection for gate and up, in C++", replacements);

} // namespace

const graft_plugin *graft_plugin_entry(const graft_host *, graft_error *) {
    return &descriptor;
}

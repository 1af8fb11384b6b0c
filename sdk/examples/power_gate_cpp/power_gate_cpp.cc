/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_gate in C++17: a model type with mathematics of its own, Llama with an MLP whose gate is a power,
 *     output = down_proj(sign(g) * |g|^p * up_proj(x)), where g = gate_proj(x),
 * and p is the field gate_power of config.json.
 */
#include <cmath>

#include "graft/graft.hpp"

namespace {

constexpr std::int64_t max_size = 1 << 20;

struct kept { /* by `describe`, for the constructor */
    std::int64_t intermediate;
    double power;
};

class PowerGateMLP : public graft::module<graft::mlp> {
  public:
    static constexpr const char *name = "PowerGateMLP";
    static constexpr const char *base = "LlamaMLP";

    static void describe(const graft::sink &sink, const graft::config &config, const graft::arguments &args) {
        kept &found = sink.keep<kept>();
        found.power = config.real("gate_power", 0.0, 0.5);
        found.intermediate = args.size("intermediate_size", max_size);
        const std::int64_t hidden = args.size("hidden_size", max_size);
        sink.linear("gate_proj", hidden, found.intermediate, false);
        sink.linear("up_proj", hidden, found.intermediate, false);
        sink.linear("down_proj", found.intermediate, hidden, false);
    }

    explicit PowerGateMLP(const graft::build &build)
        : gate_proj(build.child<graft::linear>("gate_proj")), up_proj(build.child<graft::linear>("up_proj")),
          down_proj(build.child<graft::linear>("down_proj")), intermediate(build.kept<kept>().intermediate),
          power(static_cast<float>(build.kept<kept>().power)) {}

    void forward(const graft::call &call, const graft_mlp_args &args) const {
        float *gate = call.floats(args.tokens, intermediate); /* [tokens, intermediate] */
        float *up = call.floats(args.tokens, intermediate);   /* [tokens, intermediate] */
        gate_proj(call, args.tokens, args.hidden_states, gate);
        up_proj(call, args.tokens, args.hidden_states, up);
        for (std::int64_t i = 0; i < args.tokens * intermediate; i++) {
            gate[i] = std::copysign(std::pow(std::fabs(gate[i]), power), gate[i]) * up[i];
        }
        down_proj(call, args.tokens, gate, args.output);
    }

  private:
    graft::child<graft::linear> gate_proj; /* hidden -> intermediate */
    graft::child<graft::linear> up_proj;   /* hidden -> intermediate */
    graft::child<graft::linear> down_proj; /* intermediate -> hidden */
    std::int64_t intermediate;
    float power;
};

/* All but the MLP are Llama's classes. Their names are this family's, so that other plugins can replace them alone. */
const graft_class classes[] = {
    graft::derived<graft::causal_lm>("PowerGateForCausalLM", "LlamaForCausalLM"),
    graft::derived<graft::base_model>("PowerGateModel", "LlamaModel"),
    graft::derived<graft::decoder_layer>("PowerGateDecoderLayer", "LlamaDecoderLayer"),
    *graft::class_of<PowerGateMLP>(),
};
constexpr graft_architecture architectures[] = {{"PowerGateForCausalLM", nullptr}, {"PowerGateModel", nullptr}};
const graft_family families[] = {graft::family("power_gate", "model", architectures, classes)};
const graft_plugin descriptor =
    graft::plugin("power_gate_cpp", "1.0.0", "Apache-2.0", "The model type power_gate, in C++", families);

} // namespace

const graft_plugin *graft_plugin_entry(const graft_host *, graft_error *) {
    return &descriptor;
}

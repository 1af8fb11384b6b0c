/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model type in C++17. StarCoder2 (Lozhkov et al. 2024) is Llama with LayerNorms, with biases, with an MLP without a
 * gate, and with a window in every layer.
 */
#include <vector>

#include "graft/graft.hpp"

namespace {

constexpr std::int64_t max_size = 1 << 20;
constexpr std::int64_t max_layers = 4096;

/* Llama's model, told about the window of each layer. */
struct Starcoder2Model {
    using interface = graft::base_model;
    static constexpr const char *name = "Starcoder2Model";
    static constexpr const char *base = "LlamaModel";

    static void describe(const graft::sink &sink, const graft::config &config, const graft::arguments &) {
        const std::int64_t layers = config.integer("num_hidden_layers", 1, max_layers, 1);
        const std::int64_t window = config.integer("sliding_window", 1, INT32_MAX, 0); /* null in config.json: none */
        const std::vector<std::int64_t> windows(static_cast<std::size_t>(layers), window);
        sink.base({graft_ints_arg("windows", windows.data(), static_cast<std::int32_t>(layers))});
    }
};

/* output = c_proj(act(c_fc(hidden_states))) */
class Starcoder2MLP : public graft::module<graft::mlp> {
  public:
    static constexpr const char *name = "Starcoder2MLP";
    static constexpr const char *base = "LlamaMLP";

    static void describe(const graft::sink &sink, const graft::config &config, const graft::arguments &args) {
        std::int64_t &intermediate = sink.keep<std::int64_t>();
        const std::int64_t hidden = args.size("hidden_size", max_size);
        const bool bias = args.integer("mlp_bias") != 0;
        intermediate = args.size("intermediate_size", max_size);
        sink.linear("c_fc", hidden, intermediate, bias);
        sink.linear("c_proj", intermediate, hidden, bias);
        sink.activation("act", config, args, "hidden_act");
    }

    explicit Starcoder2MLP(const graft::build &build)
        : c_fc(build.child<graft::linear>("c_fc")), c_proj(build.child<graft::linear>("c_proj")),
          act(build.child<graft::activation>("act")), intermediate(build.kept<std::int64_t>()) {}

    void forward(const graft::call &call, const graft_mlp_args &args) const {
        float *inner = call.floats(args.tokens, intermediate); /* [tokens, intermediate] */
        c_fc(call, args.tokens, args.hidden_states, inner);
        act(call, args.tokens * intermediate, inner, inner);
        c_proj(call, args.tokens, inner, args.output);
    }

  private:
    graft::child<graft::linear> c_fc;   /* hidden -> intermediate */
    graft::child<graft::linear> c_proj; /* intermediate -> hidden */
    graft::child<graft::activation> act;
    std::int64_t intermediate;
};

constexpr graft_architecture architectures[] = {{"Starcoder2ForCausalLM", nullptr}, {"Starcoder2Model", nullptr}};

const graft_class classes[] = {
    graft::derived<graft::causal_lm>("Starcoder2ForCausalLM", "LlamaForCausalLM"),
    graft::derived<Starcoder2Model>(),
    graft::derived<graft::decoder_layer>("Starcoder2DecoderLayer", "LlamaDecoderLayer"),
    graft::derived<graft::self_attention>("Starcoder2Attention", "LlamaAttention"),
    *graft::class_of<Starcoder2MLP>(),
    graft::derived<graft::rotary>("Starcoder2RotaryEmbedding", "LlamaRotaryEmbedding"),
};

constexpr graft_stand_in stand_ins[] = {{"LlamaRMSNorm", "LayerNorm"}};

/* Names and defaults that are not Llama's. */
constexpr graft_config_field fields[] = {
    graft::field("vocab_size", 49152),
    graft::field("hidden_size", 3072),
    graft::field("intermediate_size", 12288),
    graft::field("num_hidden_layers", 30),
    graft::field("num_attention_heads", 24),
    graft::field("num_key_value_heads", 2),
    graft::field("max_position_embeddings", 4096),
    graft::field("rms_norm_eps", 1e-5, "norm_epsilon"),
    graft::field("attention_bias", true, "use_bias"),
    graft::field("mlp_bias", true, "use_bias"),
    graft::field("hidden_act", "gelu_pytorch_tanh"),
    graft::field("tie_word_embeddings", true),
};

const graft_family families[] = {graft::family("starcoder2", "model", architectures, classes, fields, stand_ins)};
const graft_plugin descriptor =
    graft::plugin("starcoder2_cpp", "1.0.0", "Apache-2.0", "The model type starcoder2, in C++", families);

} // namespace

const graft_plugin *graft_plugin_entry(const graft_host *, graft_error *) {
    return &descriptor;
}

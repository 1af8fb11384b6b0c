// SPDX-License-Identifier: Apache-2.0
//! A model type in Rust. StarCoder2 (Lozhkov et al. 2024) is Llama with LayerNorms, with biases, with an MLP without a
//! gate, and with a window in every layer.

use graft::{
    ActivationArgs, ActivationModule, Arg, Args, Build, Call, Class, Config, Derived, Family, Field, LinearArgs,
    LinearModule, Mlp, MlpArgs, Plugin, Result, Sink,
};

const MAX_SIZE: i64 = 1 << 20;
const MAX_LAYERS: i64 = 4096;

/// Llama's model, told about the window of each layer.
struct Starcoder2Model;

impl Derived for Starcoder2Model {
    const NAME: &'static str = "Starcoder2Model";
    const BASE: &'static str = "LlamaModel";
    const INTERFACE: &'static str = "graft.base_model/1";

    fn describe(sink: &Sink, config: &Config, _: &Args) -> Result<()> {
        let layers = config.integer("num_hidden_layers", 1, MAX_LAYERS, 0)?;
        let window = config.integer("sliding_window", 1, i64::from(i32::MAX), 0)?; // null in config.json: none
        sink.base(&[Arg::Integers("windows", &vec![window; layers as usize])])
    }
}

/// output = c_proj(act(c_fc(hidden_states)))
struct Starcoder2Mlp {
    c_fc: LinearModule,   // hidden -> intermediate
    c_proj: LinearModule, // intermediate -> hidden
    act: ActivationModule,
}

impl Class for Starcoder2Mlp {
    const NAME: &'static str = "Starcoder2MLP";
    const BASE: Option<&'static str> = Some("LlamaMLP");
    type Kept = ();

    fn describe(sink: &Sink, config: &Config, args: &Args) -> Result<()> {
        let hidden = args.size("hidden_size", MAX_SIZE)?;
        let intermediate = args.size("intermediate_size", MAX_SIZE)?;
        let bias = args.integer("mlp_bias", 0) != 0;
        sink.linear("c_fc", hidden, intermediate, bias)?;
        sink.linear("c_proj", intermediate, hidden, bias)?;
        sink.activation("act", config, args, "hidden_act")
    }

    fn create(build: &Build, _: &()) -> Result<Self> {
        Ok(Starcoder2Mlp {
            c_fc: build.linear("c_fc")?,
            c_proj: build.linear("c_proj")?,
            act: build.activation("act")?,
        })
    }
}

impl Mlp for Starcoder2Mlp {
    fn forward(&self, call: &Call, args: MlpArgs) -> Result<()> {
        let inner = call.floats(args.tokens, self.c_fc.out_features())?; // [tokens, intermediate]
        self.c_fc.forward(call, LinearArgs::new(args.tokens, args.hidden_states, inner))?;
        self.act.forward(call, ActivationArgs::in_place(inner))?;
        self.c_proj.forward(call, LinearArgs::new(args.tokens, inner, args.output))
    }
}

fn family() -> Family {
    Family::new("starcoder2")
        .base_model_prefix("model")
        .architecture("Starcoder2ForCausalLM")
        .architecture("Starcoder2Model")
        .class(graft::derived("Starcoder2ForCausalLM", "LlamaForCausalLM", "graft.causal_lm/1"))
        .class(graft::derived_class::<Starcoder2Model>())
        .class(graft::derived("Starcoder2DecoderLayer", "LlamaDecoderLayer", "graft.decoder_layer/1"))
        .class(graft::derived("Starcoder2Attention", "LlamaAttention", "graft.self_attention/1"))
        .class(graft::mlp_class::<Starcoder2Mlp>())
        .class(graft::derived("Starcoder2RotaryEmbedding", "LlamaRotaryEmbedding", "graft.rotary/1"))
        .stand_in("LlamaRMSNorm", "LayerNorm")
        // Names and defaults that are not Llama's.
        .field(Field::new("vocab_size").integer(49152))
        .field(Field::new("hidden_size").integer(3072))
        .field(Field::new("intermediate_size").integer(12288))
        .field(Field::new("num_hidden_layers").integer(30))
        .field(Field::new("num_attention_heads").integer(24))
        .field(Field::new("num_key_value_heads").integer(2))
        .field(Field::new("max_position_embeddings").integer(4096))
        .field(Field::new("rms_norm_eps").alias("norm_epsilon").real(1e-5))
        .field(Field::new("attention_bias").alias("use_bias").boolean(true))
        .field(Field::new("mlp_bias").alias("use_bias").boolean(true))
        .field(Field::new("hidden_act").string("gelu_pytorch_tanh"))
        .field(Field::new("tie_word_embeddings").boolean(true))
}

graft::plugin!(
    Plugin::new("starcoder2_rust", "1.0.0", "Apache-2.0", "The model type starcoder2, in Rust").family(family())
);

// SPDX-License-Identifier: Apache-2.0
//! power_gate in Rust: a model type with mathematics of its own, Llama with an MLP whose gate is a power,
//!     output = down_proj(sign(g) * |g|^p * up_proj(x)), where g = gate_proj(x),
//! and p is the field gate_power of config.json.

use graft::{Args, Build, Call, Class, Config, Family, LinearArgs, LinearModule, Mlp, MlpArgs, Plugin, Result, Sink};

const MAX_SIZE: i64 = 1 << 20;

struct PowerGateMlp {
    gate_proj: LinearModule, // hidden -> intermediate
    up_proj: LinearModule,   // hidden -> intermediate
    down_proj: LinearModule, // intermediate -> hidden
    power: f32,
}

impl Class for PowerGateMlp {
    const NAME: &'static str = "PowerGateMLP";
    const BASE: Option<&'static str> = Some("LlamaMLP");
    type Kept = f32; // gate_power

    fn describe(sink: &Sink, config: &Config, args: &Args) -> Result<f32> {
        let hidden = args.size("hidden_size", MAX_SIZE)?;
        let intermediate = args.size("intermediate_size", MAX_SIZE)?;
        sink.linear("gate_proj", hidden, intermediate, false)?;
        sink.linear("up_proj", hidden, intermediate, false)?;
        sink.linear("down_proj", intermediate, hidden, false)?;
        Ok(config.real("gate_power", 0.0, 0.5)? as f32)
    }

    fn create(build: &Build, power: &f32) -> Result<Self> {
        Ok(PowerGateMlp {
            gate_proj: build.linear("gate_proj")?,
            up_proj: build.linear("up_proj")?,
            down_proj: build.linear("down_proj")?,
            power: *power,
        })
    }
}

impl Mlp for PowerGateMlp {
    fn forward(&self, call: &Call, args: MlpArgs) -> Result<()> {
        let (tokens, columns) = (args.tokens, self.gate_proj.out_features());
        let gate = call.floats(tokens, columns)?; // [tokens, intermediate]
        let up = call.floats(tokens, columns)?; // [tokens, intermediate]
        self.gate_proj.forward(call, LinearArgs::new(tokens, args.hidden_states, gate))?;
        self.up_proj.forward(call, LinearArgs::new(tokens, args.hidden_states, up))?;
        for (gate, up) in gate.iter_mut().zip(up.iter()) {
            *gate = gate.abs().powf(self.power).copysign(*gate) * up;
        }
        self.down_proj.forward(call, LinearArgs::new(tokens, gate, args.output))
    }
}

/// All but the MLP are Llama's classes. Their names are this family's, so that other plugins can replace them alone.
fn family() -> Family {
    Family::new("power_gate")
        .base_model_prefix("model")
        .architecture("PowerGateForCausalLM")
        .architecture("PowerGateModel")
        .class(graft::derived("PowerGateForCausalLM", "LlamaForCausalLM", "graft.causal_lm/1"))
        .class(graft::derived("PowerGateModel", "LlamaModel", "graft.base_model/1"))
        .class(graft::derived("PowerGateDecoderLayer", "LlamaDecoderLayer", "graft.decoder_layer/1"))
        .class(graft::mlp_class::<PowerGateMlp>())
}

graft::plugin!(
    Plugin::new("power_gate_rust", "1.0.0", "Apache-2.0", "The model type power_gate, in Rust").family(family())
);

// SPDX-License-Identifier: Apache-2.0
//! fused_gate_up in Rust: the MLP of a decoder with one projection for gate and up. The rows of gate_up_proj are those
//! of gate_proj, then those of up_proj; joining them copies nothing. Results are those of the original to the bit.

use graft::{
    ActivationModule, Args, Build, Call, Class, Config, Conversion, LinearArgs, LinearModule, Mlp, MlpArgs, Plugin,
    Replacement, Result, Sink,
};

const MAX_SIZE: i64 = 1 << 20;

struct FusedGateUpMlp {
    gate_up_proj: LinearModule, // hidden -> 2 * intermediate
    down_proj: LinearModule,    // intermediate -> hidden
    act_fn: ActivationModule,
    intermediate: usize,
}

impl Class for FusedGateUpMlp {
    const NAME: &'static str = "FusedGateUpMLPInRust";
    type Kept = usize; // intermediate_size

    fn describe(sink: &Sink, config: &Config, args: &Args) -> Result<usize> {
        let hidden = args.size("hidden_size", MAX_SIZE)?;
        let intermediate = args.size("intermediate_size", MAX_SIZE)?;
        let bias = args.integer("mlp_bias", 0) != 0;
        sink.linear("gate_up_proj", hidden, 2 * intermediate, bias)?;
        sink.linear("down_proj", intermediate, hidden, bias)?;
        sink.activation("act_fn", config, args, "hidden_act")?;
        Ok(intermediate)
    }

    fn create(build: &Build, intermediate: &usize) -> Result<Self> {
        Ok(FusedGateUpMlp {
            gate_up_proj: build.linear("gate_up_proj")?,
            down_proj: build.linear("down_proj")?,
            act_fn: build.activation("act_fn")?,
            intermediate: *intermediate,
        })
    }

    /// The second one is left out where there are no biases.
    fn conversions() -> Vec<Conversion> {
        vec![
            Conversion::new(&["gate_proj.weight", "up_proj.weight"], &["gate_up_proj.weight"]).concatenate(0),
            Conversion::new(&["gate_proj.bias", "up_proj.bias"], &["gate_up_proj.bias"]).concatenate(0),
        ]
    }
}

impl Mlp for FusedGateUpMlp {
    /// output = down_proj(act_fn(gate) * up)
    fn forward(&self, call: &Call, args: MlpArgs) -> Result<()> {
        let (tokens, columns) = (args.tokens, self.intermediate);
        let gate_up = call.floats(tokens, 2 * columns)?; // [tokens, 2, intermediate]
        let gate = call.floats(tokens, columns)?;
        let up = call.floats(tokens, columns)?;
        self.gate_up_proj.forward(call, LinearArgs::new(tokens, args.hidden_states, gate_up))?;
        for ((row, gate), up) in
            gate_up.chunks_exact(2 * columns).zip(gate.chunks_exact_mut(columns)).zip(up.chunks_exact_mut(columns))
        {
            gate.copy_from_slice(&row[..columns]);
            up.copy_from_slice(&row[columns..]);
        }
        self.act_fn.gate(call, gate, up, tokens, columns)?;
        self.down_proj.forward(call, LinearArgs::new(tokens, gate, args.output))
    }
}

// The interface keeps the pattern to classes that are called like an MLP. That their weights are a gate and an up is
// known of these families.
graft::plugin!(Plugin::new(
    "fused_gate_up_rust",
    "1.0.0",
    "Apache-2.0",
    "An MLP with one projection for gate and up, in Rust"
)
.replace(Replacement::pattern("MLP$", graft::mlp_class::<FusedGateUpMlp>()).model_types(&[
    "llama",
    "mistral",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe"
])));

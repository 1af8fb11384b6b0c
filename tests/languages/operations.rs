// SPDX-License-Identifier: Apache-2.0
//! An MLP whose weights lie otherwise in each way that the crate has an operation for: the rows of the gate sorted into
//! those at even and at odd places, those of up shuffled, and down in two parts that are turned round, each by an operation
//! of its own and the way back.

use graft::{
    ffi, ActivationModule, Args, Build, Call, Class, Config, Conversion, Error, Input, LinearArgs, LinearModule, Mlp,
    MlpArgs, Operation, Output, Plugin, Replacement, Result, Reversible, Sink, Value, Weight,
};

/// The signs of all numbers, changed: what undoes itself.
struct Negate;

impl Operation for Negate {
    const NAME: &'static str = "negate";
    const FLAGS: u32 = ffi::GRAFT_CUSTOM_ROWS;

    fn infer(inputs: &[Value], outputs: usize) -> Result<Vec<Value>> {
        if inputs.len() != outputs || inputs.iter().any(|value| value.dtype != ffi::GRAFT_DTYPE_F32) {
            return Err(Error::model("expected F32, and as many targets"));
        }
        Ok(inputs.to_vec())
    }

    fn apply(_: std::ops::Range<usize>, from: &[Input], to: &mut [Output]) -> Result<()> {
        for (from, to) in from.iter().zip(to) {
            for (y, x) in to.numbers::<f32>()?.iter_mut().zip(from.numbers::<f32>()?.iter()) {
                *y = -x;
            }
        }
        Ok(())
    }
}

impl Reversible for Negate {
    fn reverse(rows: std::ops::Range<usize>, from: &[Input], to: &mut [Output]) -> Result<()> {
        Negate::apply(rows, from, to)
    }
}

struct TurnedMlp {
    sorted: LinearModule,
    shuffled: LinearModule,
    act_fn: ActivationModule,
    halves: [Weight; 2], // [intermediate / 2, hidden] each
}

impl Class for TurnedMlp {
    const NAME: &'static str = "TurnedMLPInRust";
    type Kept = ();

    fn describe(sink: &Sink, config: &Config, args: &Args) -> Result<()> {
        let hidden = args.size("hidden_size", 1 << 20)?;
        let intermediate = args.size("intermediate_size", 1 << 20)?;
        sink.linear("sorted", hidden, intermediate, false)?;
        sink.linear("shuffled", hidden, intermediate, false)?;
        for name in ["first", "second"] {
            let shape = [intermediate as i64 / 2, hidden as i64];
            sink.parameter(name, &shape, ffi::GRAFT_PARAMETER_CONTIGUOUS, ffi::GRAFT_INIT_NONE)?;
        }
        sink.activation("act_fn", config, args, "hidden_act")
    }

    fn create(build: &Build, _: &()) -> Result<Self> {
        Ok(TurnedMlp {
            sorted: build.linear("sorted")?,
            shuffled: build.linear("shuffled")?,
            act_fn: build.activation("act_fn")?,
            halves: [build.weight("first")?, build.weight("second")?],
        })
    }

    fn conversions() -> Vec<Conversion> {
        vec![
            Conversion::new(&["gate_proj.weight"], &["sorted.weight"]).interleave(0),
            Conversion::new(&["up_proj.weight"], &["shuffled.weight"]).interleave_inverse(0),
            Conversion::new(&["down_proj.weight"], &["first", "second"])
                .chunk(1)
                .transpose(0, 1)
                .custom(graft::reversible::<Negate>()),
        ]
    }
}

impl Mlp for TurnedMlp {
    fn forward(&self, call: &Call, args: MlpArgs) -> Result<()> {
        let (tokens, n, hidden) = (args.tokens, self.sorted.out_features(), args.hidden_size);
        let half = n / 2;
        let [a, b] = [call.floats(tokens, n)?, call.floats(tokens, n)?];
        let [gate, up] = [call.floats(tokens, n)?, call.floats(tokens, n)?];
        self.sorted.forward(call, LinearArgs::new(tokens, args.hidden_states, a))?;
        self.shuffled.forward(call, LinearArgs::new(tokens, args.hidden_states, b))?;
        for i in 0..tokens * n {
            let (row, k) = (i / n * n, i % n);
            gate[i] = a[row + k / 2 + k % 2 * half];
            up[i] = b[row + k % half * 2 + k / half];
        }
        self.act_fn.gate(call, gate, up, tokens, n)?;
        let weights = [call.widened(&self.halves[0])?, call.widened(&self.halves[1])?];
        for (t, output) in args.output.chunks_exact_mut(hidden).enumerate() {
            for (h, sum) in output.iter_mut().enumerate() {
                *sum = (0..n).map(|k| -gate[t * n + k] * weights[k / half][k % half * hidden + h]).sum();
            }
        }
        Ok(())
    }
}

graft::plugin!(Plugin::new("turned_rust", "1.0.0", "Apache-2.0", "An MLP in each layout there is an operation for")
    .replace(Replacement::name("LlamaMLP", graft::mlp_class::<TurnedMlp>()))
    .operation(graft::reversible::<Negate>()));

// SPDX-License-Identifier: Apache-2.0
//! low_rank_adapter in Rust: y = W x + factor * B (A x) around each Linear that an adapter (`--adapter NAME=DIR`) has a
//! pair of low rank for (Hu et al. 2021). The Linear itself is called as it is, whatever its class.

use graft::{
    ffi, Args, Build, Call, Class, Config, Error, Linear, LinearArgs, LinearModule, Plugin, Replacement, Result, Sink,
};

const MAX_RANK: i64 = 4096;
const MAX_SIZE: i64 = 1 << 24;

// --- What adapter_config.json says ---

/// What asks for more than is done here, unless it is null, false or empty.
const REFUSED: [&str; 5] = ["use_rslora", "use_dora", "rank_pattern", "alpha_pattern", "modules_to_save"];

/// An adapter that the user gave.
struct Adapter<'a> {
    config: &'a Config<'a>,
    given: String, // "adapters.0": what the user said of it
    name: String,  // "adapter.NAME": what its files say; a child of the module
}

impl<'a> Adapter<'a> {
    fn all(config: &'a Config<'a>) -> Result<Vec<Adapter<'a>>> {
        (0..config.size("adapters"))
            .map(|i| {
                let given = format!("adapters.{}", i);
                let name = config.string(&format!("{}.name", given))?.unwrap_or_default();
                Ok(Adapter { config, name: format!("adapter.{}", name), given })
            })
            .collect()
    }

    fn check(&self) -> Result<()> {
        for field in REFUSED {
            if !self.is_empty(&format!("{}.{}", self.name, field))? {
                let directory = self.config.string(&format!("{}.directory", self.given))?.unwrap_or_default();
                let what = "expected none, low_rank_adapter_rust does not do that";
                return Err(Error::model(format!("adapter_config.json: {}: {}", field, what)).at(directory));
            }
        }
        Ok(())
    }

    fn is_empty(&self, path: &str) -> Result<bool> {
        Ok(match self.config.kind(path) {
            ffi::GRAFT_FIELD_ABSENT | ffi::GRAFT_FIELD_NULL => true,
            ffi::GRAFT_FIELD_BOOL => !self.config.boolean(path, false)?,
            ffi::GRAFT_FIELD_ARRAY | ffi::GRAFT_FIELD_OBJECT => self.config.size(path) == 0,
            _ => false,
        })
    }

    /// The factor of a pair: the user's scale * lora_alpha / rank.
    fn factor(&self, rank: usize) -> Result<f32> {
        let alpha = self.config.real(&format!("{}.lora_alpha", self.name), 0.0, 8.0)?; // PEFT's own default
        let scale = self.config.real(&format!("{}.scale", self.given), f64::NEG_INFINITY, 1.0)?;
        Ok((scale * alpha / rank as f64) as f32)
    }
}

// --- The module: the original, and two Linears for each adapter that has something for it ---

struct AdaptedLinear {
    original: LinearModule,
    pairs: Vec<Pair>,
}

struct Pair {
    a: LinearModule, // in_features -> rank
    b: LinearModule, // rank -> out_features
    factor: f32,
}

impl Class for AdaptedLinear {
    const NAME: &'static str = "LowRankAdaptedLinearInRust";
    const FLAGS: u32 = ffi::GRAFT_CLASS_CALLS_SUPER;
    type Kept = ();

    fn describe(sink: &Sink, config: &Config, args: &Args) -> Result<()> {
        for adapter in Adapter::all(config)? {
            adapter.check()?;
            let tensor = format!("{}.lora_A.weight", adapter.name);
            let rank = match sink.adapter_tensor(&tensor).map(|a| a.shape) {
                None => continue,
                Some(shape) if shape.len() == 2 && (1..=MAX_RANK).contains(&shape[0]) => shape[0] as usize,
                Some(_) => {
                    return Err(Error::model(format!("{}: expected a matrix of 1 to {} rows", tensor, MAX_RANK)))
                }
            };
            let (inputs, outputs) = (args.size("in_features", MAX_SIZE)?, args.size("out_features", MAX_SIZE)?);
            sink.linear(&format!("{}.lora_A", adapter.name), inputs, rank, false)?;
            sink.linear(&format!("{}.lora_B", adapter.name), rank, outputs, false)?;
        }
        Ok(())
    }

    fn create(build: &Build, _: &()) -> Result<Self> {
        let mut pairs = Vec::new();
        for adapter in Adapter::all(&build.config())? {
            if let Some(a) = build.find_linear(&format!("{}.lora_A", adapter.name))? {
                let b = build.linear(&format!("{}.lora_B", adapter.name))?;
                let factor = adapter.factor(a.out_features())?;
                pairs.push(Pair { a, b, factor });
            }
        }
        Ok(AdaptedLinear { original: build.super_linear()?, pairs })
    }
}

impl Linear for AdaptedLinear {
    fn forward(&self, call: &Call, mut args: LinearArgs) -> Result<()> {
        self.original.forward(call, args.reborrow())?;
        for pair in &self.pairs {
            let narrow = call.floats(args.tokens, pair.a.out_features())?; // [tokens, rank]
            let wide = call.floats(args.tokens, pair.b.out_features())?; // [tokens, out_features]
            pair.a.forward(call, LinearArgs::new(args.tokens, args.x, narrow))?;
            pair.b.forward(call, LinearArgs::new(args.tokens, narrow, wide))?;
            args.y.iter_mut().zip(wide).for_each(|(y, added)| *y += pair.factor * *added);
        }
        Ok(())
    }
}

// --- What the host is told: where there are adapters, and one of them has something for the module ---

graft::plugin!(Plugin::new(
    "low_rank_adapter_rust",
    "1.0.0",
    "Apache-2.0",
    "Adapters of low rank around Linears, in Rust"
)
.replace(
    Replacement::name("Linear", graft::linear_class::<AdaptedLinear>())
        .if_config("adapters", &[])
        .if_tensor(&["adapter.*.lora_A.weight"])
));

// SPDX-License-Identifier: Apache-2.0
//! quantized_linear in Rust: projections of layers with 8-bit weights, a scale for each row. A custom operation makes both
//! from the weight of any checkpoint while it is loaded; the forward multiplies them as they are.

use std::ops::Range;

use graft::{
    ffi, Args, Build, Call, Class, Config, Conversion, Error, Input, Linear, LinearArgs, Operation, Output, Plugin,
    PluginOption, Replacement, Result, Sink, Value, Weight,
};

const MAX_SIZE: i64 = 1 << 40;

// --- How it is made of a checkpoint's weight ---

/// [rows, columns] becomes codes of the same shape and scales [rows].
struct QuantizeRows;

impl Operation for QuantizeRows {
    const NAME: &'static str = "example_int8_rows_in_rust";
    const FLAGS: u32 = ffi::GRAFT_CUSTOM_ROWS | ffi::GRAFT_CUSTOM_SEES_F32 | ffi::GRAFT_CUSTOM_LOSSY;

    fn infer(inputs: &[Value], outputs: usize) -> Result<Vec<Value>> {
        match inputs {
            [weight] if weight.shape.len() == 2 && outputs == 2 => Ok(vec![
                Value::new(ffi::GRAFT_DTYPE_I8, &weight.shape),
                Value::new(ffi::GRAFT_DTYPE_F32, &weight.shape[..1]),
            ]),
            _ => Err(Error::model("expected a matrix, and targets for codes and scales")),
        }
    }

    fn apply(rows: Range<usize>, from: &[Input], to: &mut [Output]) -> Result<()> {
        let levels = ((1 << (graft::options().integer("bits", 8) - 1)) - 1) as f32; // codes are -levels to levels
        let columns = from[0].value().shape[1] as usize;
        let weight = from[0].numbers::<f32>()?;
        let (codes, scales) = to.split_at_mut(1);
        let (codes, scales) = (codes[0].numbers::<i8>()?, scales[0].numbers::<f32>()?);
        for i in 0..rows.len() {
            let part = i * columns..(i + 1) * columns;
            scales[i] = quantize_row(&weight[part.clone()], levels, &mut codes[part])
                .ok_or_else(|| Error::model(format!("row {} has a weight that is not finite", rows.start + i)))?;
        }
        Ok(())
    }
}

/// codes = round(weight / scale), the scale being such that the largest of the row gets the last code. None: a number is
/// not finite.
fn quantize_row(weight: &[f32], levels: f32, codes: &mut [i8]) -> Option<f32> {
    if weight.iter().any(|number| !number.is_finite()) {
        return None;
    }
    let largest = weight.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let factor = levels / largest;
    if !factor.is_finite() {
        return Some(0.0); // zeros, or so small that no float is the factor
    }
    for (code, number) in codes.iter_mut().zip(weight) {
        *code = (number * factor).round() as i8;
    }
    Some(largest / levels)
}

// --- An instance ---

struct QuantizedLinear {
    codes: Weight,        // [out_features, in_features]
    scales: Weight,       // [out_features]
    bias: Option<Weight>, // [out_features] of the checkpoint's type
}

impl Class for QuantizedLinear {
    const NAME: &'static str = "ExampleInt8LinearInRust";
    type Kept = ();

    fn describe(sink: &Sink, _: &Config, args: &Args) -> Result<()> {
        let shape = [args.size("out_features", MAX_SIZE)? as i64, args.size("in_features", MAX_SIZE)? as i64];
        sink.attribute("in_features", &shape[1..])?;
        sink.attribute("out_features", &shape[..1])?;
        sink.typed("codes", &shape, ffi::GRAFT_DTYPE_I8)?;
        sink.typed("scales", &shape[..1], ffi::GRAFT_DTYPE_F32)?;
        if args.integer("bias", 1) != 0 {
            sink.parameter("bias", &shape[..1], 0, ffi::GRAFT_INIT_NONE)?;
        }
        Ok(())
    }

    fn create(build: &Build, _: &()) -> Result<Self> {
        Ok(QuantizedLinear {
            codes: build.weight("codes")?,
            scales: build.weight("scales")?,
            bias: build.find_weight("bias"),
        })
    }

    fn conversions() -> Vec<Conversion> {
        vec![Conversion::new(&["weight"], &["codes", "scales"]).custom(graft::operation::<QuantizeRows>())]
    }
}

impl Linear for QuantizedLinear {
    /// Threads have rows of the weight, each read once for all tokens. A sum is made in the same order whoever makes it.
    fn forward(&self, call: &Call, args: LinearArgs) -> Result<()> {
        let (rows, columns, tokens) = (self.codes.rows(), self.codes.columns(), args.tokens);
        let codes = self.codes.numbers::<i8>().ok_or_else(|| Error::internal("codes are not I8"))?;
        let scales = self.scales.numbers::<f32>().ok_or_else(|| Error::internal("scales are not F32"))?;
        let bias = self.bias.as_ref().map(|bias| call.widened(bias)).transpose()?;
        let turned = call.floats(rows, tokens)?; // y as [rows, tokens]
        let grain = (1 << 16) / (1 + columns * tokens); // products that are worth a thread
        call.for_rows(turned, tokens, grain, |first, part| {
            for (r, sums) in (first..).zip(part.chunks_exact_mut(tokens)) {
                let codes = &codes[r * columns..(r + 1) * columns];
                for (x, sum) in args.x.chunks_exact(columns).zip(sums) {
                    let product: f32 = x.iter().zip(codes).map(|(x, code)| x * f32::from(*code)).sum();
                    *sum = product * scales[r] + bias.map_or(0.0, |bias| bias[r]);
                }
            }
            Ok(())
        })?;
        for (t, y) in args.y.chunks_exact_mut(rows).enumerate() {
            y.iter_mut().enumerate().for_each(|(r, y)| *y = turned[r * tokens + t]);
        }
        Ok(())
    }
}

// --- What the host is told: not the head, which is worth its bits ---

graft::plugin!(Plugin::new("quantized_linear_rust", "1.0.0", "Apache-2.0", "Projections of layers with 8-bit weights")
    .replace(
        Replacement::name("Linear", graft::linear_class::<QuantizedLinear>())
            .module_path("\\.layers\\.[0-9]+\\..*_proj$")
    )
    .operation(graft::operation::<QuantizeRows>())
    .option(PluginOption::integer("bits", "How many bits of each code are used", 8).choices(&["4", "8"])));

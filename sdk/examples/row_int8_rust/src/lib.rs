// SPDX-License-Identifier: Apache-2.0
//! What row_int8 reads, in Rust: `weight` has integers of 8 bits, `weight_scale` the scale of each row.

use graft::{ffi, Args, Config, Derived, Plugin, Replacement, Result, Scheme, Sink};

/// Everything but the description is that of the Linear which it replaces.
struct RowInt8Linear;

impl Derived for RowInt8Linear {
    const NAME: &'static str = "RowInt8LinearInRust";
    const BASE: &'static str = "Linear";
    const INTERFACE: &'static str = "graft.linear/1";

    fn describe(sink: &Sink, _: &Config, args: &Args) -> Result<()> {
        Scheme::linear(args, ffi::GRAFT_CODE_INT, 8)?
            .codes("weight", ffi::GRAFT_DTYPE_I8)? // [out, in]
            .scales("weight_scale", ffi::GRAFT_DTYPE_NONE)? // [out, 1], of any float type
            .describe(sink)
    }
}

// Only in models whose config.json names the method, and in modules that have scales.
graft::plugin!(Plugin::new(
    "row_int8_rust",
    "1.0.0",
    "Apache-2.0",
    "Linears with integers of 8 bits and a scale for each row, in Rust"
)
.quant_methods(&["row_int8"])
.replace(
    Replacement::name("Linear", graft::derived_class::<RowInt8Linear>())
        .if_config("quantization_config.quant_method", &["row_int8"])
        .if_tensor(&["weight_scale"])
));

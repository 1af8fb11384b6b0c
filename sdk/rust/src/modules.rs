// SPDX-License-Identifier: Apache-2.0
//! Modules that an instance calls. Each knows how long its arrays are: the host enforces the arguments that say so.

use crate::call::{length, Call};
use crate::class::SelfAttentionArgs;
use crate::describe::Args;
use crate::error::{check, Result};
use crate::ffi;
use crate::text::borrowed;

const MAX_SIZE: i64 = 1 << 40;

/// A module of one interface.
macro_rules! module {
    ($(#[$words:meta])* $name:ident { $( $size:ident: $argument:literal ),* }) => {
        $(#[$words])*
        pub struct $name {
            module: *const ffi::graft_module,
            $( $size: usize, )*
        }

        // The host's; it is called by one thread at a time, as the instance that has it.
        unsafe impl Send for $name {}

        impl $name {
            $(
                pub fn $size(&self) -> usize {
                    self.$size
                }
            )*

            /// Where it is in the model: "model.layers.0.mlp".
            pub fn path(&self) -> &str {
                unsafe { borrowed((*self.module).path) }
            }
        }
    };
}

module! {
    /// y = x W^T + b
    LinearModule { in_features: "in_features", out_features: "out_features" }
}

module! {
    /// hidden -> hidden
    MlpModule { hidden_size: "hidden_size" }
}

module! {
    /// A norm over hidden_size numbers.
    NormModule { hidden_size: "hidden_size" }
}

module! {
    /// An attention.
    SelfAttentionModule {}
}

module! {
    /// A function of one number.
    ActivationModule {}
}

impl LinearModule {
    pub(crate) fn new(module: *const ffi::graft_module, args: &Args) -> Result<LinearModule> {
        let in_features = args.size("in_features", MAX_SIZE)?;
        let out_features = args.size("out_features", MAX_SIZE)?;
        Ok(LinearModule { module, in_features, out_features })
    }

    /// x [tokens, in_features] -> y [tokens, out_features]
    pub fn forward(&self, call: &Call, tokens: usize, x: &[f32], y: &mut [f32]) -> Result<()> {
        length("x of a Linear", x, tokens, self.in_features)?;
        length("y of a Linear", y, tokens, self.out_features)?;
        let args = ffi::graft_linear_args {
            struct_size: std::mem::size_of::<ffi::graft_linear_args>() as u32,
            required_features: 0,
            tokens: tokens as i64,
            x: x.as_ptr(),
            y: y.as_mut_ptr(),
        };
        check(unsafe { ffi::graft_linear_forward(self.module, call.raw, &args, call.error) })
    }
}

impl MlpModule {
    pub(crate) fn new(module: *const ffi::graft_module, args: &Args) -> Result<MlpModule> {
        Ok(MlpModule { module, hidden_size: args.size("hidden_size", MAX_SIZE)? })
    }

    /// Both [tokens, hidden_size].
    pub fn forward(&self, call: &Call, tokens: usize, hidden_states: &[f32], output: &mut [f32]) -> Result<()> {
        length("hidden_states of an MLP", hidden_states, tokens, self.hidden_size)?;
        length("output of an MLP", output, tokens, self.hidden_size)?;
        let args = ffi::graft_mlp_args {
            struct_size: std::mem::size_of::<ffi::graft_mlp_args>() as u32,
            required_features: 0,
            tokens: tokens as i64,
            hidden_states: hidden_states.as_ptr(),
            output: output.as_mut_ptr(),
        };
        check(unsafe { ffi::graft_mlp_forward(self.module, call.raw, &args, call.error) })
    }
}

impl NormModule {
    pub(crate) fn new(module: *const ffi::graft_module, args: &Args) -> Result<NormModule> {
        Ok(NormModule { module, hidden_size: args.size("hidden_size", MAX_SIZE)? })
    }

    /// Both [tokens, hidden_size]; nothing is added to the hidden states.
    pub fn forward(&self, call: &Call, tokens: usize, hidden_states: &mut [f32], output: &mut [f32]) -> Result<()> {
        length("hidden_states of a norm", hidden_states, tokens, self.hidden_size)?;
        length("output of a norm", output, tokens, self.hidden_size)?;
        let args = ffi::graft_norm_args {
            struct_size: std::mem::size_of::<ffi::graft_norm_args>() as u32,
            required_features: 0,
            tokens: tokens as i64,
            hidden_states: hidden_states.as_mut_ptr(),
            residual: std::ptr::null(),
            output: output.as_mut_ptr(),
        };
        check(unsafe { ffi::graft_norm_forward(self.module, call.raw, &args, call.error) })
    }
}

impl SelfAttentionModule {
    pub(crate) fn new(module: *const ffi::graft_module) -> SelfAttentionModule {
        SelfAttentionModule { module }
    }

    /// With the arguments that the caller was given.
    pub fn forward(&self, call: &Call, args: SelfAttentionArgs) -> Result<()> {
        check(unsafe { ffi::graft_self_attention_forward(self.module, call.raw, args.raw, call.error) })
    }
}

impl ActivationModule {
    pub(crate) fn new(module: *const ffi::graft_module) -> ActivationModule {
        ActivationModule { module }
    }

    /// In place.
    pub fn forward(&self, call: &Call, x: &mut [f32]) -> Result<()> {
        let args = ffi::graft_activation_args {
            struct_size: std::mem::size_of::<ffi::graft_activation_args>() as u32,
            required_features: 0,
            count: i64::try_from(x.len())?,
            x: x.as_ptr(),
            y: x.as_mut_ptr(),
        };
        check(unsafe { ffi::graft_activation_forward(self.module, call.raw, &args, call.error) })
    }

    /// gate = act(gate) * up, both [tokens, columns].
    pub fn gate(&self, call: &Call, gate: &mut [f32], up: &[f32], tokens: usize, columns: usize) -> Result<()> {
        length("gate", gate, tokens, columns)?;
        length("up", up, tokens, columns)?;
        let (tokens, columns) = (tokens as i64, columns as i64);
        let (gate, up) = (gate.as_mut_ptr(), up.as_ptr());
        check(unsafe { ffi::graft_activation_gate(self.module, call.raw, gate, up, tokens, columns, call.error) })
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Modules that an instance calls, with the arguments that a class of the interface is given. Each knows how long its
//! arrays are: the host enforces the arguments that say so.

use crate::call::{length, Call};
use crate::class::{ActivationArgs, LinearArgs, MlpArgs, NormArgs, SelfAttentionArgs};
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
    pub fn forward(&self, call: &Call, args: LinearArgs) -> Result<()> {
        length("x of a Linear", args.x, args.tokens, self.in_features)?;
        length("y of a Linear", args.y, args.tokens, self.out_features)?;
        let raw = ffi::graft_linear_args {
            struct_size: std::mem::size_of::<ffi::graft_linear_args>() as u32,
            required_features: 0,
            tokens: args.tokens as i64,
            x: args.x.as_ptr(),
            y: args.y.as_mut_ptr(),
        };
        check(unsafe { ffi::graft_linear_forward(self.module, call.raw, &raw, call.error) })
    }
}

impl MlpModule {
    pub(crate) fn new(module: *const ffi::graft_module, args: &Args) -> Result<MlpModule> {
        Ok(MlpModule { module, hidden_size: args.size("hidden_size", MAX_SIZE)? })
    }

    /// Both [tokens, hidden_size].
    pub fn forward(&self, call: &Call, args: MlpArgs) -> Result<()> {
        length("hidden_states of an MLP", args.hidden_states, args.tokens, self.hidden_size)?;
        length("output of an MLP", args.output, args.tokens, self.hidden_size)?;
        let raw = ffi::graft_mlp_args {
            struct_size: std::mem::size_of::<ffi::graft_mlp_args>() as u32,
            required_features: 0,
            tokens: args.tokens as i64,
            hidden_states: args.hidden_states.as_ptr(),
            output: args.output.as_mut_ptr(),
        };
        check(unsafe { ffi::graft_mlp_forward(self.module, call.raw, &raw, call.error) })
    }
}

impl NormModule {
    pub(crate) fn new(module: *const ffi::graft_module, args: &Args) -> Result<NormModule> {
        Ok(NormModule { module, hidden_size: args.size("hidden_size", MAX_SIZE)? })
    }

    /// Both [tokens, hidden_size]; nothing is added to the hidden states.
    pub fn forward(&self, call: &Call, args: NormArgs) -> Result<()> {
        length("hidden_states of a norm", args.hidden_states, args.tokens, self.hidden_size)?;
        length("output of a norm", args.output, args.tokens, self.hidden_size)?;
        let raw = ffi::graft_norm_args {
            struct_size: std::mem::size_of::<ffi::graft_norm_args>() as u32,
            required_features: 0,
            tokens: args.tokens as i64,
            hidden_states: args.hidden_states.as_ptr() as *mut f32, // written only where there is a residual
            residual: std::ptr::null(),
            output: args.output.as_mut_ptr(),
        };
        check(unsafe { ffi::graft_norm_forward(self.module, call.raw, &raw, call.error) })
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

    /// y = function(x), number by number.
    pub fn forward(&self, call: &Call, args: ActivationArgs) -> Result<()> {
        let raw = ffi::graft_activation_args {
            struct_size: std::mem::size_of::<ffi::graft_activation_args>() as u32,
            required_features: 0,
            count: i64::try_from(args.count)?,
            x: args.x,
            y: args.y,
        };
        check(unsafe { ffi::graft_activation_forward(self.module, call.raw, &raw, call.error) })
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

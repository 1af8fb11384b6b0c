// SPDX-License-Identifier: Apache-2.0
//! Plugins for Graft in Rust, without a line of `unsafe` in them.
//!
//! A class of modules is a type with [`Class`], which says what instances consist of and makes them, and one of the
//! traits of interfaces ([`Mlp`], [`Linear`], [`Activation`], [`Norm`], [`SelfAttention`]), which computes. [`plugin!`]
//! exports the entry:
//!
//! ```ignore
//! graft::plugin!(graft::Plugin::new("my_mlp", "1.0.0", "Apache-2.0", "An MLP of mine")
//!     .replace(graft::Replacement::pattern("MLP$", graft::mlp_class::<MyMlp>())));
//! ```
//!
//! An `Err` becomes the error that users see, and so does a panic: neither gets past the functions that the host calls.
//! The lengths of slices follow from the arguments that the host enforces, so that a forward is checked by its types.
//! What is not wrapped here can be reached through [`ffi`]; `graft/*.h` say what things mean.
//!
//! Modules and weights that [`Build`] hands out are the host's for as long as the instance lives: keep them in the
//! instance and nowhere else.

#[cfg(panic = "abort")]
compile_error!("a plugin must not end its host: build it with panic = \"unwind\"");

mod call;
mod class;
mod create;
mod describe;
mod error;
mod family;
pub mod ffi;
mod modules;
mod number;
mod operation;
mod option;
mod plugin;
mod processor;
mod scheme;
mod text;

pub use call::Call;
pub use class::{
    activation_class, derived, derived_class, linear_class, mlp_class, norm_class, self_attention_class, Activation,
    Class, ClassRef, Derived, Linear, Mlp, Norm, SelfAttention,
};
pub use class::{ActivationArgs, LinearArgs, MlpArgs, NormArgs, SelfAttentionArgs};
pub use create::{Build, Weight};
pub use describe::{Arg, Args, Config, Conversion, Sink};
pub use error::{Error, Result};
pub use family::{Family, Field};
pub use modules::{ActivationModule, LinearModule, MlpModule, NormModule, SelfAttentionModule};
pub use number::Number;
pub use operation::{operation, reversible, Input, Operation, OperationRef, Output, Reversible, Value};
pub use option::{options, Options, PluginOption};
pub use plugin::{log, Plugin, Replacement};
pub use processor::{logits_processor, LogitsArgs, LogitsProcessor, ProcessorRef, Sequence};
pub use scheme::Scheme;

#[doc(hidden)]
pub use plugin::{entry, Descriptor};

/// Exports the entry of a plugin. The expression makes the [`Plugin`], and is evaluated once.
#[macro_export]
macro_rules! plugin {
    ($make:expr) => {
        /// # Safety
        /// Called by the host, with its pointers.
        #[no_mangle]
        pub unsafe extern "C" fn graft_plugin_entry(
            host: *const $crate::ffi::graft_host,
            error: *mut $crate::ffi::graft_error,
        ) -> *const $crate::ffi::graft_plugin {
            static DESCRIPTOR: $crate::Descriptor = $crate::Descriptor::new();
            $crate::entry(&DESCRIPTOR, host, error, || $make)
        }
    };
}

// SPDX-License-Identifier: Apache-2.0
//! logging_attention in Rust: logs each call of an attention, then lets the original do the work.

use graft::{
    ffi, Args, Build, Call, Class, Config, Plugin, Replacement, Result, SelfAttention, SelfAttentionArgs,
    SelfAttentionModule, Sink,
};

struct LoggingAttention {
    original: SelfAttentionModule,
}

impl Class for LoggingAttention {
    const NAME: &'static str = "LoggingAttentionInRust";
    const FLAGS: u32 = ffi::GRAFT_CLASS_CALLS_SUPER;
    type Kept = ();

    /// Nothing beside what the original consists of.
    fn describe(_: &Sink, _: &Config, _: &Args) -> Result<()> {
        Ok(())
    }

    fn create(build: &Build, _: &()) -> Result<Self> {
        Ok(LoggingAttention { original: build.super_self_attention()? })
    }
}

impl SelfAttention for LoggingAttention {
    fn forward(&self, call: &Call, args: SelfAttentionArgs) -> Result<()> {
        graft::log("logging_attention_rust", &format!("{}: {} tokens", self.original.path(), args.tokens));
        self.original.forward(call, args)
    }
}

graft::plugin!(Plugin::new("logging_attention_rust", "1.0.0", "Apache-2.0", "Logs each call of an attention, in Rust")
    .replace(
        Replacement::pattern("Attention$", graft::self_attention_class::<LoggingAttention>())
            .flags(ffi::GRAFT_REPLACEMENT_WHERE_IT_FITS)
    ));

// SPDX-License-Identifier: Apache-2.0
//! Panics or fails where the environment variable PANIC_AT says, and works elsewhere: nothing gets past the crate.

use graft::{
    options, Args, Build, Call, Class, Config, Error, Mlp, MlpArgs, MlpModule, Plugin, PluginOption, Replacement,
    Result, Sink,
};

fn asked(place: &str) -> bool {
    std::env::var("PANIC_AT").map_or(false, |at| at == place)
}

fn panic_at(place: &str) {
    assert!(!asked(place), "asked in {},\non purpose", place);
}

struct Panicking {
    original: MlpModule,
}

impl Class for Panicking {
    const NAME: &'static str = "Panicking";
    const FLAGS: u32 = graft::ffi::GRAFT_CLASS_CALLS_SUPER;
    type Kept = ();

    fn describe(sink: &Sink, _: &Config, args: &Args) -> Result<()> {
        panic_at("describe");
        if asked("error") {
            return Err(Error::model("it is at fault").at("config.json"));
        }
        if asked("options") {
            let (count, share, yes) =
                (options().integer("count", 0), options().real("share", 0.0), options().boolean("yes", false));
            let (word, none) = (options().string("word"), options().string("none"));
            return Err(Error::plugin(format!("{} {} {} {:?} {:?}", count, share, yes, word, none)));
        }
        if asked("question") {
            "x".parse::<i32>()?;
        }
        let maximum = if asked("recorded") { 1 } else { 1 << 20 };
        sink.attribute("hidden_size", &[args.size("hidden_size", maximum)? as i64])
    }

    fn create(build: &Build, _: &()) -> Result<Self> {
        panic_at("create");
        Ok(Panicking { original: build.super_mlp()? })
    }
}

impl Mlp for Panicking {
    fn forward(&self, call: &Call, args: MlpArgs) -> Result<()> {
        panic_at("forward");
        if asked("length") {
            return self.original.forward(call, MlpArgs { tokens: args.tokens + 1, ..args });
        }
        let hidden_size = args.hidden_size;
        call.for_rows(&mut *args.output, hidden_size, 1, |_, _| {
            panic_at("body");
            Ok(())
        })?;
        self.original.forward(call, args)
    }
}

impl Drop for Panicking {
    fn drop(&mut self) {
        panic_at("drop");
    }
}

graft::plugin!({
    panic_at("entry");
    let early = options().integer("count", 7); // there is none yet
    Plugin::new("panicking", "1.0.0", "Apache-2.0", "Panics on request")
        .option(PluginOption::integer("count", "A whole number", early))
        .option(PluginOption::real("share", "A number", 0.25))
        .option(PluginOption::boolean("yes", "Whether", true))
        .option(PluginOption::string("word", "Any words", "two words"))
        .replace(Replacement::name("LlamaMLP", graft::mlp_class::<Panicking>()))
});

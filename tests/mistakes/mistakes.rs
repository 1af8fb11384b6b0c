// SPDX-License-Identifier: Apache-2.0
//! An MLP in Rust that is right, and makes one mistake of many if it is asked to: GRAFT_TEST_MISTAKE is its name.
//! mistakes_rust.cases says what `validate` has to say of each.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::Mutex;

use graft::{
    Args, Build, Call, Class, Config, Error, LinearArgs, LinearModule, Mlp, MlpArgs, Plugin, Replacement, Result, Sink,
};

fn is(name: &str) -> bool {
    std::env::var("GRAFT_TEST_MISTAKE").map_or(false, |asked| asked == name)
}

static CALLS: AtomicU64 = AtomicU64::new(0);
static LAST: Mutex<[f32; 4]> = Mutex::new([0.0; 4]);
static mut TOKENS: usize = 0;

struct AcmeMlp {
    gate_proj: LinearModule,
    up_proj: LinearModule,
    down_proj: LinearModule,
    intermediate: usize,
    kept: AtomicPtr<f32>,
    table: Vec<f32>,
}

impl Class for AcmeMlp {
    const NAME: &'static str = "AcmeMLPInRust";
    type Kept = usize; // intermediate_size

    fn describe(sink: &Sink, _: &Config, args: &Args) -> Result<usize> {
        let (hidden, intermediate) = (args.size("hidden_size", 1 << 20)?, args.size("intermediate_size", 1 << 20)?);
        let wide = intermediate + usize::from(is("describes_a_row_too_many"));
        let bias = args.integer("mlp_bias", 0) != 0 && !is("forgets_the_bias");
        if args.string("hidden_act") != Some("silu") {
            return Err(Error::model("hidden_act: expected silu"));
        }
        sink.linear("gate_proj", hidden, intermediate, bias)?;
        sink.linear(if is("describes_another_name") { "up" } else { "up_proj" }, hidden, wide, bias)?;
        sink.linear("down_proj", intermediate, hidden, bias)?;
        Ok(intermediate)
    }

    fn create(build: &Build, intermediate: &usize) -> Result<Self> {
        if is("create_writes_static") {
            CALLS.store(1, Ordering::Relaxed);
        }
        let name = if is("describes_another_name") { "up" } else { "up_proj" };
        let none: Option<usize> = if is("unwraps_none") { None } else { Some(*intermediate) };
        Ok(AcmeMlp {
            gate_proj: build.linear("gate_proj")?,
            up_proj: build.linear(name)?,
            down_proj: build.linear("down_proj")?,
            intermediate: none.unwrap(),
            kept: AtomicPtr::new(std::ptr::null_mut()),
            table: vec![0.0; 4],
        })
    }
}

impl AcmeMlp {
    /// What a safe language does not let one do by accident.
    fn be_unsafe(&self, args: &MlpArgs, gate: &[f32]) {
        let (x, y) = (args.hidden_states, &args.output);
        unsafe {
            if is("reads_past_input") {
                std::ptr::read_volatile(x.as_ptr().add(x.len()));
            }
            if is("writes_past_output") {
                std::ptr::write_volatile((y.as_ptr() as *mut f32).add(y.len()), 1.0);
            }
            if is("writes_to_input") {
                std::ptr::write_volatile(x.as_ptr() as *mut f32, x[0]);
            }
            if is("reads_in_front_of_scratch") {
                std::ptr::read_volatile(gate.as_ptr().sub(1));
            }
            if is("keeps_input") {
                let kept = self.kept.swap(x.as_ptr() as *mut f32, Ordering::Relaxed);
                if !kept.is_null() {
                    std::ptr::read_volatile(kept);
                }
            }
            if is("writes_static_mut") {
                std::ptr::write_volatile(std::ptr::addr_of_mut!(TOKENS), args.tokens);
            }
        }
    }
}

impl Mlp for AcmeMlp {
    fn forward(&self, call: &Call, args: MlpArgs) -> Result<()> {
        let (tokens, columns) = (args.tokens, self.intermediate);
        let gate = call.floats(tokens, columns)?;
        let up = call.floats(tokens, columns)?;
        if is("counts_calls") {
            CALLS.fetch_add(1, Ordering::Relaxed);
        }
        if is("locks_a_static") {
            LAST.lock().unwrap()[0] = args.hidden_states[0];
        }
        if is("indexes_too_far") {
            gate[0] = self.table[tokens + 4];
        }
        self.be_unsafe(&args, gate);
        self.gate_proj.forward(call, LinearArgs::new(tokens, args.hidden_states, gate))?;
        self.up_proj.forward(call, LinearArgs::new(tokens, args.hidden_states, up))?;
        for (gate, up) in gate.iter_mut().zip(up.iter()) {
            *gate = *gate / (1.0 + (-*gate).exp()) * *up;
        }
        if is("leaves_output") {
            return Ok(());
        }
        self.down_proj.forward(call, LinearArgs::new(tokens, gate, args.output))
    }
}

graft::plugin!(Plugin::new("acme_rust", "1.0.0", "Apache-2.0", "A plugin of the tests")
    .replace(Replacement::name("LlamaMLP", graft::mlp_class::<AcmeMlp>()).model_types(&["llama"])));

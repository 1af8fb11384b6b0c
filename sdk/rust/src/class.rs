// SPDX-License-Identifier: Apache-2.0
//! Classes of modules: what a plugin implements, and the functions that the host calls for it.

use std::marker::PhantomData;
use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::null;
use std::slice::{from_raw_parts, from_raw_parts_mut};

use crate::call::Call;
use crate::create::{kept, Build};
use crate::describe::{Args, Config, Conversion, Sink};
use crate::error::{check_pointer, guard, guard_silently, Result};
use crate::ffi;
use crate::text::leaked;

/// What instances consist of, and how they are made; dropping one is the `destroy`.
pub trait Class: Send + Sized + 'static {
    /// The name that plans and messages show: letters, digits and '_'.
    const NAME: &'static str;
    /// `GRAFT_CLASS_...` of [`ffi`].
    const FLAGS: u32 = 0;
    /// The class that it is derived from: in models of a family that brings this one, it stands for that.
    const BASE: Option<&'static str> = None;
    /// What `describe` finds out for `create`: sizes, for the most part. `()` for nothing.
    type Kept: Copy + Send + Sync + 'static;

    /// Declares parameters and children, from config and arguments alone.
    fn describe(sink: &Sink, config: &Config, args: &Args) -> Result<Self::Kept>;

    /// Makes an instance, once weights are bound and children made.
    fn create(build: &Build, kept: &Self::Kept) -> Result<Self>;

    /// How checkpoints hold its parameters.
    fn conversions() -> Vec<Conversion> {
        Vec::new()
    }
}

/// `graft.mlp/1`
pub trait Mlp: Class {
    fn forward(&self, call: &Call, args: MlpArgs) -> Result<()>;
}

/// Arguments of an MLP. Both arrays are [tokens, hidden_size].
pub struct MlpArgs<'a> {
    pub tokens: usize,
    pub hidden_size: usize,
    pub hidden_states: &'a [f32],
    pub output: &'a mut [f32],
}

impl<'a> MlpArgs<'a> {
    pub fn new(tokens: usize, hidden_states: &'a [f32], output: &'a mut [f32]) -> MlpArgs<'a> {
        MlpArgs { tokens, hidden_size: width(tokens, hidden_states), hidden_states, output }
    }

    /// The same once more, for who needs them after a call.
    pub fn reborrow(&mut self) -> MlpArgs<'_> {
        MlpArgs::new(self.tokens, self.hidden_states, self.output)
    }
}

/// Of rows of which there are so many.
fn width(rows: usize, numbers: &[f32]) -> usize {
    if rows == 0 {
        0
    } else {
        numbers.len() / rows
    }
}

/// `graft.linear/1`
pub trait Linear: Class {
    fn forward(&self, call: &Call, args: LinearArgs) -> Result<()>;
}

/// Arguments of a Linear: x [tokens, in_features], y [tokens, out_features].
pub struct LinearArgs<'a> {
    pub tokens: usize,
    pub x: &'a [f32],
    pub y: &'a mut [f32],
}

impl<'a> LinearArgs<'a> {
    pub fn new(tokens: usize, x: &'a [f32], y: &'a mut [f32]) -> LinearArgs<'a> {
        LinearArgs { tokens, x, y }
    }

    /// The same once more, for who needs them after a call.
    pub fn reborrow(&mut self) -> LinearArgs<'_> {
        LinearArgs::new(self.tokens, self.x, self.y)
    }
}

/// `graft.activation/1`
pub trait Activation: Class {
    fn forward(&self, call: &Call, args: ActivationArgs) -> Result<()>;
}

/// Arguments of an activation. Input and output may be the same array, so they are not slices.
pub struct ActivationArgs<'a> {
    pub(crate) x: *const f32,
    pub(crate) y: *mut f32,
    pub(crate) count: usize,
    life: PhantomData<&'a mut f32>,
}

impl<'a> ActivationArgs<'a> {
    pub fn in_place(x: &'a mut [f32]) -> ActivationArgs<'a> {
        let y = x.as_mut_ptr();
        ActivationArgs { x: y, y, count: x.len(), life: PhantomData }
    }

    /// y = function(x), number by number.
    pub fn map(self, function: impl Fn(f32) -> f32) {
        for i in 0..self.count {
            unsafe { *self.y.add(i) = function(*self.x.add(i)) };
        }
    }
}

/// `graft.norm/1`
pub trait Norm: Class {
    fn forward(&self, call: &Call, args: NormArgs) -> Result<()>;
}

/// Arguments of a norm: arrays of [tokens, hidden_size]. The residual has been added to the hidden states.
pub struct NormArgs<'a> {
    pub tokens: usize,
    pub hidden_size: usize,
    pub hidden_states: &'a [f32],
    pub output: &'a mut [f32],
}

impl<'a> NormArgs<'a> {
    pub fn new(tokens: usize, hidden_states: &'a [f32], output: &'a mut [f32]) -> NormArgs<'a> {
        NormArgs { tokens, hidden_size: width(tokens, hidden_states), hidden_states, output }
    }

    /// The same once more, for who needs them after a call.
    pub fn reborrow(&mut self) -> NormArgs<'_> {
        NormArgs::new(self.tokens, self.hidden_states, self.output)
    }
}

/// `graft.self_attention/1`: for classes around another one ([`Build::super_self_attention`]), as what an attention
/// computes with (the cache, masks, rotary positions) has no safe form.
pub trait SelfAttention: Class {
    /// Those of `required_features` that it knows: all of them for one that passes its arguments on.
    const FEATURES: u32 = u32::MAX;

    fn forward(&self, call: &Call, args: SelfAttentionArgs) -> Result<()>;
}

/// Arguments of an attention: hidden_states [tokens, hidden_size].
pub struct SelfAttentionArgs<'a> {
    pub tokens: usize,
    pub hidden_size: usize,
    pub hidden_states: &'a [f32],
    pub(crate) raw: &'a ffi::graft_self_attention_args,
}

/// A class as the host knows it; for [`crate::Replacement`].
#[derive(Clone, Copy)]
pub struct ClassRef(pub(crate) *const ffi::graft_class);

/// A class that another one computes, described otherwise: with other arguments, with more children, from other weights.
pub trait Derived: 'static {
    const NAME: &'static str;
    /// The class that it is derived from.
    const BASE: &'static str;
    /// That of the base: "graft.base_model/1".
    const INTERFACE: &'static str;

    /// Declares what the base does ([`Sink::base`]), and more.
    fn describe(sink: &Sink, config: &Config, args: &Args) -> Result<()>;

    /// How checkpoints hold its parameters.
    fn conversions() -> Vec<Conversion> {
        Vec::new()
    }
}

/// An instance, and the lengths of the rows that it is given, which follow from the arguments of its interface.
struct Instance<T> {
    module: T,
    inputs: usize,
    outputs: usize,
}

/// What tells interfaces apart: the id, and the arguments that rows follow from.
trait Interface<T> {
    const ID: &'static str;
    const INPUTS: Option<&'static str>;
    const OUTPUTS: Option<&'static str>;
}

/// Calls `body` with what the host gives to `describe`, and returns the status.
///
/// # Safety
/// The pointers are the host's.
unsafe fn describing(
    config: *const ffi::graft_config,
    args: *const ffi::graft_args,
    sink: *const ffi::graft_sink,
    error: *mut ffi::graft_error,
    body: impl FnOnce(&Sink, &Config, &Args) -> Result<()>,
) -> c_int {
    let path = (*sink).path;
    guard(error, path, || {
        let config = Config { raw: &*config, error };
        let args = Args { raw: args, path, error, life: PhantomData };
        body(&Sink { raw: &*sink, error }, &config, &args)
    })
}

unsafe extern "C" fn describe<T: Class>(
    _: *const ffi::graft_class,
    config: *const ffi::graft_config,
    args: *const ffi::graft_args,
    sink: *const ffi::graft_sink,
    error: *mut ffi::graft_error,
) -> c_int {
    describing(config, args, sink, error, |sink, config, args| {
        let found = T::describe(sink, config, args)?;
        if size_of::<T::Kept>() > 0 {
            let memory = (sink.raw.keep)(sink.raw.data, size_of::<T::Kept>() as i64, error);
            check_pointer(memory)?.cast::<T::Kept>().write(found);
        }
        Ok(())
    })
}

unsafe extern "C" fn create<T: Class, I: Interface<T>>(
    _: *const ffi::graft_class,
    build: *const ffi::graft_build,
    instance: *mut *mut c_void,
    error: *mut ffi::graft_error,
) -> c_int {
    guard(error, (*build).path, || {
        let view = Build { raw: &*build, error };
        let size = |name: Option<&str>| name.map_or(Ok(0), |name| view.args().size(name, i64::MAX));
        let (inputs, outputs) = (size(I::INPUTS)?, size(I::OUTPUTS)?);
        let module = T::create(&view, kept(&*build)?)?;
        *instance = Box::into_raw(Box::new(Instance { module, inputs, outputs })).cast();
        Ok(())
    })
}

unsafe extern "C" fn destroy<T: Class>(instance: *mut c_void) {
    guard_silently(|| drop(Box::from_raw(instance.cast::<Instance<T>>())));
}

fn class_of<T: Class, I: Interface<T>, V>(vtable: V) -> ClassRef {
    let conversions: Vec<_> = T::conversions().into_iter().map(Conversion::leaked).collect();
    ClassRef(Box::leak(Box::new(ffi::graft_class {
        struct_size: size_of::<ffi::graft_class>() as u32,
        flags: T::FLAGS,
        name: leaked(T::NAME),
        interface_id: leaked(I::ID),
        describe: Some(describe::<T>),
        create: Some(create::<T, I>),
        destroy: Some(destroy::<T>),
        forward: (Box::leak(Box::new(vtable)) as *const V).cast(),
        n_conversions: conversions.len() as i32,
        conversions: Box::leak(conversions.into_boxed_slice()).as_ptr(),
        conversion_stride: size_of::<ffi::graft_conversion>() as u32,
        data: null(),
        base: T::BASE.map_or(null::<c_char>(), leaked),
    })))
}

unsafe extern "C" fn describe_derived<T: Derived>(
    _: *const ffi::graft_class,
    config: *const ffi::graft_config,
    args: *const ffi::graft_args,
    sink: *const ffi::graft_sink,
    error: *mut ffi::graft_error,
) -> c_int {
    describing(config, args, sink, error, T::describe)
}

/// A class of what the base makes.
pub fn derived_class<T: Derived>() -> ClassRef {
    let conversions: Vec<_> = T::conversions().into_iter().map(Conversion::leaked).collect();
    let mut class = derived_head(T::NAME, T::BASE, T::INTERFACE);
    class.describe = Some(describe_derived::<T>);
    class.n_conversions = conversions.len() as i32;
    class.conversions = Box::leak(conversions.into_boxed_slice()).as_ptr();
    class.conversion_stride = size_of::<ffi::graft_conversion>() as u32;
    ClassRef(Box::leak(Box::new(class)))
}

/// The base under a name of its own.
pub fn derived(name: &str, base: &str, interface: &str) -> ClassRef {
    ClassRef(Box::leak(Box::new(derived_head(name, base, interface))))
}

fn derived_head(name: &str, base: &str, interface: &str) -> ffi::graft_class {
    // What is NULL is the base's.
    let mut class: ffi::graft_class = unsafe { zeroed() };
    class.struct_size = size_of::<ffi::graft_class>() as u32;
    class.name = leaked(name);
    class.base = leaked(base);
    class.interface_id = leaked(interface);
    class
}

struct OfMlp;

impl<T: Mlp> Interface<T> for OfMlp {
    const ID: &'static str = "graft.mlp/1";
    const INPUTS: Option<&'static str> = Some("hidden_size");
    const OUTPUTS: Option<&'static str> = Some("hidden_size");
}

unsafe extern "C" fn mlp_forward<T: Mlp>(
    instance: *mut c_void,
    call: *const ffi::graft_call,
    args: *const ffi::graft_mlp_args,
    error: *mut ffi::graft_error,
) -> c_int {
    guard(error, null(), || {
        let (instance, args) = (&*instance.cast::<Instance<T>>(), &*args);
        let tokens = args.tokens as usize;
        let args = MlpArgs {
            tokens,
            hidden_size: instance.inputs,
            hidden_states: from_raw_parts(args.hidden_states, tokens * instance.inputs),
            output: from_raw_parts_mut(args.output, tokens * instance.outputs),
        };
        instance.module.forward(&Call { raw: &*call, error }, args)
    })
}

/// A class of MLPs.
pub fn mlp_class<T: Mlp>() -> ClassRef {
    let struct_size = size_of::<ffi::graft_mlp>() as u32;
    class_of::<T, OfMlp, _>(ffi::graft_mlp { struct_size, features: 0, forward: mlp_forward::<T> })
}

struct OfLinear;

impl<T: Linear> Interface<T> for OfLinear {
    const ID: &'static str = "graft.linear/1";
    const INPUTS: Option<&'static str> = Some("in_features");
    const OUTPUTS: Option<&'static str> = Some("out_features");
}

unsafe extern "C" fn linear_forward<T: Linear>(
    instance: *mut c_void,
    call: *const ffi::graft_call,
    args: *const ffi::graft_linear_args,
    error: *mut ffi::graft_error,
) -> c_int {
    guard(error, null(), || {
        let (instance, args) = (&*instance.cast::<Instance<T>>(), &*args);
        let tokens = args.tokens as usize;
        let args = LinearArgs {
            tokens,
            x: from_raw_parts(args.x, tokens * instance.inputs),
            y: from_raw_parts_mut(args.y, tokens * instance.outputs),
        };
        instance.module.forward(&Call { raw: &*call, error }, args)
    })
}

/// A class of Linears.
pub fn linear_class<T: Linear>() -> ClassRef {
    let struct_size = size_of::<ffi::graft_linear>() as u32;
    let forward = linear_forward::<T>;
    class_of::<T, OfLinear, _>(ffi::graft_linear { struct_size, features: 0, forward, as_product: None })
}

struct OfActivation;

impl<T: Activation> Interface<T> for OfActivation {
    const ID: &'static str = "graft.activation/1";
    const INPUTS: Option<&'static str> = None;
    const OUTPUTS: Option<&'static str> = None;
}

unsafe extern "C" fn activation_forward<T: Activation>(
    instance: *mut c_void,
    call: *const ffi::graft_call,
    args: *const ffi::graft_activation_args,
    error: *mut ffi::graft_error,
) -> c_int {
    guard(error, null(), || {
        let (instance, args) = (&*instance.cast::<Instance<T>>(), &*args);
        let args = ActivationArgs { x: args.x, y: args.y, count: args.count as usize, life: PhantomData };
        instance.module.forward(&Call { raw: &*call, error }, args)
    })
}

/// A class of activations.
pub fn activation_class<T: Activation>() -> ClassRef {
    let struct_size = size_of::<ffi::graft_activation>() as u32;
    let forward = activation_forward::<T>;
    class_of::<T, OfActivation, _>(ffi::graft_activation { struct_size, features: 0, forward, as_kernel: None })
}

struct OfNorm;

impl<T: Norm> Interface<T> for OfNorm {
    const ID: &'static str = "graft.norm/1";
    const INPUTS: Option<&'static str> = Some("hidden_size");
    const OUTPUTS: Option<&'static str> = Some("hidden_size");
}

unsafe extern "C" fn norm_forward<T: Norm>(
    instance: *mut c_void,
    call: *const ffi::graft_call,
    args: *const ffi::graft_norm_args,
    error: *mut ffi::graft_error,
) -> c_int {
    guard(error, null(), || {
        let (instance, args) = (&*instance.cast::<Instance<T>>(), &*args);
        let tokens = args.tokens as usize;
        let count = tokens * instance.inputs;
        if !args.residual.is_null() {
            let hidden_states = from_raw_parts_mut(args.hidden_states, count);
            for (sum, residual) in hidden_states.iter_mut().zip(from_raw_parts(args.residual, count)) {
                *sum += residual;
            }
        }
        let args = NormArgs {
            tokens,
            hidden_size: instance.inputs,
            hidden_states: from_raw_parts(args.hidden_states, count),
            output: from_raw_parts_mut(args.output, count),
        };
        instance.module.forward(&Call { raw: &*call, error }, args)
    })
}

/// A class of norms.
pub fn norm_class<T: Norm>() -> ClassRef {
    let struct_size = size_of::<ffi::graft_norm>() as u32;
    class_of::<T, OfNorm, _>(ffi::graft_norm { struct_size, features: 0, forward: norm_forward::<T> })
}

struct OfSelfAttention;

impl<T: SelfAttention> Interface<T> for OfSelfAttention {
    const ID: &'static str = "graft.self_attention/1";
    const INPUTS: Option<&'static str> = Some("hidden_size");
    const OUTPUTS: Option<&'static str> = None;
}

unsafe extern "C" fn self_attention_forward<T: SelfAttention>(
    instance: *mut c_void,
    call: *const ffi::graft_call,
    args: *const ffi::graft_self_attention_args,
    error: *mut ffi::graft_error,
) -> c_int {
    guard(error, null(), || {
        let (instance, raw) = (&*instance.cast::<Instance<T>>(), &*args);
        let tokens = (*raw.batch).tokens as usize;
        let args = SelfAttentionArgs {
            tokens,
            hidden_size: instance.inputs,
            hidden_states: from_raw_parts(raw.hidden_states, tokens * instance.inputs),
            raw,
        };
        instance.module.forward(&Call { raw: &*call, error }, args)
    })
}

/// A class of attentions.
pub fn self_attention_class<T: SelfAttention>() -> ClassRef {
    let struct_size = size_of::<ffi::graft_self_attention>() as u32;
    let forward = self_attention_forward::<T>;
    class_of::<T, OfSelfAttention, _>(ffi::graft_self_attention { struct_size, features: T::FEATURES, forward })
}

// SPDX-License-Identifier: Apache-2.0
//! What `describe` is given: arguments, the config, and the sink for what a module consists of.

use std::marker::PhantomData;
use std::os::raw::c_char;
use std::ptr::null;

use crate::error::{check, Error, Result};
use crate::ffi;
use crate::operation::{OperationRef, Value};
use crate::text::{borrowed, c_string, leaked};

/// Arguments that the parent gave, as those of a constructor (`graft/args.h`).
pub struct Args<'a> {
    pub(crate) raw: *const ffi::graft_args,
    pub(crate) path: *const c_char,
    pub(crate) error: *mut ffi::graft_error,
    pub(crate) life: PhantomData<&'a ()>,
}

impl<'a> Args<'a> {
    pub fn integer(&self, name: &str, fallback: i64) -> i64 {
        unsafe { ffi::graft_args_int(self.raw, c_string(name).as_ptr(), fallback) }
    }

    pub fn real(&self, name: &str, fallback: f64) -> f64 {
        unsafe { ffi::graft_args_real(self.raw, c_string(name).as_ptr(), fallback) }
    }

    pub fn string(&self, name: &str) -> Option<&'a str> {
        unsafe {
            let text = ffi::graft_args_string(self.raw, c_string(name).as_ptr(), null());
            (!text.is_null()).then(|| borrowed(text))
        }
    }

    /// One from 1 to `maximum`; anything else is an error that names it.
    pub fn size(&self, name: &str, maximum: i64) -> Result<usize> {
        let mut value = 0;
        let name = c_string(name);
        check(unsafe { ffi::graft_args_size(self.raw, name.as_ptr(), maximum, self.path, &mut value, self.error) })?;
        usize::try_from(value).map_err(Error::plugin)
    }
}

/// The model's config.json (`graft/config.h`). Each function gives the fallback where the field is absent or null.
pub struct Config<'a> {
    pub(crate) raw: &'a ffi::graft_config,
    pub(crate) error: *mut ffi::graft_error,
}

impl<'a> Config<'a> {
    pub fn has(&self, path: &str) -> bool {
        unsafe { ffi::graft_config_has(self.raw, c_string(path).as_ptr()) != 0 }
    }

    pub fn integer(&self, path: &str, minimum: i64, maximum: i64, fallback: i64) -> Result<i64> {
        let mut value = fallback;
        let path = c_string(path);
        check(unsafe { ffi::graft_config_int(self.raw, path.as_ptr(), minimum, maximum, &mut value, self.error) })?;
        Ok(value)
    }

    /// A finite number greater than `above`.
    pub fn real(&self, path: &str, above: f64, fallback: f64) -> Result<f64> {
        let mut value = fallback;
        check(unsafe { ffi::graft_config_real(self.raw, c_string(path).as_ptr(), above, &mut value, self.error) })?;
        Ok(value)
    }

    pub fn boolean(&self, path: &str, fallback: bool) -> Result<bool> {
        let mut value = i32::from(fallback);
        check(unsafe { ffi::graft_config_bool(self.raw, c_string(path).as_ptr(), &mut value, self.error) })?;
        Ok(value != 0)
    }

    pub fn string(&self, path: &str) -> Result<Option<&'a str>> {
        let mut text = null();
        check(unsafe { ffi::graft_config_string(self.raw, c_string(path).as_ptr(), &mut text, self.error) })?;
        Ok((!text.is_null()).then(|| unsafe { borrowed(text) }))
    }

    /// `GRAFT_FIELD_...` of [`ffi`].
    pub fn kind(&self, path: &str) -> i32 {
        unsafe { (self.raw.kind)(self.raw.data, c_string(path).as_ptr()) }
    }

    /// How many elements or keys an array or object has; 0 of anything else.
    pub fn size(&self, path: &str) -> usize {
        let size = unsafe { (self.raw.size)(self.raw.data, c_string(path).as_ptr()) };
        usize::try_from(size).unwrap_or(0)
    }
}

/// An argument for a child.
pub enum Arg<'a> {
    Integer(&'a str, i64),
    Real(&'a str, f64),
    String(&'a str, &'a str),
    Integers(&'a str, &'a [i64]),
}

/// Calls `body` with the arguments as the host reads them; they are its for that long.
fn with_args<T>(args: &[Arg], body: impl FnOnce(&[ffi::graft_arg]) -> T) -> T {
    let texts: Vec<_> = args
        .iter()
        .map(|arg| match arg {
            Arg::Integer(name, _) | Arg::Real(name, _) | Arg::Integers(name, _) => (c_string(name), c_string("")),
            Arg::String(name, value) => (c_string(name), c_string(value)),
        })
        .collect();
    let list: Vec<_> = args
        .iter()
        .zip(&texts)
        .map(|(arg, (name, text))| unsafe {
            match *arg {
                Arg::Integer(_, value) => ffi::graft_int_arg(name.as_ptr(), value),
                Arg::Real(_, value) => ffi::graft_real_arg(name.as_ptr(), value),
                Arg::String(..) => ffi::graft_string_arg(name.as_ptr(), text.as_ptr()),
                Arg::Integers(_, values) => ffi::graft_ints_arg(name.as_ptr(), values.as_ptr(), values.len() as i32),
            }
        })
        .collect();
    body(&list)
}

/// Where a description goes (`struct graft_sink`).
pub struct Sink<'a> {
    pub(crate) raw: &'a ffi::graft_sink,
    pub(crate) error: *mut ffi::graft_error,
}

impl<'a> Sink<'a> {
    /// The module's path: "model.layers.0.mlp".
    pub fn path(&self) -> &'a str {
        unsafe { borrowed(self.raw.path) }
    }

    /// A parameter of the module; `flags` and `init` are `GRAFT_PARAMETER_...` and `GRAFT_INIT_...` of [`ffi`].
    pub fn parameter(&self, name: &str, shape: &[i64], flags: u32, init: i32) -> Result<()> {
        let (name, rank) = (c_string(name), shape.len() as i32);
        check(unsafe {
            ffi::graft_describe_parameter(self.raw, name.as_ptr(), rank, shape.as_ptr(), flags, init, self.error)
        })
    }

    /// One block of one type, a `GRAFT_DTYPE_...` of [`ffi`]: what a custom operation makes.
    pub fn typed(&self, name: &str, shape: &[i64], dtype: i32) -> Result<()> {
        let (name, rank) = (c_string(name), shape.len() as i32);
        check(unsafe { ffi::graft_describe_typed(self.raw, name.as_ptr(), rank, shape.as_ptr(), dtype, self.error) })
    }

    /// A fact about the module under its name in transformers.
    pub fn attribute(&self, name: &str, values: &[i64]) -> Result<()> {
        let (name, count) = (c_string(name), values.len() as i32);
        check(unsafe { (self.raw.attribute)(self.raw.data, name.as_ptr(), values.as_ptr(), count, self.error) })
    }

    /// A child of any class, "graft.norm/1" for one being the interface that it is called through.
    pub fn child(&self, name: &str, class_name: &str, interface: &str, args: &[Arg]) -> Result<()> {
        let (name, class_name, interface) = (c_string(name), c_string(class_name), c_string(interface));
        check(with_args(args, |list| unsafe {
            ffi::graft_describe_child(
                self.raw,
                name.as_ptr(),
                class_name.as_ptr(),
                interface.as_ptr(),
                list.as_ptr(),
                list.len() as i32,
                self.error,
            )
        }))
    }

    /// What the class describes that this one is derived from, with arguments beyond those of the parent.
    pub fn base(&self, args: &[Arg]) -> Result<()> {
        check(with_args(args, |list| unsafe {
            let more = ffi::graft_args_of(list.as_ptr(), list.len() as i32);
            (self.raw.base)(self.raw.data, if list.is_empty() { null() } else { &more }, self.error)
        }))
    }

    /// What an adapter has for the module: "adapter.NAME.lora_A.weight".
    pub fn adapter_tensor(&self, name: &str) -> Option<Value> {
        // Filled in where there is one.
        let mut info: ffi::graft_value_info = unsafe { std::mem::zeroed() };
        info.struct_size = std::mem::size_of::<ffi::graft_value_info>() as u32;
        let found = unsafe { (self.raw.adapter_tensor)(self.raw.data, c_string(name).as_ptr(), &mut info) };
        (found != 0).then(|| Value::new(info.dtype, &info.shape[..info.rank as usize]))
    }

    pub fn linear(&self, name: &str, in_features: usize, out_features: usize, bias: bool) -> Result<()> {
        let (name, bias) = (c_string(name), i32::from(bias));
        let (inputs, outputs) = (i64::try_from(in_features)?, i64::try_from(out_features)?);
        check(unsafe { ffi::graft_describe_linear(self.raw, name.as_ptr(), inputs, outputs, bias, self.error) })
    }

    pub fn norm(&self, name: &str, class_name: &str, hidden_size: usize, eps: f64) -> Result<()> {
        let (name, class_name, hidden_size) = (c_string(name), c_string(class_name), i64::try_from(hidden_size)?);
        check(unsafe {
            ffi::graft_describe_norm(self.raw, name.as_ptr(), class_name.as_ptr(), hidden_size, eps, self.error)
        })
    }

    /// The activation that the parent's argument `field`, or else the config, names.
    pub fn activation(&self, name: &str, config: &Config, args: &Args, field: &str) -> Result<()> {
        let (name, field) = (c_string(name), c_string(field));
        check(unsafe {
            ffi::graft_describe_activation(self.raw, name.as_ptr(), config.raw, args.raw, field.as_ptr(), self.error)
        })
    }
}

/// How parameters are made of the tensors of a checkpoint (`graft/conversion.h`). Names are relative to the module.
pub struct Conversion {
    sources: Vec<String>,
    targets: Vec<String>,
    operations: Vec<ffi::graft_operation>,
}

impl Conversion {
    pub fn new(sources: &[&str], targets: &[&str]) -> Conversion {
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        Conversion { sources: owned(sources), targets: owned(targets), operations: Vec::new() }
    }

    /// All values into one, joined along `dim`.
    pub fn concatenate(self, dim: i64) -> Conversion {
        self.then(ffi::GRAFT_OP_CONCATENATE, |operation| operation.dim = dim)
    }

    /// One value into one for each target, along `dim`.
    pub fn chunk(self, dim: i64) -> Conversion {
        self.then(ffi::GRAFT_OP_CHUNK, |operation| operation.dim = dim)
    }

    /// Two dimensions of each value change places.
    pub fn transpose(self, dim: i64, dim1: i64) -> Conversion {
        self.then(ffi::GRAFT_OP_TRANSPOSE, |operation| {
            operation.dim = dim;
            operation.dim1 = dim1;
        })
    }

    /// Of each value, `dim` as pairs [n / 2, 2] becomes [2, n / 2]: what is at even places, then what is at odd ones.
    pub fn interleave(self, dim: i64) -> Conversion {
        self.then(ffi::GRAFT_OP_INTERLEAVE, |operation| operation.dim = dim)
    }

    /// The other way: the first half to even places, the second to odd ones.
    pub fn interleave_inverse(self, dim: i64) -> Conversion {
        self.then(ffi::GRAFT_OP_INTERLEAVE, |operation| {
            operation.dim = dim;
            operation.inverse = 1;
        })
    }

    /// All values by an operation of the plugin's own, into one for each target.
    pub fn custom(self, operation: OperationRef) -> Conversion {
        self.then(ffi::GRAFT_OP_CUSTOM, |own| own.custom = operation.0)
    }

    fn then(mut self, kind: i32, fill: impl FnOnce(&mut ffi::graft_operation)) -> Conversion {
        // What a kind does not read is 0.
        let mut operation: ffi::graft_operation = unsafe { std::mem::zeroed() };
        operation.struct_size = std::mem::size_of::<ffi::graft_operation>() as u32;
        operation.kind = kind;
        fill(&mut operation);
        self.operations.push(operation);
        self
    }

    pub(crate) fn leaked(self) -> ffi::graft_conversion {
        let names = |names: &[String]| {
            let list: Vec<_> = names.iter().map(|name| leaked(name)).collect();
            Box::leak(list.into_boxed_slice()).as_ptr()
        };
        ffi::graft_conversion {
            struct_size: std::mem::size_of::<ffi::graft_conversion>() as u32,
            n_sources: self.sources.len() as i32,
            sources: names(&self.sources),
            targets: names(&self.targets),
            n_targets: self.targets.len() as i32,
            n_operations: self.operations.len() as i32,
            operations: Box::leak(self.operations.into_boxed_slice()).as_ptr(),
            operation_stride: std::mem::size_of::<ffi::graft_operation>() as u32,
            reserved: 0,
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The descriptor.

use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::class::ClassRef;
use crate::error::{catch_panics, guard};
use crate::family::Family;
use crate::ffi;
use crate::operation::OperationRef;
use crate::option::PluginOption;
use crate::processor::ProcessorRef;
use crate::text::{c_string, leaked, leaked_list};

/// "Build this class where that one is asked for."
pub struct Replacement {
    raw: ffi::graft_replacement,
    conditions: Vec<ffi::graft_condition>,
}

impl Replacement {
    /// The class with exactly this name.
    pub fn name(target: &str, class: ClassRef) -> Replacement {
        Replacement::new(ffi::GRAFT_KEY_NAME, target, class)
    }

    /// Classes whose name holds a match of the regular expression (PCRE2).
    pub fn pattern(target: &str, class: ClassRef) -> Replacement {
        Replacement::new(ffi::GRAFT_KEY_PATTERN, target, class)
    }

    /// In models of these types only.
    pub fn model_types(mut self, types: &[&str]) -> Replacement {
        self.raw.model_types = leaked_list(types);
        self
    }

    /// In modules whose path holds a match only.
    pub fn module_path(mut self, pattern: &str) -> Replacement {
        self.raw.module_path = leaked(pattern);
        self
    }

    /// `GRAFT_REPLACEMENT_...` of [`ffi`].
    pub fn flags(mut self, flags: u32) -> Replacement {
        self.raw.flags = flags;
        self
    }

    /// Where config.json has the field, a dotted path, with one of the values; no values: with any.
    pub fn if_config(self, field: &str, any_of: &[&str]) -> Replacement {
        self.only_if(ffi::GRAFT_CONDITION_CONFIG, leaked(field), any_of)
    }

    /// Where it has not.
    pub fn unless_config(self, field: &str, any_of: &[&str]) -> Replacement {
        self.only_if(ffi::GRAFT_CONDITION_NO_CONFIG, leaked(field), any_of)
    }

    /// Where the checkpoint has one of the tensors for the module: "qweight", "adapter.*.lora_A.weight".
    pub fn if_tensor(self, any_of: &[&str]) -> Replacement {
        self.only_if(ffi::GRAFT_CONDITION_TENSOR, null(), any_of)
    }

    /// Where it has none of them.
    pub fn unless_tensor(self, any_of: &[&str]) -> Replacement {
        self.only_if(ffi::GRAFT_CONDITION_NO_TENSOR, null(), any_of)
    }

    fn only_if(mut self, kind: i32, field: *const c_char, any_of: &[&str]) -> Replacement {
        let any_of = if any_of.is_empty() { null() } else { leaked_list(any_of) };
        let struct_size = size_of::<ffi::graft_condition>() as u32;
        self.conditions.push(ffi::graft_condition { struct_size, kind, field, any_of });
        self
    }

    fn leaked(mut self) -> ffi::graft_replacement {
        self.raw.n_conditions = self.conditions.len() as i32;
        self.raw.condition_stride = size_of::<ffi::graft_condition>() as u32;
        self.raw.conditions = Box::leak(self.conditions.into_boxed_slice()).as_ptr();
        self.raw
    }

    fn new(key: i32, target: &str, class: ClassRef) -> Replacement {
        // NULL and 0 are what it has where nothing is said.
        let mut raw: ffi::graft_replacement = unsafe { zeroed() };
        raw.struct_size = size_of::<ffi::graft_replacement>() as u32;
        raw.key = key;
        raw.target = leaked(target);
        raw.replacement = class.0;
        Replacement { raw, conditions: Vec::new() }
    }
}

/// A plugin: what the entry returns.
pub struct Plugin {
    raw: ffi::graft_plugin,
    replacements: Vec<ffi::graft_replacement>,
    classes: Vec<ffi::graft_class>,
    families: Vec<ffi::graft_family>,
    options: Vec<ffi::graft_option>,
    operations: Vec<ffi::graft_custom_operation>,
    processors: Vec<ffi::graft_logits_processor>,
}

impl Plugin {
    pub fn new(id: &str, version: &str, license: &str, description: &str) -> Plugin {
        let mut raw: ffi::graft_plugin = unsafe { zeroed() };
        raw.magic = ffi::GRAFT_PLUGIN_MAGIC;
        raw.struct_size = size_of::<ffi::graft_plugin>() as u32;
        raw.abi_major = ffi::GRAFT_ABI_MAJOR;
        raw.abi_minor_built = ffi::GRAFT_ABI_MINOR;
        raw.pointer_size = size_of::<*const c_void>() as u32;
        raw.abi_released = ffi::GRAFT_ABI_RELEASED;
        raw.id = leaked(id);
        raw.version = leaked(version);
        raw.license = leaked(license);
        raw.description = leaked(description);
        Plugin {
            raw,
            replacements: Vec::new(),
            classes: Vec::new(),
            families: Vec::new(),
            options: Vec::new(),
            operations: Vec::new(),
            processors: Vec::new(),
        }
    }

    pub fn replace(mut self, replacement: Replacement) -> Plugin {
        self.replacements.push(replacement.leaked());
        self
    }

    /// A class that only this plugin's own describe as a child.
    pub fn class(mut self, class: ClassRef) -> Plugin {
        self.classes.push(unsafe { *class.0 });
        self
    }

    /// A model type that it brings.
    pub fn family(mut self, family: Family) -> Plugin {
        self.families.push(family.leaked());
        self
    }

    /// `GRAFT_PLUGIN_...` of [`ffi`]: `GRAFT_PLUGIN_GUARDS_STATICS` for one that keeps something in statics.
    pub fn flags(mut self, flags: u32) -> Plugin {
        self.raw.flags = flags;
        self
    }

    /// The `quant_method`s of config.json whose checkpoints it reads: others are refused before anything is built.
    pub fn quant_methods(mut self, methods: &[&str]) -> Plugin {
        self.raw.quant_methods = leaked_list(methods);
        self
    }

    /// What users may choose.
    pub fn option(mut self, option: PluginOption) -> Plugin {
        self.options.push(option.0);
        self
    }

    /// An operation that patch files may ask for by name. Conversions may have others, too.
    pub fn operation(mut self, operation: OperationRef) -> Plugin {
        self.operations.push(unsafe { *operation.0 });
        self
    }

    /// What users may choose by `--logits-processor`.
    pub fn logits_processor(mut self, processor: ProcessorRef) -> Plugin {
        self.processors.push(unsafe { *processor.0 });
        self
    }

    fn leaked(mut self) -> *mut ffi::graft_plugin {
        self.raw.n_classes = self.classes.len() as i32;
        self.raw.class_stride = size_of::<ffi::graft_class>() as u32;
        self.raw.classes = Box::leak(self.classes.into_boxed_slice()).as_ptr();
        self.raw.n_families = self.families.len() as i32;
        self.raw.family_stride = size_of::<ffi::graft_family>() as u32;
        self.raw.families = Box::leak(self.families.into_boxed_slice()).as_ptr();
        self.raw.n_options = self.options.len() as i32;
        self.raw.option_stride = size_of::<ffi::graft_option>() as u32;
        self.raw.options = Box::leak(self.options.into_boxed_slice()).as_ptr();
        self.raw.n_custom_operations = self.operations.len() as i32;
        self.raw.custom_operation_stride = size_of::<ffi::graft_custom_operation>() as u32;
        self.raw.custom_operations = Box::leak(self.operations.into_boxed_slice()).as_ptr();
        self.raw.n_logits_processors = self.processors.len() as i32;
        self.raw.logits_processor_stride = size_of::<ffi::graft_logits_processor>() as u32;
        self.raw.logits_processors = Box::leak(self.processors.into_boxed_slice()).as_ptr();
        self.raw.n_replacements = self.replacements.len() as i32;
        self.raw.replacement_stride = size_of::<ffi::graft_replacement>() as u32;
        self.raw.replacements = Box::leak(self.replacements.into_boxed_slice()).as_ptr();
        Box::leak(Box::new(self.raw))
    }
}

/// Where the descriptor lies, once made, and the host.
pub struct Descriptor {
    plugin: AtomicPtr<ffi::graft_plugin>,
}

static HOST: AtomicPtr<ffi::graft_host> = AtomicPtr::new(null_mut());
static PLUGIN: AtomicPtr<ffi::graft_plugin> = AtomicPtr::new(null_mut());

impl Descriptor {
    pub const fn new() -> Descriptor {
        Descriptor { plugin: AtomicPtr::new(null_mut()) }
    }
}

impl Default for Descriptor {
    fn default() -> Descriptor {
        Descriptor::new()
    }
}

/// What [`crate::plugin!`] exports. The host calls it from one thread at a time, and perhaps more than once.
///
/// # Safety
/// The pointers are the host's.
pub unsafe fn entry(
    descriptor: &Descriptor,
    host: *const ffi::graft_host,
    error: *mut ffi::graft_error,
    make: impl FnOnce() -> Plugin,
) -> *const ffi::graft_plugin {
    catch_panics();
    HOST.store(host as *mut _, Ordering::Relaxed);
    if descriptor.plugin.load(Ordering::Acquire).is_null() {
        let _ = guard(error, null(), || {
            descriptor.plugin.store(make().leaked(), Ordering::Release);
            Ok(())
        });
        PLUGIN.store(descriptor.plugin.load(Ordering::Acquire), Ordering::Release);
    }
    descriptor.plugin.load(Ordering::Acquire)
}

/// The values of the plugin's options as the host has them; NULL while it has none.
pub(crate) fn option_values() -> *const ffi::graft_args {
    let (host, plugin) = (HOST.load(Ordering::Relaxed), PLUGIN.load(Ordering::Acquire));
    let known = !host.is_null() && !plugin.is_null();
    if known {
        unsafe { ((*host).options)(plugin) }
    } else {
        null()
    }
}

/// One line for the person who runs the program (`graft.log/1`), where the host has that service.
pub fn log(sender: &str, text: &str) {
    let host = HOST.load(Ordering::Relaxed);
    if host.is_null() {
        return;
    }
    unsafe {
        let service = ((*host).get_extension)(b"graft.log/1\0".as_ptr().cast());
        if !service.is_null() {
            let service = &*service.cast::<ffi::graft_log>();
            (service.line)(c_string(sender).as_ptr(), c_string(text).as_ptr());
        }
    }
}

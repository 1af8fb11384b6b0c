// SPDX-License-Identifier: Apache-2.0
//! What users may choose of a plugin (`graft/option.h`).

use std::mem::{size_of, zeroed};
use std::ptr::null;

use crate::ffi;
use crate::plugin::option_values;
use crate::text::{borrowed, c_string, leaked, leaked_list};

/// `--plugin-option ID.NAME=VALUE`. [`options`] has the values.
pub struct PluginOption(pub(crate) ffi::graft_option);

impl PluginOption {
    pub fn integer(name: &str, help: &str, default: i64) -> PluginOption {
        PluginOption::new(ffi::GRAFT_OPTION_INT, name, help, &default.to_string())
    }

    pub fn real(name: &str, help: &str, default: f64) -> PluginOption {
        PluginOption::new(ffi::GRAFT_OPTION_REAL, name, help, &default.to_string())
    }

    /// One line, which may be empty.
    pub fn string(name: &str, help: &str, default: &str) -> PluginOption {
        PluginOption::new(ffi::GRAFT_OPTION_STRING, name, help, default)
    }

    pub fn boolean(name: &str, help: &str, default: bool) -> PluginOption {
        PluginOption::new(ffi::GRAFT_OPTION_BOOL, name, help, &default.to_string())
    }

    /// The values there are, as users write them, the default among them; else every value of the kind.
    pub fn choices(mut self, choices: &[&str]) -> PluginOption {
        self.0.choices = leaked_list(choices);
        self
    }

    fn new(kind: i32, name: &str, help: &str, default: &str) -> PluginOption {
        let mut raw: ffi::graft_option = unsafe { zeroed() };
        raw.struct_size = size_of::<ffi::graft_option>() as u32;
        raw.kind = kind;
        raw.name = leaked(name);
        raw.help = leaked(help);
        raw.default_value = leaked(default);
        PluginOption(raw)
    }
}

/// The values of the plugin's options, by name. The host has them from before it describes a class until it ends the
/// plugin, so each function asks it anew, and strings are copies. Without a value of that name and kind, and at other
/// times, as in the expression of [`crate::plugin!`], a function gives the fallback.
#[derive(Clone, Copy)]
pub struct Options(());

/// Those of this plugin.
pub fn options() -> Options {
    Options(())
}

impl Options {
    pub fn integer(&self, name: &str, fallback: i64) -> i64 {
        unsafe { ffi::graft_args_int(option_values(), c_string(name).as_ptr(), fallback) }
    }

    pub fn real(&self, name: &str, fallback: f64) -> f64 {
        unsafe { ffi::graft_args_real(option_values(), c_string(name).as_ptr(), fallback) }
    }

    pub fn boolean(&self, name: &str, fallback: bool) -> bool {
        self.integer(name, i64::from(fallback)) != 0
    }

    pub fn string(&self, name: &str) -> Option<String> {
        unsafe {
            let text = ffi::graft_args_string(option_values(), c_string(name).as_ptr(), null());
            (!text.is_null()).then(|| borrowed(text).to_owned())
        }
    }
}

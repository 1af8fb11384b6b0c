// SPDX-License-Identifier: Apache-2.0
//! What users may choose of a plugin (`graft/option.h`).

use std::mem::{size_of, zeroed};

use crate::ffi;
use crate::text::{leaked, leaked_list};

/// `--plugin-option ID.NAME=VALUE`. [`crate::options`] has the values.
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

    /// Read as an integer, 1 or 0.
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

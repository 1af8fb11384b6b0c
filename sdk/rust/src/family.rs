// SPDX-License-Identifier: Apache-2.0
//! Families: what a `model_type` of config.json stands for (`graft/family.h`).

use std::mem::{size_of, zeroed};

use crate::class::ClassRef;
use crate::ffi;
use crate::text::{leaked, leaked_list};

/// A model type, and the classes that come with it.
pub struct Family {
    raw: ffi::graft_family,
    architectures: Vec<ffi::graft_architecture>,
    classes: Vec<ffi::graft_class>,
    fields: Vec<ffi::graft_config_field>,
    stand_ins: Vec<ffi::graft_stand_in>,
    ignored: Vec<String>,
}

impl Family {
    pub fn new(model_type: &str) -> Family {
        // NULL and 0 are what it has where nothing is said.
        let mut raw: ffi::graft_family = unsafe { zeroed() };
        raw.struct_size = size_of::<ffi::graft_family>() as u32;
        raw.model_type = leaked(model_type);
        Family {
            raw,
            architectures: Vec::new(),
            classes: Vec::new(),
            fields: Vec::new(),
            stand_ins: Vec::new(),
            ignored: Vec::new(),
        }
    }

    /// What checkpoints of the bare model leave out of their names: "model".
    pub fn base_model_prefix(mut self, prefix: &str) -> Family {
        self.raw.base_model_prefix = leaked(prefix);
        self
    }

    /// A name in config.json's `architectures`, which is that of a root's class. At least one; the first where
    /// config.json names none.
    pub fn architecture(self, name: &str) -> Family {
        self.architecture_as(name, name)
    }

    /// The same of one that is built as another class.
    pub fn architecture_as(mut self, name: &str, class_name: &str) -> Family {
        self.architectures.push(ffi::graft_architecture { name: leaked(name), class_name: leaked(class_name) });
        self
    }

    /// A class that comes with it. One that is derived from a class of the host stands for that in these models.
    pub fn class(mut self, class: ClassRef) -> Family {
        self.classes.push(unsafe { *class.0 });
        self
    }

    /// How classes read a field of config.json.
    pub fn field(mut self, field: Field) -> Family {
        self.fields.push(field.0);
        self
    }

    /// In these models another class is built where an inherited description names this one.
    pub fn stand_in(mut self, name: &str, class_name: &str) -> Family {
        self.stand_ins.push(ffi::graft_stand_in { name: leaked(name), class_name: leaked(class_name) });
        self
    }

    /// Tensors that no parameter need take: those whose name holds a match of the regular expression (PCRE2).
    pub fn ignored_tensors(mut self, pattern: &str) -> Family {
        self.ignored.push(pattern.to_string());
        self
    }

    pub(crate) fn leaked(mut self) -> ffi::graft_family {
        let ignored: Vec<_> = self.ignored.iter().map(String::as_str).collect();
        self.raw.n_architectures = self.architectures.len() as i32;
        self.raw.architecture_stride = size_of::<ffi::graft_architecture>() as u32;
        self.raw.architectures = Box::leak(self.architectures.into_boxed_slice()).as_ptr();
        self.raw.n_classes = self.classes.len() as i32;
        self.raw.class_stride = size_of::<ffi::graft_class>() as u32;
        self.raw.classes = Box::leak(self.classes.into_boxed_slice()).as_ptr();
        self.raw.n_fields = self.fields.len() as i32;
        self.raw.field_stride = size_of::<ffi::graft_config_field>() as u32;
        self.raw.fields = Box::leak(self.fields.into_boxed_slice()).as_ptr();
        self.raw.n_stand_ins = self.stand_ins.len() as i32;
        self.raw.stand_in_stride = size_of::<ffi::graft_stand_in>() as u32;
        self.raw.stand_ins = Box::leak(self.stand_ins.into_boxed_slice()).as_ptr();
        if !ignored.is_empty() {
            self.raw.ignored_tensors = leaked_list(&ignored);
        }
        self.raw
    }
}

/// What classes are given of config.json under another name, or by default. Without a default a field that the file
/// does not have is absent.
pub struct Field(ffi::graft_config_field);

impl Field {
    /// What classes ask for: a dotted path, "hidden_size".
    pub fn new(name: &str) -> Field {
        let mut raw: ffi::graft_config_field = unsafe { zeroed() };
        raw.name = leaked(name);
        Field(raw)
    }

    /// What config.json may call it instead.
    pub fn alias(mut self, alias: &str) -> Field {
        self.0.alias = leaked(alias);
        self
    }

    /// What config.json calls it: what the file has under the name is something else.
    pub fn renamed(self, alias: &str) -> Field {
        let mut field = self.alias(alias);
        field.0.flags |= ffi::GRAFT_FIELD_RENAMED;
        field
    }

    pub fn integer(mut self, default: i64) -> Field {
        self.0.integer = default;
        self.kind(ffi::GRAFT_FIELD_INT)
    }

    pub fn real(mut self, default: f64) -> Field {
        self.0.real = default;
        self.kind(ffi::GRAFT_FIELD_REAL)
    }

    pub fn boolean(mut self, default: bool) -> Field {
        self.0.integer = i64::from(default);
        self.kind(ffi::GRAFT_FIELD_BOOL)
    }

    pub fn string(mut self, default: &str) -> Field {
        self.0.string = leaked(default);
        self.kind(ffi::GRAFT_FIELD_STRING)
    }

    /// Null by default.
    pub fn null(self) -> Field {
        self.kind(ffi::GRAFT_FIELD_NULL)
    }

    /// By default an object of the fields whose names continue this one.
    pub fn object(self) -> Field {
        self.kind(ffi::GRAFT_FIELD_OBJECT)
    }

    fn kind(mut self, kind: i32) -> Field {
        self.0.kind = kind;
        self
    }
}

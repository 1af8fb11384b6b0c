// SPDX-License-Identifier: Apache-2.0
//! Links the SDK's library of helpers, wherever pkg-config finds it.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_SYSROOT_DIR");
    let output = Command::new("pkg-config")
        .args(["--libs", "graft-sdk"])
        .output()
        .expect("pkg-config is needed to find graft-sdk");
    if !output.status.success() {
        panic!(
            "graft-sdk: is PKG_CONFIG_PATH set to the folder of graft-sdk.pc? {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    for flag in String::from_utf8_lossy(&output.stdout).split_whitespace() {
        if let Some(folder) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={}", folder);
        } else if let Some(library) = flag.strip_prefix("-l") {
            let kind = if library == "graft-sdk" { "static=" } else { "" };
            println!("cargo:rustc-link-lib={}{}", kind, library);
        }
    }
}

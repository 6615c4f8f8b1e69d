//! Link arguments of the program that is handed out: identical functions are kept once, and relocations in their packed form.
//! Together they make it 4 % smaller.

use std::env::var;

/// The optimization of this crate in the profile `packaged`, and in no other.
const PACKAGED: &str = "z";

/// The target whose linker, that of the compiler, knows the arguments.
const TARGET: &str = "x86_64-unknown-linux-gnu";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    if is("OPT_LEVEL", PACKAGED) && is("TARGET", TARGET) {
        for argument in ["--icf=all", "-zpack-relative-relocs"] {
            println!("cargo::rustc-link-arg-bins=-Wl,{argument}");
        }
    }
}

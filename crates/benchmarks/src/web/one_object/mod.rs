//! One object: the same small file over kept connections, as fast as the server delivers it.
//!
//! Not based on a published benchmark. It shows the cost per operation of server and load generator, and
//! serves `calibrate` and the generator's own measurements.

use crate::{Builtin, BuiltinFilelist};

/// One object of 1024 bytes.
pub(crate) const ONE_OBJECT: Builtin = Builtin {
    id: "one-object",
    definition_file: "one-object.toml",
    definition: include_str!("definition.toml"),
    filelists: &[BuiltinFilelist { name: "filelist.txt", text: include_str!("filelist.txt") }],
};

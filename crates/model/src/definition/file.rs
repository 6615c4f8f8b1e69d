//! The table `[workload]` of a file-server benchmark.

use languages::reader::{TomlTable, ValueError};
use languages::spec::{ValueSpec, choice, line};

use super::WorkloadDefinition;
use super::family_spec::{FamilySpec, WorkloadParts};
use crate::setting::file::{SETTINGS, apply, is_of_work};
use crate::{ChosenSetting, FileWorkKind, FileWorkload};

/// The answers of file servers, and of directories in their place.
pub(super) static SPEC: FamilySpec = FamilySpec {
    is_started: true,
    is_described: true,
    own_headline: None,
    settings: SETTINGS,
    target,
    no_use,
    read: |WorkloadParts { workload, protocol, .. }| read(workload, protocol).map(WorkloadDefinition::File),
};

/// A file-server workload as defined.
#[derive(Debug, Clone, PartialEq)]
pub struct FileDefinition {
    /// The workload; the work of clients that replay a load file is known when that is read.
    pub workload: FileWorkload,
    /// The path of the load file that clients replay, from the definition; `None` if they replay none.
    pub loadfile: Option<String>,
}

/// The URLs of directories, shares and exports.
fn target() -> ValueSpec<String> {
    line().and_then(|written| {
        let begins = |scheme: &str| {
            written.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        if begins("file:///") || begins("smb://") || begins("nfs://") {
            Ok(written)
        } else {
            Err(ValueError::new("expected the URL of a directory, a share or an export")
                .hint("write `file:///PATH`, `smb://USER@HOST/SHARE` or `nfs://HOST/EXPORT`"))
        }
    })
}

/// Returns the settings of other kinds of work.
fn no_use(definition: &WorkloadDefinition) -> Vec<&'static str> {
    let Some(FileDefinition { workload, .. }) = definition.file() else { return Vec::new() };
    SETTINGS.iter().map(|setting| setting.name).filter(|name| !is_of_work(name, &workload.work)).collect()
}

/// Reads `[workload]`; the rest is in the settings of `[protocol]`.
fn read(workload: Option<TomlTable>, protocol: Option<&[ChosenSetting]>) -> Option<FileDefinition> {
    let mut table = workload?;
    table.describe("FileWorkload", "The workload of a file server: its details are in `protocol`.");
    let kind: Option<FileWorkKind> = table.required("clients", "The work of clients.", choice());
    let loadfile = table.optional(
        "loadfile",
        "The path of a load file of dbench, also compressed by gzip, from the definition: clients of a Disk Mix replay it.",
        line().rule("minLength", 1),
    );
    if let (Some(_), Some(FileWorkKind::Streams | FileWorkKind::Micro)) = (&loadfile, kind) {
        let error = ValueError::new("only clients of a Disk Mix replay a load file");
        table.reject("loadfile", error.hint("write `clients = \"disk-mix\"`, or leave it out"));
    }
    table.finish();
    let mut workload = FileWorkload::new(kind?.standard());
    protocol?.iter().for_each(|setting| apply(&mut workload, setting.setting.name, setting.value()));
    Some(FileDefinition { workload, loadfile })
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;
    use crate::definition::parse::{EVERY_FILE_KEY, EVERY_MICRO_KEY, EVERY_MIX_KEY, problem_of};
    use crate::{
        Definition, FileCache, FileDialect, FileDirection, FileDurability, FileMicroSettings,
        FileMixSettings, FilePads, FileSmbSettings, FileStreamFiles, FileStreamSettings, FileTest,
        FileTransport, FileVerify, FileWork,
    };

    #[test]
    fn every_key_of_file_servers_is_read() {
        let definition = Definition::parse("my.toml", EVERY_FILE_KEY).unwrap();
        let WorkloadDefinition::File(FileDefinition { workload: file, loadfile: None }) =
            &definition.workload
        else {
            panic!("of file servers, without a load file")
        };
        let streams = FileStreamSettings {
            file_bytes: 8 << 20,
            block_bytes: 1 << 20,
            in_flight: 4,
            files: FileStreamFiles::Many(4),
            direction: FileDirection::WriteAndFlush,
        };
        let expected = FileWorkload {
            transport: FileTransport::Smb,
            dialect: Some(FileDialect::Smb2_1),
            smb: FileSmbSettings { is_signed: true, is_encrypted: false },
            verify: FileVerify::Full,
            durability: FileDurability::Write,
            cache: FileCache::Warm,
            ..FileWorkload::new(FileWork::Streams(streams))
        };
        assert_eq!((file, definition.time_limit), (&expected, Nanos::from_secs(5)));
        assert_eq!(definition.target.as_deref(), Some("smb://me@127.0.0.1:4450/files"));
        let of = |text: &str| Definition::parse("my.toml", text).unwrap().workload.file().unwrap().clone();
        let mix = FileMixSettings { workspace_mebibytes: 80, shared: 0.0, pads: FilePads::Active };
        let captured = of(EVERY_MIX_KEY);
        assert_eq!(
            (captured.workload.work, captured.loadfile.as_deref()),
            (FileWork::DiskMix(mix), Some("client.txt"))
        );
        let micro = FileMicroSettings {
            test: FileTest::Stat,
            file_bytes: 8 << 20,
            block_bytes: 1 << 20,
            small_file_bytes: 4096,
        };
        assert_eq!(of(EVERY_MICRO_KEY).workload.work, FileWork::Micro(micro));
    }

    #[test]
    fn mistakes_are_shown_with_what_is_expected() {
        let problem = |piece, slip| problem_of(EVERY_FILE_KEY, piece, slip);
        let found = [
            problem("clients = \"streams\"", "clients = \"office\""),
            problem("clients = \"streams\"", "clients = \"streams\"\nmix = 1"),
            problem("clients = \"streams\"", "clients = \"streams\"\nloadfile = \"client.txt\""),
            problem_of(EVERY_MIX_KEY, "\"client.txt\"", "\"\""),
            problem_of(EVERY_MIX_KEY, "\"80 MiB\"", "\"14 MiB\""),
            problem_of(EVERY_MIX_KEY, "shared = 0", "shared = 101"),
            problem("clients = \"streams\"", "clients = \"disk-mix\""),
            problem_of(EVERY_MIX_KEY, "shared = 0", "test = \"stat\""),
            problem("\"many:4\"", "\"shared:4\""),
            problem("\"1 MiB\"", "\"16 MiB\""),
            problem("\"smb://me@127.0.0.1:4450/files\"", "\"http://127.0.0.1/\""),
        ];
        insta::assert_snapshot!(found.join("\n"), @r#"
        line 12, `"office"`: `workload.clients` is not valid: expected `disk-mix` or `streams` or `micro`, found `office`
        line 13, `mix`: unknown key `mix` in `workload`: not a key of a definition
        line 13, `"client.txt"`: `workload.loadfile` is not valid: only clients of a Disk Mix replay a load file
        line 13, `""`: `workload.loadfile` is not valid: expected a string, found an empty one
        line 20, `"14 MiB"`: `protocol.workspace` is not valid: expected a size such as `4 KiB`, from 15.0 MiB up to 64.0 GiB
        line 21, `101`: `protocol.shared` is not valid: expected a whole number from 0 to 100, found 101
        line 19, `"many:4"`: `protocol.files` is not valid: the work of this benchmark has no use for it
        line 21, `"stat"`: `protocol.test` is not valid: the work of this benchmark has no use for it
        line 19, `"shared:4"`: `protocol.files` is not valid: expected private, shared, many or many:N, found `shared:4`
        line 21, `"16 MiB"`: `protocol.block` is not valid: expected a size such as `4 KiB`, from 4.0 KiB up to 8.0 MiB
        line 9, `"http://127.0.0.1/"`: `target` is not valid: expected the URL of a directory, a share or an export
        "#);
    }
}

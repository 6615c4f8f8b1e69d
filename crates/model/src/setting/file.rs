//! The settings of file-server workloads. Each is of some kinds of work only, and has no value of the others.

use files::{StreamShape, Workspace};
use languages::NamedValues;

use super::configuration::{TIME_LIMIT, encryption_text};
use super::{Configuration, DefinitionKey, Setting, SettingAccess, SettingChoice, SettingKind, SettingValue};
use crate::{
    FileMicroSettings, FileMixSettings, FileSmbSettings, FileStreamFiles, FileStreamSettings, FileWork,
    FileWorkload, Workload,
};

pub(super) const TRANSPORT: &str = "transport";
const DIALECT: &str = "dialect";
const SIGNING: &str = "signing";
const ENCRYPTION: &str = "encryption";
pub(super) const LOADFILE: &str = "loadfile";
const WORKSPACE: &str = "workspace";
const SHARED: &str = "shared";
const PAD: &str = "pad";
const FILE: &str = "file";
const FILES: &str = "files";
const DIRECTION: &str = "direction";
const BLOCK: &str = "block";
const IN_FLIGHT: &str = "in-flight";
const TEST: &str = "test";
const SMALL_FILE: &str = "small-file";
const VERIFY: &str = "verify";
const DURABILITY: &str = "durability";
const CACHE: &str = "cache";

/// The dialect that is chosen by the transport.
const NEWEST: &str = "newest";

/// A mebibyte, the unit of workspaces.
const MEBIBYTE: u64 = 1 << 20;

/// The largest of the small files of micro-tests.
const SMALL_FILE_BYTES_MAX: u64 = MEBIBYTE;

pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: TRANSPORT,
        title: "transport",
        about: "way in which clients reach their files, which follows from the target",
        kind: SettingKind::Choice(&[
            SettingChoice::new(
                "directory",
                "Calls on a directory of this machine, of a disk or of whatever is mounted there",
            ),
            SettingChoice::new("smb", "SMB, in a session of each client"),
            SettingChoice::new("nfs", "NFS, each client over a connection of its own"),
        ]),
        key: DefinitionKey::Optional("directory"),
        access: SettingAccess::Whole {
            text: |configuration| Some(file(configuration)?.transport.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, TRANSPORT, value),
        },
    },
    Setting {
        name: DIALECT,
        title: "dialect",
        about: "only dialect of the transport that is offered to the server",
        kind: SettingKind::Choice(&[
            SettingChoice::new(NEWEST, "The newest one of the transport: SMB 3.1.1, NFS 4.1"),
            SettingChoice::new("2.1", "SMB 2.1, of Windows 7: signatures, no encryption"),
            SettingChoice::new("3.1.1", "SMB 3.1.1, of Windows 10"),
            SettingChoice::new("v3", "NFS 3, of which locks are left out"),
            SettingChoice::new("v4.1", "NFS 4.1"),
        ]),
        key: DefinitionKey::Optional(NEWEST),
        access: SettingAccess::Whole {
            text: |configuration| Some(file(configuration)?.dialect()?.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, DIALECT, value),
        },
    },
    Setting {
        name: SIGNING,
        title: "signing",
        about: "signatures of messages over SMB",
        kind: SettingKind::Choice(&[
            SettingChoice::new("off", "None; a server that requires them is refused"),
            SettingChoice::new("on", "Of all messages, and those of replies are verified"),
        ]),
        key: DefinitionKey::Optional("off"),
        access: SettingAccess::Whole {
            text: |configuration| Some(encryption_text(smb(configuration)?.is_signed)),
            apply: |configuration, value| apply_to(configuration, SIGNING, value),
        },
    },
    Setting {
        name: ENCRYPTION,
        title: "encryption",
        about: "encryption of messages over SMB",
        kind: SettingKind::Choice(&[
            SettingChoice::new("off", "None; a server that requires it is refused"),
            SettingChoice::new("on", "AES-128-GCM, of all messages, in place of signatures"),
        ]),
        key: DefinitionKey::Optional("off"),
        access: SettingAccess::Whole {
            text: |configuration| Some(encryption_text(smb(configuration)?.is_encrypted)),
            apply: |configuration, value| apply_to(configuration, ENCRYPTION, value),
        },
    },
    Setting {
        name: LOADFILE,
        title: "load file",
        about: "load file of dbench whose operations clients replay in place of the Disk Mix, also compressed by gzip",
        kind: SettingKind::Text("FILE"),
        key: DefinitionKey::None,
        access: SettingAccess::Whole {
            text: |configuration| match &file(configuration)?.work {
                FileWork::DiskMix(_) | FileWork::Captured(_) => Some(configuration.loadfile.clone()),
                FileWork::Streams(_) | FileWork::Micro(_) => None,
            },
            // The caller has made the workload from it: reading a file is not for planning.
            apply: |configuration, value| {
                if let SettingValue::Text(loadfile) = value {
                    configuration.loadfile.clone_from(loadfile);
                }
            },
        },
    },
    Setting {
        name: WORKSPACE,
        title: "workspace",
        about: "size of each client's files in a Disk Mix, rounded down to MiB; those beyond 15 MiB fill it up",
        kind: SettingKind::Bytes {
            least: Workspace::LEAST as u64 * MEBIBYTE,
            most: Workspace::MOST as u64 * MEBIBYTE,
            has_auto: false,
        },
        key: DefinitionKey::Optional("20 MiB"),
        access: SettingAccess::Whole {
            text: |configuration| Some(format!("{} MiB", mix(configuration)?.workspace_mebibytes)),
            apply: |configuration, value| apply_to(configuration, WORKSPACE, value),
        },
    },
    Setting {
        name: SHARED,
        title: "shared files",
        about: "part of the reading, asking and searching of a Disk Mix that is on files which all clients share, in \
                percent; with 0 none is, as with dbench, else 5 % of the updates are, too",
        kind: SettingKind::Count { least: 0, most: 100 },
        key: DefinitionKey::Optional("20"),
        access: SettingAccess::Whole {
            text: |configuration| Some(format!("{:.0} %", mix(configuration)?.shared * 100.0)),
            apply: |configuration, value| apply_to(configuration, SHARED, value),
        },
    },
    Setting {
        name: PAD,
        title: "files that fill up workspaces",
        about: "use of the files that fill up a workspace",
        kind: SettingKind::Choice(&[
            SettingChoice::new("inert", "They are only there, as in the original"),
            SettingChoice::new(
                "active",
                "They are read as documents are: what is in use grows with the workspace",
            ),
        ]),
        key: DefinitionKey::Optional("inert"),
        access: SettingAccess::Whole {
            text: |configuration| Some(mix(configuration)?.pads.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, PAD, value),
        },
    },
    Setting {
        name: FILES,
        title: "files of streams",
        about: "files that streams read or write",
        kind: SettingKind::Choice(&[
            SettingChoice::new("private", "One of each client"),
            SettingChoice::new("shared", "One that all clients read"),
            SettingChoice {
                number: Some("that of the files of each client"),
                ..SettingChoice::new("many", "Several of each client, in turn: 16, or `many:N`")
            },
        ]),
        key: DefinitionKey::Optional("private"),
        access: SettingAccess::Whole {
            text: |configuration| Some(files_text(streams(configuration)?.files)),
            apply: |configuration, value| apply_to(configuration, FILES, value),
        },
    },
    Setting {
        name: FILE,
        title: "size of a file",
        about: "size of each file of streams, and of that with requests at random places",
        kind: SettingKind::Bytes { least: 4096, most: StreamShape::FILE_MOST, has_auto: false },
        key: DefinitionKey::Optional("32 MiB"),
        access: SettingAccess::Whole {
            text: |configuration| large_file(configuration).map(|(file, _)| size_text(file)),
            apply: |configuration, value| apply_to(configuration, FILE, value),
        },
    },
    Setting {
        name: BLOCK,
        title: "size of a request",
        about: "size of each read or write of streams, and of those at random places",
        kind: SettingKind::Bytes {
            least: StreamShape::BLOCK_LEAST,
            most: StreamShape::BLOCK_MOST,
            has_auto: false,
        },
        key: DefinitionKey::Optional("64 KiB"),
        access: SettingAccess::Whole {
            text: |configuration| large_file(configuration).map(|(_, block)| size_text(block)),
            apply: |configuration, value| apply_to(configuration, BLOCK, value),
        },
    },
    Setting {
        name: IN_FLIGHT,
        title: "requests in flight",
        about: "requests of each client in flight at the same time, in its one session; more than 1 only over a network",
        kind: SettingKind::Count { least: 1, most: StreamShape::IN_FLIGHT_MOST as u32 },
        key: DefinitionKey::Optional("1"),
        access: SettingAccess::Whole {
            text: |configuration| Some(streams(configuration)?.in_flight.to_string()),
            apply: |configuration, value| apply_to(configuration, IN_FLIGHT, value),
        },
    },
    Setting {
        name: DIRECTION,
        title: "direction of streams",
        about: "direction of streams",
        kind: SettingKind::Choice(&[
            SettingChoice::new("read", "Open, read to the end, close"),
            SettingChoice::new("write", "Create or cut, write, close"),
            SettingChoice::new("write-flush", "Create or cut, write, flush, close"),
        ]),
        key: DefinitionKey::Optional("read"),
        access: SettingAccess::Whole {
            text: |configuration| Some(streams(configuration)?.direction.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, DIRECTION, value),
        },
    },
    Setting {
        name: TEST,
        title: "micro-test",
        about: "kind of operation that clients perform in a micro-test",
        kind: SettingKind::Choice(&[
            SettingChoice::new("rand-read", "Aligned reads at random places of a file of each client"),
            SettingChoice::new("rand-write", "Aligned writes at random places of a file of each client"),
            SettingChoice::new(
                "dir-search",
                "Searches of folders of 10 to 10,000 entries, without and with a match in turns",
            ),
            SettingChoice::new("open-close", "Small files are opened and closed"),
            SettingChoice::new("create-delete", "1,000 small files are created, and then deleted"),
            SettingChoice::new("stat", "Paths of small files are asked about"),
            SettingChoice::new("rename", "1,000 small files are renamed, and then named back"),
            SettingChoice::new("lock", "A byte of a file that all clients share is locked and unlocked"),
        ]),
        key: DefinitionKey::Optional("rand-read"),
        access: SettingAccess::Whole {
            text: |configuration| Some(micro(configuration)?.test.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, TEST, value),
        },
    },
    Setting {
        name: SMALL_FILE,
        title: "size of a small file",
        about: "size of each small file of a micro-test",
        kind: SettingKind::Bytes { least: 0, most: SMALL_FILE_BYTES_MAX, has_auto: false },
        key: DefinitionKey::Optional("0 B"),
        access: SettingAccess::Whole {
            text: |configuration| {
                let micro = micro(configuration).filter(|micro| micro.test.has_small_files());
                micro.map(|micro| size_text(micro.small_file_bytes))
            },
            apply: |configuration, value| apply_to(configuration, SMALL_FILE, value),
        },
    },
    Setting {
        name: VERIFY,
        title: "verification of reads",
        about: "depth to which bytes that were read are verified",
        kind: SettingKind::Choice(&[
            SettingChoice::new("off", "Not at all"),
            SettingChoice::new(
                "stamp",
                "The stamp of each block: run, file, generation and number of the block",
            ),
            SettingChoice::new("full", "Every byte, where it is known which were written"),
        ]),
        key: DefinitionKey::Optional("stamp"),
        access: SettingAccess::Whole {
            text: |configuration| Some(file(configuration)?.verify.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, VERIFY, value),
        },
    },
    Setting {
        name: DURABILITY,
        title: "durability",
        about: "moment at which written bytes must be on the disk",
        kind: SettingKind::Choice(&[
            SettingChoice::new("flush", "When a client flushes its file"),
            SettingChoice::new("write", "At the end of each write"),
            SettingChoice::new("none", "None: a flush does nothing"),
        ]),
        key: DefinitionKey::Optional("flush"),
        access: SettingAccess::Whole {
            text: |configuration| Some(file(configuration)?.durability.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, DURABILITY, value),
        },
    },
    Setting {
        name: CACHE,
        title: "cached files",
        about: "state of the cache of the file system or the server when a load point begins",
        kind: SettingKind::Choice(&[
            SettingChoice::new(
                "auto",
                "Cold where this run can evict the files; a share of a server that was there as it was left",
            ),
            SettingChoice::new("cold", "The files are evicted; refused where this run cannot do that"),
            SettingChoice::new("warm", "Every file is read once, beside the measurement"),
            SettingChoice::new(
                "cold-machine",
                "All caches of this machine are dropped, those of other programs, too; only as root",
            ),
        ]),
        key: DefinitionKey::Optional("auto"),
        access: SettingAccess::Whole {
            text: |configuration| Some(file(configuration)?.cache.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, CACHE, value),
        },
    },
    TIME_LIMIT,
];

/// Returns whether a setting is of all work, or of work of this kind.
pub(crate) fn is_of_work(name: &str, work: &FileWork) -> bool {
    match name {
        WORKSPACE | SHARED | PAD => matches!(work, FileWork::DiskMix(_)),
        FILES | DIRECTION => matches!(work, FileWork::Streams(_)),
        FILE | BLOCK => matches!(work, FileWork::Streams(_) | FileWork::Micro(_)),
        TEST | SMALL_FILE => matches!(work, FileWork::Micro(_)),
        _ => true,
    }
}

/// The number of files of `many` without a number.
const MANY: u32 = 16;

/// Gives a workload the value of a setting by its name; one of another kind of work stays as it is.
pub(crate) fn apply(workload: &mut FileWorkload, name: &str, value: &SettingValue) {
    match (name, value) {
        (TRANSPORT, _) => workload.transport = chosen(value).unwrap_or(workload.transport),
        (DIALECT, _) => workload.dialect = chosen(value),
        (SIGNING, SettingValue::Choice(name, _)) => workload.smb.is_signed = *name == "on",
        (ENCRYPTION, SettingValue::Choice(name, _)) => workload.smb.is_encrypted = *name == "on",
        (VERIFY, _) => workload.verify = chosen(value).unwrap_or(workload.verify),
        (DURABILITY, _) => workload.durability = chosen(value).unwrap_or(workload.durability),
        (CACHE, _) => workload.cache = chosen(value).unwrap_or(workload.cache),
        _ => match &mut workload.work {
            FileWork::DiskMix(mix) => apply_to_mix(mix, name, value),
            FileWork::Streams(streams) => apply_to_streams(streams, name, value),
            FileWork::Micro(micro) => apply_to_micro(micro, name, value),
            FileWork::Captured(_) => {}
        },
    }
}

fn apply_to_mix(mix: &mut FileMixSettings, name: &str, value: &SettingValue) {
    match (name, value) {
        (WORKSPACE, SettingValue::Bytes(bytes)) => {
            mix.workspace_mebibytes = u32::try_from(bytes / MEBIBYTE).unwrap_or(Workspace::MOST);
        }
        (SHARED, SettingValue::Count(percent)) => mix.shared = f64::from(*percent) / 100.0,
        (PAD, _) => mix.pads = chosen(value).unwrap_or(mix.pads),
        _ => {}
    }
}

fn apply_to_streams(streams: &mut FileStreamSettings, name: &str, value: &SettingValue) {
    match (name, value) {
        (FILE, SettingValue::Bytes(bytes)) => streams.file_bytes = *bytes,
        (BLOCK, SettingValue::Bytes(bytes)) => streams.block_bytes = *bytes,
        (FILES, SettingValue::Choice(name, number)) => {
            streams.files = match *name {
                "shared" => FileStreamFiles::Shared,
                "many" => FileStreamFiles::Many(number.unwrap_or(MANY)),
                _ => FileStreamFiles::Private,
            };
        }
        (IN_FLIGHT, SettingValue::Count(n)) => {
            streams.in_flight = u8::try_from(*n).unwrap_or(StreamShape::IN_FLIGHT_MOST);
        }
        (DIRECTION, _) => streams.direction = chosen(value).unwrap_or(streams.direction),
        _ => {}
    }
}

fn apply_to_micro(micro: &mut FileMicroSettings, name: &str, value: &SettingValue) {
    match (name, value) {
        (TEST, _) => micro.test = chosen(value).unwrap_or(micro.test),
        (FILE, SettingValue::Bytes(bytes)) => micro.file_bytes = *bytes,
        (BLOCK, SettingValue::Bytes(bytes)) => micro.block_bytes = *bytes,
        (SMALL_FILE, SettingValue::Bytes(bytes)) => micro.small_file_bytes = *bytes,
        _ => {}
    }
}

/// Returns the value of a name.
fn chosen<T: NamedValues + Copy>(value: &SettingValue) -> Option<T> {
    match value {
        SettingValue::Choice(name, _) => T::named(name),
        _ => None,
    }
}

fn apply_to(configuration: &mut Configuration, name: &str, value: &SettingValue) {
    if let Workload::File(workload) = &mut configuration.workload {
        apply(workload, name, value);
    }
}

fn file(configuration: &Configuration) -> Option<&FileWorkload> {
    configuration.workload.file()
}

/// Returns the settings of sessions over SMB, where clients have them.
fn smb(configuration: &Configuration) -> Option<&FileSmbSettings> {
    file(configuration).filter(|workload| workload.is_over_smb()).map(|workload| &workload.smb)
}

fn mix(configuration: &Configuration) -> Option<&FileMixSettings> {
    if let FileWork::DiskMix(mix) = &file(configuration)?.work { Some(mix) } else { None }
}

fn streams(configuration: &Configuration) -> Option<&FileStreamSettings> {
    if let FileWork::Streams(streams) = &file(configuration)?.work { Some(streams) } else { None }
}

fn micro(configuration: &Configuration) -> Option<&FileMicroSettings> {
    if let FileWork::Micro(micro) = &file(configuration)?.work { Some(micro) } else { None }
}

/// Returns the sizes of a file that is read or written in requests of one size, and of these.
fn large_file(configuration: &Configuration) -> Option<(u64, u64)> {
    match &file(configuration)?.work {
        FileWork::DiskMix(_) | FileWork::Captured(_) => None,
        FileWork::Streams(streams) => Some((streams.file_bytes, streams.block_bytes)),
        FileWork::Micro(micro) => micro.test.is_random().then_some((micro.file_bytes, micro.block_bytes)),
    }
}

/// Writes a size exactly, so that every other size is another text.
fn size_text(bytes: u64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", MEBIBYTE), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, size)| bytes != 0 && bytes.is_multiple_of(*size)) {
        Some((unit, size)) => format!("{} {unit}", bytes / size),
        None => format!("{bytes} B"),
    }
}

fn files_text(files: FileStreamFiles) -> String {
    match files {
        FileStreamFiles::Private => "private".to_owned(),
        FileStreamFiles::Shared => "shared".to_owned(),
        FileStreamFiles::Many(n_files) => format!("many:{n_files}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Family, FileCache, FileDialect, FileDirection, FileDurability, FilePads, FileTest, FileTransport,
        FileVerify,
    };

    #[test]
    fn choices_are_the_names_of_the_model() {
        let choices = |name: &str| -> Vec<&'static str> {
            let setting = SETTINGS.iter().find(|setting| setting.name == name).unwrap();
            let SettingKind::Choice(choices) = setting.kind else { panic!("{name}") };
            choices.iter().map(|choice| choice.name).collect()
        };
        assert_eq!(choices(TRANSPORT), FileTransport::ALL.map(FileTransport::name));
        assert_eq!(choices(DIALECT)[0], NEWEST);
        assert_eq!(choices(DIALECT)[1..], FileDialect::ALL.map(FileDialect::name));
        assert_eq!(choices(PAD), FilePads::ALL.map(FilePads::name));
        assert_eq!(choices(DIRECTION), FileDirection::ALL.map(FileDirection::name));
        assert_eq!(choices(TEST), FileTest::ALL.map(FileTest::name));
        assert_eq!(choices(VERIFY), FileVerify::ALL.map(FileVerify::name));
        assert_eq!(choices(DURABILITY), FileDurability::ALL.map(FileDurability::name));
        assert_eq!(choices(CACHE), FileCache::ALL.map(FileCache::name));
    }

    fn configuration(work: FileWork) -> Configuration {
        Configuration {
            workload: Workload::File(FileWorkload::new(work)),
            time_limit: units::Nanos::from_secs(1),
            filelist: String::new(),
            loadfile: "none".to_owned(),
        }
    }

    /// A setting has no value of work that it is not of.
    #[test]
    fn every_setting_has_an_effect_where_it_has_a_value() {
        let works = [
            FileWork::DiskMix(FileMixSettings::STANDARD),
            FileWork::Streams(FileStreamSettings::STANDARD),
            FileWork::Micro(FileMicroSettings::standard(FileTest::RandomWrite)),
            FileWork::Micro(FileMicroSettings::standard(FileTest::CreateDelete)),
        ];
        let shown = works.map(|work| {
            let mut names = Vec::new();
            for (name, value) in [
                ("workspace", "81.5 MiB"),
                ("shared", "0"),
                ("pad", "active"),
                ("files", "many"),
                ("files", "many:3"),
                ("file", "4 GiB"),
                ("block", "1 MiB"),
                ("in-flight", "4"),
                ("direction", "write-flush"),
                ("test", "stat"),
                ("small-file", "4 KiB"),
                ("verify", "full"),
                ("durability", "none"),
                ("cache", "warm"),
            ] {
                let before = configuration(work.clone());
                let chosen = Family::File.choose_setting(name, value).unwrap();
                let values = chosen.setting.values(&before);
                let after = before.clone().with(std::slice::from_ref(&chosen));
                assert!(values.is_empty() || after != before, "{name} of {work:?}");
                names.extend(
                    chosen.setting.values(&after).into_iter().map(|(name, text)| format!("{name}={text}")),
                );
            }
            names.join(" ")
        });
        insta::assert_snapshot!(shown.join("\n"), @"
        workspace=81 MiB shared=0 % pad=active verify=full durability=none cache=warm
        files=many:16 files=many:3 file=4 GiB block=1 MiB in-flight=4 direction=write-flush verify=full durability=none cache=warm
        file=4 GiB block=1 MiB test=stat verify=full durability=none cache=warm
        test=stat small-file=4 KiB verify=full durability=none cache=warm
        ");
    }

    #[test]
    fn settings_of_sessions_apply_to_their_transports_only() {
        let directory = configuration(FileWork::DiskMix(FileMixSettings::STANDARD));
        let shown = |configuration: &Configuration| -> Vec<String> {
            let of_sessions =
                SETTINGS.iter().filter(|one| [DIALECT, SIGNING, ENCRYPTION].contains(&one.name));
            of_sessions
                .flat_map(|one| one.values(configuration))
                .map(|(name, text)| format!("{name}={text}"))
                .collect()
        };
        let choose = |name, value| Family::File.choose_setting(name, value).unwrap();
        let chosen = [choose(SIGNING, "on"), choose(ENCRYPTION, "on")];
        assert!(shown(&directory.clone().with(&chosen)).is_empty());
        let smb = directory.clone().with(&[choose(TRANSPORT, "smb")]);
        assert_eq!(shown(&smb), ["dialect=3.1.1", "signing=off", "encryption=off"]);
        assert_eq!(shown(&smb.clone().with(&chosen)), ["dialect=3.1.1", "signing=on", "encryption=on"]);
        let old = smb.with(&[choose(DIALECT, "2.1")]);
        assert_eq!(shown(&old), ["dialect=2.1", "signing=off", "encryption=off"]);
        let nfs = directory.with(&[choose(TRANSPORT, "nfs")]);
        assert_eq!(shown(&nfs), ["dialect=v4.1"]);
        assert_eq!(shown(&nfs.with(&[choose(DIALECT, "v3")])), ["dialect=v3"]);
    }

    /// The values of a definition that leaves all settings out are those of the workload that it begins with, but for the
    /// sizes of micro-tests, which share their names with those of streams.
    #[test]
    fn defaults_are_those_of_the_workload() {
        for work in
            [FileWork::DiskMix(FileMixSettings::STANDARD), FileWork::Streams(FileStreamSettings::STANDARD)]
        {
            let mut workload = FileWorkload::new(work.clone());
            for setting in SETTINGS {
                if let DefinitionKey::Optional(value) = setting.key {
                    apply(&mut workload, setting.name, &setting.kind.parse(value).unwrap());
                }
            }
            assert_eq!(workload, FileWorkload::new(work));
        }
    }
}

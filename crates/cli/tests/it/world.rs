//! A folder for one test, and the binary run in it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{Arc, Mutex, OnceLock},
};

use model::record::{Line, Record};
use tempfile::TempDir;

pub(crate) struct World(TempDir);

/// What a command printed and how it ended.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    pub(crate) fn new() -> Self {
        crate::running::end_old_children();
        Self(TempDir::new().unwrap())
    }

    /// One in which these lines succeeded.
    pub(crate) fn after<const N: usize>(lines: [&str; N]) -> Self {
        let world = Self::new();
        for line in lines {
            world.ok(line);
        }
        world
    }

    /// One with the record `name` that `line` writes. The line runs once for all tests, whose copies differ in
    /// nothing.
    pub(crate) fn with_record(line: &str, name: &str) -> Self {
        static RECORDS: Mutex<BTreeMap<String, Arc<OnceLock<String>>>> =
            Mutex::new(BTreeMap::new());
        let record = Arc::clone(RECORDS.lock().unwrap().entry(line.to_owned()).or_default());
        let record = record.get_or_init(|| {
            let world = Self::after([&format!("{line} --json {name}")]);
            fs::read_to_string(world.path(name)).unwrap()
        });
        let world = Self::new();
        world.write(name, record);
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The binary with these words, to be run in this folder.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_storemark"));
        command.args(line.split_whitespace()).current_dir(self.0.path()).env("NO_COLOR", "1");
        command
    }

    pub(crate) fn run(&self, line: &str) -> Ran {
        self.command(line).output().unwrap().into()
    }

    /// Runs what must succeed.
    pub(crate) fn ok(&self, line: &str) -> Ran {
        let ran = self.run(line);
        assert_eq!(ran.code, Some(0), "{line}\n{}{}", ran.out, ran.err);
        ran
    }

    /// Runs what must be refused with one clear line, and returns that line.
    pub(crate) fn refused(&self, line: &str) -> String {
        let before = self.tree();
        let ran = self.run(line);
        assert_eq!(ran.code, Some(1), "{line}\n{}{}", ran.out, ran.err);
        assert_eq!(ran.out, "", "{line}");
        assert_eq!(ran.err.lines().count(), 1, "{line}: {}", ran.err);
        assert!(ran.err.starts_with("storemark: "), "{}", ran.err);
        assert_eq!(self.tree(), before, "{line} changed something");
        ran.err
    }

    /// Refuses each of these lines with one that says so.
    #[track_caller]
    pub(crate) fn refuses<'a>(&self, cases: impl IntoIterator<Item = (&'a str, &'a str)>) {
        for (line, says) in cases {
            let said = self.refused(line);
            assert!(said.contains(says), "{line}\n{said}");
        }
    }

    /// The only record in the file.
    pub(crate) fn record(&self, name: &str) -> Record {
        let mut records = self.records(name);
        assert_eq!(records.len(), 1, "{name}");
        records.remove(0)
    }

    /// The records in the file: one for each run.
    pub(crate) fn records(&self, name: &str) -> Vec<Record> {
        records(&fs::read_to_string(self.path(name)).unwrap())
    }

    /// The system's sqlite3 shell on `database`.
    pub(crate) fn sqlite3(&self, arguments: &[&str]) -> String {
        let output = Command::new("sqlite3")
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .expect("the sqlite3 shell is installed by `make test`");
        let ran = Ran::from(output);
        assert_eq!(ran.code, Some(0), "sqlite3 {arguments:?}: {}", ran.err);
        ran.out
    }

    /// Makes `app.db`, a database that another program made.
    pub(crate) fn application(&self) {
        let sql = "CREATE TABLE photos(id INTEGER PRIMARY KEY, name TEXT UNIQUE, data BLOB);
                   INSERT INTO photos VALUES(1, 'a', zeroblob(5000)), (2, 'b', zeroblob(7000));";
        self.sqlite3(&["app.db", sql]);
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Writes a program.
    #[cfg(unix)]
    pub(crate) fn program(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;

        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Flips a bit of the first byte of `bytes` in a file that has them once.
    pub(crate) fn flip(&self, name: &str, bytes: &[u8]) {
        let mut all = fs::read(self.path(name)).unwrap();
        let at = all.windows(bytes.len()).position(|window| window == bytes).unwrap();
        all[at] ^= 1;
        fs::write(self.path(name), all).unwrap();
    }

    /// The names in a folder, in order.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Every path below the folder with its contents and modification time.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
        let mut found = BTreeMap::new();
        walk(self.0.path(), &mut found);
        found
    }
}

/// Whether the tests run as root.
#[cfg(unix)]
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The library that Debian's sqlite3 shell uses.
pub(crate) fn systems_sqlite() -> String {
    let of = |machine| format!("/usr/lib/{machine}-linux-gnu/libsqlite3.so.0");
    let found = ["x86_64", "aarch64"].map(of).into_iter().find(|path| Path::new(path).exists());
    found.expect("`make test` installs libsqlite3-0, which the sqlite3 shell needs")
}

/// The records in `text`.
pub(crate) fn records(text: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for line in text.lines() {
        match serde_json::from_str(line).unwrap() {
            Line::Header(header) => records.push(Record::new(*header)),
            line => records.last_mut().expect("a header first").push(line),
        }
    }
    records
}

/// What another process removes meanwhile is not there.
fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)>) {
    for entry in there(fs::read_dir(folder)).into_iter().flatten() {
        let path = entry.unwrap().path();
        let Some(metadata) = there(fs::symlink_metadata(&path)) else { continue };
        if metadata.is_dir() {
            // A folder's own time changes when scratch folders come and go in it.
            found.insert(path.clone(), (Vec::new(), std::time::UNIX_EPOCH));
            walk(&path, found);
            continue;
        }
        let bytes = metadata.is_file().then(|| there(fs::read(&path)));
        if let Some(bytes) = bytes.unwrap_or_else(|| Some(Vec::new())) {
            found.insert(path, (bytes, metadata.modified().unwrap()));
        }
    }
}

fn there<T>(result: std::io::Result<T>) -> Option<T> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        other => Some(other.unwrap()),
    }
}

impl Ran {
    /// What was printed on standard output, with a space wherever a line is broken.
    pub(crate) fn words(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

//! What a call through the table of a plugin costs more than one of an engine that is linked in: a read by a
//! plugin in C that does nothing, and by `null`, about a million times each, in turns.
//!
//! ```text
//! cargo bench -p storemark-engines --bench plugin              prints the difference with its interval
//! cargo bench -p storemark-engines --bench plugin -- --check   exit 3 if it is above the limit
//! ```

use std::{fs, hint::black_box, path::Path, process::Command, process::ExitCode, time::Instant};

use model::{Access, Key, KeyKind, OpenOptions, Session, Settings};
use storemark_engines::{Plugin, registry};

/// The most that a call may cost more, in nanoseconds.
const LIMIT: f64 = 5.0;
const ROUNDS: usize = 30;
/// The ranks of the differences of rounds between which their median is, in 95 of 100 runs.
const RANKS: [usize; 2] = [9, 20];
/// Of each way in a round; its figure is the median, which bursts of other work do not move.
const BLOCKS: usize = 41;
/// Of a block, which takes about 10 µs.
const CALLS: i64 = 1_000;

/// A store that has nothing, and a value of no bytes for every key.
const SOURCE: &str = r#"
#include "storemark_store.h"
#include <stdio.h>
static int open_store(const char *path, int access, const storemark_pair *settings, size_t count, storemark_store **store) {
    (void)access, (void)settings, (void)count;
    return *store = (storemark_store *)fopen(path, "a"), STOREMARK_OK;
}
static int close_store(storemark_store *store) { return fclose((FILE *)store); }
static int session(storemark_store *store, storemark_session **session) { return *session = (storemark_session *)store, 0; }
static void end(storemark_session *session) { (void)session; }
static int get(storemark_session *session, const void *key, size_t key_length, void *into, size_t room, size_t *length) {
    (void)session, (void)key, (void)key_length, (void)into, (void)room;
    return *length = 0, STOREMARK_OK;
}
static int put(storemark_session *session, const void *key, size_t key_length, const void *value, size_t length, int how) {
    return (void)session, (void)key, (void)key_length, (void)value, (void)length, (void)how, STOREMARK_OK;
}
static int remove_key(storemark_session *session, const void *key, size_t length) {
    return (void)session, (void)key, (void)length, STOREMARK_OK;
}
static int scan(storemark_session *session, const void *from, size_t length, int values, storemark_visit *visit, void *visitor) {
    return (void)session, (void)from, (void)length, (void)values, (void)visit, (void)visitor, STOREMARK_OK;
}
static const char *last_error(void) { return ""; }
const storemark_plugin *storemark_store_plugin(void) {
    static const storemark_plugin plugin = {
        .version = STOREMARK_STORE_VERSION, .open = open_store, .close = close_store, .session = session,
        .end = end, .get = get, .put = put, .remove = remove_key, .scan = scan, .last_error = last_error,
    };
    return &plugin;
}
"#;

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let plugin = Plugin::load(&compiled(folder.path())).expect("it is a plugin");
    let null = registry::blobs("null").expect("every build has it");
    let options = OpenOptions {
        settings: Settings::default(),
        access: Access::Write,
        keys: KeyKind::Integers,
    };
    let stores = [plugin as &dyn model::Blobs, null].map(|engine| {
        engine.create(&folder.path().join("store"), &options).expect("nothing is there")
    });
    let mut sessions = stores.each_ref().map(|store| store.session().expect("it is open"));
    let mut differences = Vec::new();
    for round in 0..=ROUNDS {
        let mut blocks = [Vec::new(), Vec::new()];
        for block in 0..2 * BLOCKS {
            // One after the other, each first in turn.
            let way = (block + block / 2) % 2;
            blocks[way].push(ns_per_call(&mut *sessions[way]));
        }
        let [through, linked] = blocks.map(median);
        // The first one warms everything.
        if round > 0 {
            differences.push(through - linked);
        }
    }
    differences.sort_unstable_by(f64::total_cmp);
    let [low, high] = RANKS.map(|rank| differences[rank]);
    let point = median(differences);
    println!(
        "a plugin's call − a built-in's: {point:.2} ns ({low:.2} to {high:.2}), limit {LIMIT} ns"
    );
    let is_checked = std::env::args().any(|word| word == "--check");
    if is_checked && low > LIMIT { ExitCode::from(3) } else { ExitCode::SUCCESS }
}

/// Compiles the plugin in a folder, and returns its path.
fn compiled(folder: &Path) -> std::path::PathBuf {
    let (source, object) = (folder.join("nothing.c"), folder.join("libnothing.so"));
    fs::write(&source, SOURCE).expect("the folder is there");
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin");
    let status = Command::new("cc")
        .args(["-O2", "-fPIC", "-shared", "-I"])
        .arg(header)
        .arg("-o")
        .args([&object, &source])
        .status();
    assert!(status.is_ok_and(|status| status.success()), "a C compiler is there: it builds SQLite");
    object
}

fn ns_per_call(session: &mut dyn Session) -> f64 {
    let start = Instant::now();
    for key in 0..CALLS {
        let read = session.get(black_box(Key::Int(key)), &mut []);
        black_box(read).expect("nothing fails");
    }
    start.elapsed().as_nanos() as f64 / CALLS as f64
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_unstable_by(f64::total_cmp);
    all[all.len() / 2]
}

//! Another process that has a store open.

use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use model::{Access, LOCK_WAITS, Mode, Session, Store};

use crate::{
    case::{Case, Ease, OwnedKey},
    checks::job,
};

const NEIGHBOUR: &str = "neighbour::neighbour";
const JOB: &str = "STOREMARK_TEST_NEIGHBOUR";
const READY: &str = "the neighbour is ready";

/// Lives until it is dropped.
pub(crate) struct Neighbour {
    process: Child,
    /// Kept open, as the process still writes to it at its end.
    said: BufReader<ChildStdout>,
}

impl Neighbour {
    /// Starts one that opens a store of integers to write, writes key 0, and keeps it open.
    pub(crate) fn with(case: &Case, path: &Path) -> Self {
        let (engine, keys) = (case.engine.name(), case.keys);
        let job = format!("{engine} {keys} ?{} {}", case.settings, path.display());
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", NEIGHBOUR, "--ignored", "--nocapture"])
            .env(JOB, job)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        let mut neighbour = Self { process, said };
        neighbour.hear();
        neighbour
    }

    fn hear(&mut self) {
        let ready = self.said.by_ref().lines().any(|line| line.unwrap().contains(READY));
        assert!(ready, "the neighbour ended");
    }

    /// Has it begin a batch that writes, which stays open for that long.
    fn keep_a_batch_open(&mut self, open: Duration) {
        writeln!(self.process.stdin.as_ref().unwrap(), "{}", open.as_millis()).unwrap();
        self.hear();
    }

    /// That one who begins to write meanwhile is counted as waiting.
    pub(crate) fn is_waited_for(&mut self, store: &dyn Store) {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut open = Duration::from_millis(1);
        let mut session = store.session().unwrap();
        while waits(&*session) != Some(1) {
            assert!(Instant::now() < deadline, "no wait was counted");
            self.keep_a_batch_open(open);
            session.begin(Mode::Write).unwrap();
            session.commit().unwrap();
            open *= 2;
        }
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        // The end of its input ends it.
        drop(self.process.stdin.take());
        let _ = std::io::copy(&mut self.said, &mut std::io::sink());
        let _ = self.process.wait();
    }
}

/// Waits of the session, where the engine counts them.
fn waits(session: &dyn Session) -> Option<i64> {
    let counters = session.statistics();
    counters.into_iter().find(|(name, _)| *name == LOCK_WAITS).map(|(_, waits)| waits)
}

#[test]
#[ignore = "runs in a process of its own, started by other tests"]
fn neighbour() {
    let Ok(words) = env::var(JOB) else { return };
    let (case, path) = job(&words);
    let store = case.open(path.as_ref(), Access::Write).unwrap();
    store.session().unwrap().write(&OwnedKey::Int(0), b"neighbour");
    println!("{READY}");
    for open in std::io::stdin().lines() {
        let mut session = store.session().unwrap();
        session.begin(Mode::Write).unwrap();
        println!("{READY}");
        sleep(Duration::from_millis(open.unwrap().parse().unwrap()));
        session.commit().unwrap();
    }
    store.close().unwrap();
}

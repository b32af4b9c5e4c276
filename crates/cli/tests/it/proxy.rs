//! A proxy before an object service, which does to a request what a test asks for.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
};

/// What becomes of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is answered.
    Pass,
    /// The answer breaks off before its last byte.
    Break,
    /// It is never answered.
    Silence,
    /// Objects that end in `.owner` end in `.other` in the answer.
    HideOwners,
}

/// Listens on a port, which is returned, and sends what it gets to the service at `port`. `fate` gets the
/// first line of each request.
pub(crate) fn listen(port: u16, fate: impl Fn(&str) -> Fate + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    let fate = Arc::new(fate);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let fate = fate.clone();
            // One that breaks is the client's to report.
            thread::spawn(move || serve(client, port, &*fate));
        }
    });
    own
}

/// Listens as [`listen`] does, passes every request on, and counts those that `counts`.
pub(crate) fn count(
    port: u16,
    counts: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> (u16, Arc<AtomicU32>) {
    let seen = Arc::new(AtomicU32::new(0));
    let counted = seen.clone();
    let own = listen(port, move |line| {
        counted.fetch_add(u32::from(counts(line)), Relaxed);
        Fate::Pass
    });
    (own, seen)
}

fn serve(mut client: TcpStream, port: u16, fate: &dyn Fn(&str) -> Fate) -> Option<()> {
    let mut request = Vec::new();
    let head = loop {
        if let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        more(&mut client, &mut request)?;
    };
    let text = String::from_utf8_lossy(&request[..head]).into_owned();
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    while request.len() < head + 4 + length.unwrap_or(0) {
        more(&mut client, &mut request)?;
    }
    let what = fate(text.lines().next().unwrap_or_default());
    if what == Fate::Silence {
        // Until the client goes away.
        return client.read_to_end(&mut request).map(drop).ok();
    }
    let mut service = TcpStream::connect(("127.0.0.1", port)).ok()?;
    service.write_all(&request[..head]).ok()?;
    service.write_all(b"\r\nConnection: close").ok()?;
    service.write_all(&request[head..]).ok()?;
    let mut answer = Vec::new();
    service.read_to_end(&mut answer).ok()?;
    if what == Fate::HideOwners {
        let (owner, other) = (b".owner", b".other");
        for at in 0..answer.len().saturating_sub(owner.len()) {
            if answer[at..].starts_with(owner) {
                answer[at..at + other.len()].copy_from_slice(other);
            }
        }
    }
    let sent = if what == Fate::Break { answer.len() - 1 } else { answer.len() };
    client.write_all(&answer[..sent]).ok()?;
    client.shutdown(Shutdown::Both).ok()
}

fn more(client: &mut TcpStream, request: &mut Vec<u8>) -> Option<()> {
    let mut some = vec![0; 65536];
    let read = client.read(&mut some).ok().filter(|read| *read > 0)?;
    request.extend_from_slice(&some[..read]);
    Some(())
}

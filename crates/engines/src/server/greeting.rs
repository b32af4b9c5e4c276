//! Whether what answers at an address is a server of the kind at all.

use std::{sync::mpsc::channel, thread, time::Duration};

use model::{Error, Result};

/// Longest time until a server has taken a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// What `connect` comes to with a server called `name`, which may never answer: its thread is left
/// to wait then.
pub(crate) fn greeted<T: Send + 'static>(
    name: &str,
    connect: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(connect()));
    receiver.recv_timeout(PATIENCE).map_err(|_| {
        let waited = PATIENCE.as_secs();
        Error::usage(format!(
            "nothing that speaks as {name} does answers there (waited {waited} s)"
        ))
    })
}

//! The standard input of a process that may not read it: a write that would have to wait fails instead.

use std::io::{self, Write};

#[cfg(unix)]
pub(super) use unix::Pipe;
#[cfg(not(unix))]
pub(super) type Pipe = written_by_a_thread::Pipe;

#[cfg(unix)]
mod unix {
    use std::process::ChildStdin;

    use rustix::fs::{OFlags, fcntl_setfl};

    use super::{Write, io};

    /// The pipe, which the system itself does not wait for.
    pub(in super::super) struct Pipe(ChildStdin);

    impl Pipe {
        pub(in super::super) fn new(pipe: ChildStdin) -> Self {
            // If that fails, writes wait.
            let _ = fcntl_setfl(&pipe, OFlags::NONBLOCK);
            Self(pipe)
        }
    }

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }
}

/// For systems whose pipes cannot be written without waiting.
#[cfg(any(test, not(unix)))]
mod written_by_a_thread {
    use std::{
        sync::mpsc::{SyncSender, TrySendError, sync_channel},
        thread,
    };

    use super::{Write, io};

    /// The pieces that may wait to be written, and the bytes of each.
    const PIECES: usize = 16;
    const BYTES: usize = 1 << 16;

    /// A pipe that a thread writes. It ends when this is dropped and all was written, or when the process
    /// that should read it ends.
    pub(in super::super) struct Pipe(SyncSender<Vec<u8>>);

    impl Pipe {
        pub(in super::super) fn new(mut pipe: impl Write + Send + 'static) -> Self {
            let (sender, pieces) = sync_channel::<Vec<u8>>(PIECES);
            thread::spawn(move || pieces.iter().try_for_each(|piece| pipe.write_all(&piece)));
            Self(sender)
        }
    }

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let piece = &bytes[..bytes.len().min(BYTES)];
            match self.0.try_send(piece.to_vec()) {
                Ok(()) => Ok(piece.len()),
                Err(TrySendError::Full(_)) => Err(io::ErrorKind::WouldBlock.into()),
                Err(TrySendError::Disconnected(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Read, thread, time::Duration};

    use super::{written_by_a_thread::Pipe, *};

    #[test]
    fn a_write_that_would_wait_fails_and_what_was_taken_arrives_whole() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut pipe = Pipe::new(writer);
        let mut sent = Vec::new();
        let refused = loop {
            let bytes: Vec<u8> = (0..=250).cycle().take(100_000).collect();
            match pipe.write(&bytes) {
                Ok(length) => sent.extend_from_slice(&bytes[..length]),
                Err(error) => break error,
            }
        };
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock, "nobody reads");
        drop(pipe);
        let mut arrived = Vec::new();
        reader.read_to_end(&mut arrived).unwrap();
        assert!(arrived == sent, "{} of {} bytes", arrived.len(), sent.len());
    }

    #[test]
    fn a_reader_that_has_ended_is_an_error() {
        let (reader, writer) = io::pipe().unwrap();
        let mut pipe = Pipe::new(writer);
        drop(reader);
        let ended = loop {
            match pipe.write(b"x").map_err(|error| error.kind()) {
                Ok(_) | Err(io::ErrorKind::WouldBlock) => thread::sleep(Duration::from_millis(1)),
                Err(kind) => break kind,
            }
        };
        assert_eq!(ended, io::ErrorKind::BrokenPipe);
    }
}

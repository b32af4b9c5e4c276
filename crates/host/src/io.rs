//! What a process asked of the system (Linux: `/proc/PID/io`, see proc(5)).

use std::{fs::File, io::Read};

use model::Io;

/// Counters of the process so far, all its threads together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    io: Io,
    /// Bytes that this reading itself took, in one call. The kernel adds them afterwards.
    own_bytes: u64,
}

impl Reading {
    /// Absent where the kernel does not count, or does not tell this user.
    pub(super) fn now() -> Option<Self> {
        // More than seven counters of 64 bits can fill, so that one call reads them all.
        let mut buffer = [0; 512];
        let length = File::open("/proc/self/io").ok()?.read(&mut buffer).ok()?;
        let text = std::str::from_utf8(&buffer[..length]).ok()?;
        Some(Self { io: parse(text)?, own_bytes: length as u64 })
    }

    /// What was asked for between two readings, less what the first of them asked for itself.
    pub(super) fn since(&self, then: &Self) -> Io {
        let (now, before) = (self.io, then.io);
        Io {
            read_calls: now.read_calls.saturating_sub(before.read_calls + 1),
            read_bytes: now.read_bytes.saturating_sub(before.read_bytes + then.own_bytes),
            write_calls: now.write_calls.saturating_sub(before.write_calls),
            written_bytes: now.written_bytes.saturating_sub(before.written_bytes),
            device_read_bytes: now.device_read_bytes.saturating_sub(before.device_read_bytes),
        }
    }
}

pub(super) fn parse(text: &str) -> Option<Io> {
    let count = |name| {
        let (_, value) =
            text.lines().filter_map(|l| l.split_once(": ")).find(|(n, _)| *n == name)?;
        // A counter past 2^63 is no counter; without it no sum above can overflow.
        value.parse().ok().filter(|count: &u64| *count < 1 << 63)
    };
    Some(Io {
        read_calls: count("syscr")?,
        read_bytes: count("rchar")?,
        write_calls: count("syscw")?,
        written_bytes: count("wchar")?,
        device_read_bytes: count("read_bytes")?,
    })
}

/// Of two processes together.
pub(super) fn sum(one: Io, other: Io) -> Io {
    Io {
        read_calls: one.read_calls.saturating_add(other.read_calls),
        read_bytes: one.read_bytes.saturating_add(other.read_bytes),
        write_calls: one.write_calls.saturating_add(other.write_calls),
        written_bytes: one.written_bytes.saturating_add(other.written_bytes),
        device_read_bytes: one.device_read_bytes.saturating_add(other.device_read_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IO: &str = "\
rchar: 6976
wchar: 12
syscr: 10
syscw: 2
read_bytes: 4096
write_bytes: 8192
cancelled_write_bytes: 0
";

    #[test]
    fn counters_are_taken_by_name() {
        let io = parse(IO).unwrap();
        assert_eq!((io.read_calls, io.read_bytes), (10, 6976));
        assert_eq!((io.write_calls, io.written_bytes), (2, 12));
        assert_eq!(io.device_read_bytes, 4096);
    }

    #[test]
    fn a_reading_does_not_count_itself() {
        let then = Reading { io: parse(IO).unwrap(), own_bytes: 100 };
        let mut now = then;
        (now.io.read_calls, now.io.read_bytes) = (13, 6976 + 100 + 20_000);
        let io = now.since(&then);
        assert_eq!((io.read_calls, io.read_bytes, io.write_calls), (2, 20_000, 0));
        assert_eq!(then.since(&now), Io::default(), "counters never run backwards");
    }

    #[test]
    fn text_of_another_form_is_not_read() {
        for text in ["", "rchar: 1", &IO.replace("4096", "x"), &IO.replace("10\n", "-1\n")] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&IO.replace("6976", &u64::MAX.to_string())), None);
        for text in crate::mutilations(IO.as_bytes()) {
            let _ = parse(&String::from_utf8_lossy(&text));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn reads_and_writes_are_seen_where_the_kernel_tells() {
        let Some(then) = Reading::now() else {
            assert!(
                std::fs::read_to_string("/proc/self/io").is_err(),
                "it tells, but was not read"
            );
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x"), vec![7; 100_000]).unwrap();
        assert_eq!(std::fs::read(folder.path().join("x")).unwrap().len(), 100_000);
        let io = Reading::now().unwrap().since(&then);
        // Other tests of this process may add to it.
        assert!(io.read_bytes >= 100_000 && io.written_bytes >= 100_000, "{io:?}");
        assert!(io.read_calls >= 1 && io.write_calls >= 1, "{io:?}");
    }
}

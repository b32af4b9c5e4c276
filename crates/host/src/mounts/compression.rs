//! Whether a file system compresses what is written to it (Linux).

/// How, as far as its type and mount options show; `None`: not at all. Options of single files
/// (`chattr +c`) are not seen.
pub(super) fn compression(kind: &str, options: &str) -> Option<String> {
    let value = |name: &str| {
        options.split(',').find_map(|option| match option.split_once('=') {
            Some((key, value)) => (key == name).then_some(value),
            None => (option == name).then_some("on"),
        })
    };
    let set = match kind {
        "btrfs" => value("compress").or_else(|| value("compress-force")),
        "f2fs" => value("compress_algorithm"),
        "ntfs3" => value("compress"),
        // Set for a dataset or a file, which a mount does not show.
        "bcachefs" => value("compression").or(Some("possible")),
        "zfs" => Some("possible"),
        _ => None,
    };
    set.filter(|value| !matches!(*value, "" | "no" | "none")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::survives;

    fn found(kind: &str, options: &str) -> String {
        compression(kind, options).unwrap_or_default()
    }

    #[test]
    fn options_show_it() {
        assert_eq!(found("btrfs", "rw,relatime,compress=zstd:3,ssd"), "zstd:3");
        assert_eq!(found("btrfs", "rw,compress-force=lzo"), "lzo");
        assert_eq!(found("btrfs", "rw,compress"), "on");
        assert_eq!(found("ntfs3", "rw,compress,uid=0"), "on");
        assert_eq!(found("f2fs", "rw,compress_algorithm=lz4,compress_log_size=2"), "lz4");
        assert_eq!(found("bcachefs", "rw,compression=zstd"), "zstd");
    }

    #[test]
    fn without_them_only_some_may_compress() {
        for (kind, options) in [
            ("btrfs", "rw,relatime,ssd"),
            ("btrfs", "rw,compress=no"),
            ("btrfs", "rw,compress=none"),
            ("btrfs", "rw,compress="),
            ("bcachefs", "rw,compression=none"),
            ("ext4", "rw,compress=zstd"),
            ("btrfs", "rw,compressed=zstd"),
            ("", ""),
        ] {
            assert_eq!(compression(kind, options), None, "{kind} {options}");
        }
        assert_eq!(found("zfs", "rw,xattr,noacl"), "possible");
        assert_eq!(found("bcachefs", "rw"), "possible");
    }

    #[test]
    fn no_options_make_it_panic() {
        survives("rw,compress=zstd:3,ssd", |options| compression("btrfs", options));
    }
}

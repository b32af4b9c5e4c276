//! The names that Windows gives to no file, which other systems do.

/// The devices that a name means, whatever follows its first dot, in any case
/// (<https://learn.microsoft.com/windows/win32/fileio/naming-a-file>).
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// Returns why Windows has no file of this name, a part of a path; `None` if it can have one.
pub fn windows_name_problem(part: &[u8]) -> Option<&'static str> {
    let Ok(text) = str::from_utf8(part) else { return Some("has bytes that are no UTF-8") };
    if text.chars().any(|c| c < ' ' || r#"<>:"/\|?*"#.contains(c)) {
        return Some(r#"has a control character or one of < > : " / \ | ? *"#);
    }
    if text.ends_with([' ', '.']) && !matches!(text, "." | "..") {
        return Some("ends in a space or a dot, which Windows removes");
    }
    let stem =
        text.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_uppercase();
    let numbered = ["COM", "LPT"].iter().filter_map(|port| stem.strip_prefix(port));
    let is_port = numbered.into_iter().any(is_port_number);
    (is_port || DEVICES.contains(&stem.as_str())).then_some("is the name of a device")
}

/// Returns whether a port has this number, which may be a small digit above the line.
fn is_port_number(number: &str) -> bool {
    let mut characters = number.chars();
    matches!((characters.next(), characters.next()), (Some('1'..='9' | '¹' | '²' | '³'), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_windows_cannot_have_are_found() {
        for bad in [
            "CON",
            "con",
            "nul.txt",
            "Aux.tar.gz",
            "COM1",
            "lpt9.log",
            "com³",
            "NUL .txt",
            "conin$",
            "a.",
            "a ",
            "...",
            "a:b",
            r"C:\x",
            r"..\x",
            "a\\b",
            "a*",
            "what?",
            "a\nb",
            "x|y",
            "\"q\"",
            "<",
            "a/b",
        ] {
            assert!(windows_name_problem(bad.as_bytes()).is_some(), "{bad:?}");
        }
        assert!(windows_name_problem(b"gr\xfc\xdfe").is_some());
    }

    #[test]
    fn other_names_are_no_problem() {
        for good in [
            "console",
            "CONFIG",
            "COM",
            "COM0",
            "COM10",
            "lpt",
            "com12.txt",
            "nulls",
            ".hidden",
            "a b",
            " a",
            "a.b.c",
            "ü",
            "写真.jpg",
            "x'y&z",
            "[1]",
            "CON-1",
            ".",
            "..",
            "",
        ] {
            assert_eq!(windows_name_problem(good.as_bytes()), None, "{good:?}");
        }
    }
}

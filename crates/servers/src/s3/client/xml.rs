//! The elements of an answer in XML.

/// Returns the text of the first element of this name. Services differ in the names of the elements
/// around it.
pub(super) fn element<'t>(text: &'t str, name: &str) -> &'t str {
    let after = text.split_once(&format!("<{name}>")).map_or("", |(_, after)| after);
    after.split_once('<').map_or("", |(text, _)| text)
}

/// Decodes the entities of XML in a text.
pub(super) fn unescape(text: &str) -> String {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').unwrap_or((part, ""));
        let numbered = |digits: &str| match digits.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => digits.parse().ok(),
        };
        plain.extend(match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => name.strip_prefix('#').and_then(numbered).and_then(char::from_u32),
        });
        plain += rest;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_decoded() {
        assert_eq!(unescape("&lt;&gt;&quot;&apos;&#65;&nothing;."), "<>\"'A.");
    }

    #[test]
    fn an_element_is_found_in_an_answer() {
        let text = "<Error><Code>NoSuchBucket</Code><Message>gone</Message></Error>";
        assert_eq!((element(text, "Code"), element(text, "Message")), ("NoSuchBucket", "gone"));
        assert_eq!(element("", "Code"), "");
    }
}

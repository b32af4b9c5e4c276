//! A sum of each value, which is sent with it, kept in its metadata and compared when it is read.

use std::borrow::Cow;

use base64::{Engine, prelude::BASE64_STANDARD};
use md5::{Digest, Md5};
use model::{Accepts, Error, Meta, Result, Setting};
use strum::{Display, EnumString, VariantNames};
use ureq::http::HeaderMap;

pub(super) type Header<'a> = (&'static str, Cow<'a, str>);

pub(super) const CHECK: Setting = Setting::new(
    "check",
    Accepts::Words(Check::VARIANTS),
    "the sum that is sent with a value, kept in its metadata and compared when it is read",
)
.of_use();

/// The kind of sum.
#[derive(Clone, Copy, Debug, Default, Display, EnumString, VariantNames, PartialEq, Eq)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Check {
    None,
    #[default]
    Crc32,
    Md5,
}

const CRC32: &str = "x-amz-meta-storemark-crc32";
const MD5: &str = "x-amz-meta-storemark-md5";
/// The metadata with mode, seconds and nanoseconds of a file.
const FILE: &str = "x-amz-meta-storemark-file";

impl Check {
    /// Returns the header of the sum that is kept with `value`.
    pub(super) fn stored_header<'a>(self, value: &[u8]) -> Option<Header<'a>> {
        match self {
            Self::None => None,
            Self::Crc32 => Some((CRC32, crc32(value).into())),
            Self::Md5 => Some((MD5, md5(value).into())),
        }
    }

    /// Returns the header of the sum that the server compares when it gets `value` in one request.
    pub(super) fn request_header<'a>(self, value: &[u8]) -> Option<Header<'a>> {
        match self {
            Self::None => None,
            Self::Crc32 => {
                let sum = BASE64_STANDARD.encode(crc32fast::hash(value).to_be_bytes());
                Some(("x-amz-checksum-crc32", sum.into()))
            }
            Self::Md5 => Some(("content-md5", BASE64_STANDARD.encode(Md5::digest(value)).into())),
        }
    }

    /// Compares a whole `value` with the sum in its answer.
    ///
    /// # Errors
    ///
    /// Fails with the kind `Corrupt` if they differ.
    pub(super) fn compare(self, value: &[u8], answer: &HeaderMap) -> Result<()> {
        let text = |name: &str| answer.get(name).and_then(|value| value.to_str().ok());
        let (kind, kept, found) = match self {
            Self::None => return Ok(()),
            _ if text(CRC32).is_some() => ("CRC-32", text(CRC32), crc32(value)),
            _ if text(MD5).is_some() => ("MD5", text(MD5), md5(value)),
            Self::Crc32 => return Ok(()),
            Self::Md5 => ("MD5", text("etag").and_then(of_one_part), md5(value)),
        };
        match kept {
            Some(kept) if kept != found => Err(Error::corrupt(format!(
                "the value is damaged: its {kind} is {found}, and {kept} was stored with it"
            ))),
            _ => Ok(()),
        }
    }
}

/// Returns whether `value` is that of an object, whose metadata is `answer`; `None` if it has no sum.
pub(super) fn is_same(value: &[u8], answer: &HeaderMap) -> Option<bool> {
    let text = |name: &str| answer.get(name).and_then(|value| value.to_str().ok());
    let crc = text(CRC32).map(|kept| kept == crc32(value));
    let sum = || text(MD5).or_else(|| text("etag").and_then(of_one_part));
    crc.or_else(|| sum().map(|kept| kept == md5(value)))
}

/// Returns the MD5 that is the entity tag of an object that was not put in parts.
fn of_one_part(tag: &str) -> Option<&str> {
    let tag = tag.trim_matches('"');
    (tag.len() == 32 && tag.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(tag)
}

fn crc32(value: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(value))
}

fn md5(value: &[u8]) -> String {
    format!("{:032x}", u128::from_be_bytes(Md5::digest(value).into()))
}

/// Encodes mode and time as metadata of an object.
pub(super) fn of_file<'a>(meta: Meta) -> Header<'a> {
    (FILE, format!("{:o} {} {}", meta.mode, meta.seconds, meta.nanoseconds).into())
}

/// Decodes the metadata of [`of_file`].
pub(super) fn file(answer: &HeaderMap) -> Option<Meta> {
    let mut words = answer.get(FILE)?.to_str().ok()?.split(' ');
    Some(Meta {
        mode: u32::from_str_radix(words.next()?, 8).ok()?,
        seconds: words.next()?.parse().ok()?,
        nanoseconds: words.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(headers: &[(&'static str, &str)]) -> HeaderMap {
        headers.iter().map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap())).collect()
    }

    #[test]
    fn a_value_is_compared_with_the_sum_that_is_kept() {
        for check in [Check::Crc32, Check::Md5] {
            let (name, sum) = check.stored_header(b"value").unwrap();
            let kept = answer(&[(name, &sum)]);
            for reads in [Check::Crc32, Check::Md5] {
                reads.compare(b"value", &kept).unwrap();
                assert!(reads.compare(b"valuf", &kept).is_err());
            }
            Check::None.compare(b"valuf", &kept).unwrap();
        }
    }

    #[test]
    fn the_tag_of_a_single_part_is_a_sum() {
        let tag = answer(&[("etag", "\"900150983cd24fb0d6963f7d28e17f72\"")]);
        Check::Md5.compare(b"abc", &tag).unwrap();
        assert!(Check::Md5.compare(b"abd", &tag).unwrap_err().to_string().contains("is damaged"));
        Check::Crc32.compare(b"abd", &tag).unwrap();
        let parts = answer(&[("etag", "\"900150983cd24fb0d6963f7d28e17f72-2\"")]);
        Check::Md5.compare(b"abd", &parts).unwrap();
    }

    #[test]
    fn mode_and_time_come_back() {
        let put = Meta { mode: 0o100_644, seconds: -86_400, nanoseconds: 7 };
        let (name, text) = of_file(put);
        assert_eq!(file(&answer(&[(name, &text)])), Some(put));
        assert_eq!(file(&answer(&[(name, "644 1")])), None);
    }
}

//! TLS to an existing server: which certificates are trusted.

use std::path::{Path, PathBuf};

use model::{Accepts, Error, Result, Setting, Settings};
use rustls::pki_types::{CertificateDer, pem::PemObject};

pub(crate) const TLS: Setting = Setting::new(
    "tls",
    Accepts::Text,
    "off; on: encrypted, and the server's certificate must name its host and be signed by a public \
     authority; FILE: the same, with the authorities of this PEM file trusted as well",
);

/// Returns an error if a handshake failed by the server's certificate.
pub(crate) fn certificate_error(what: &str) -> Option<Error> {
    let why = match what {
        own if own.contains("CaUsedAsEndEntity") => {
            "the server's certificate is an authority's own, as a self-signed one is; accepted: one \
             that an authority signed for the server"
        }
        other => {
            // The libraries put it between quotation marks and braces of their own.
            let at = other.find("invalid peer certificate")?;
            other[at..].trim_end_matches(['}', '\'', '`', ' '])
        }
    };
    Some(Error::usage(format!(
        "{why}; ?tls=FILE names a PEM file with the certificate of the authority that signed the \
         server's"
    )))
}

/// The encryption of a connection; the server's certificate is always checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tls {
    /// A PEM file with authorities to trust in addition to the public ones.
    pub(crate) authorities: Option<PathBuf>,
}

impl Tls {
    /// Returns the encryption that `settings` ask for; `None` for none.
    pub(super) fn from_settings(settings: &Settings) -> Result<Option<Self>> {
        let authorities = match settings.get(TLS.name) {
            None | Some("off") => return Ok(None),
            Some("on") => None,
            Some(file) => Some(PathBuf::from(file)),
        };
        if let Some(file) = &authorities {
            certificates(file)?;
        }
        Ok(Some(Self { authorities }))
    }
}

/// Returns the certificates in a PEM file, of which there is at least one.
pub(crate) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let wrong = |why: &str| {
        Error::usage(format!("tls={}: {why} (accepted: on, off, a PEM file)", file.display()))
    };
    let found = CertificateDer::pem_file_iter(file).map_err(|e| wrong(&e.to_string()))?;
    let found = found.collect::<Result<Vec<_>, _>>().map_err(|e| wrong(&e.to_string()))?;
    if found.is_empty() { Err(wrong("has no certificate")) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(word: &str) -> Result<Option<Tls>> {
        let mut settings = Settings::default();
        settings.set(TLS.name, word);
        Tls::from_settings(&settings)
    }

    #[test]
    fn a_file_must_hold_a_certificate() {
        assert_eq!(Tls::from_settings(&Settings::default()).unwrap(), None);
        assert_eq!(asked("off").unwrap(), None);
        assert_eq!(asked("on").unwrap(), Some(Tls { authorities: None }));
        let file = tempfile::NamedTempFile::new().unwrap();
        for (word, why) in [(file.path().to_str().unwrap(), "no certificate"), ("onn", "onn: ")] {
            let error = asked(word).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("accepted: on, off"), "{error}");
        }
    }
}

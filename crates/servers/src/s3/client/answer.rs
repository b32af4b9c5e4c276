//! Answers of a service, and the errors of requests.

use std::io::{self, Read};

use model::{Error, ErrorKind, Result, units};
use ureq::http::StatusCode;

use super::{Answer, S3Client, xml::element};
use crate::s3::address::Link;

/// The reason why there is no whole answer.
pub(super) enum Lack {
    /// The answer broke off: another request may get all of it.
    BrokenOff(Error),
    Failed(Error),
}

impl From<Error> for Lack {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl S3Client<'_> {
    /// Creates the error of a request without an answer. A URL has a signature in it and is not
    /// shown.
    #[cold]
    pub(super) fn no_answer_error(&self, why: &ureq::Error) -> Error {
        if self.is_ended() {
            return Error::interrupted();
        }
        let Link { shown, endpoint, .. } = self.link;
        match why {
            ureq::Error::Io(cause) if cause.kind() == io::ErrorKind::ConnectionRefused => {
                Error::usage(format!("nothing answers at {endpoint}: {cause}")).at(shown)
            }
            ureq::Error::HostNotFound => {
                Error::usage(format!("no such host: {endpoint}")).at(shown)
            }
            ureq::Error::Io(cause) => Error::failed(format!("{endpoint}: {cause}")).at(shown),
            ureq::Error::Timeout(_) => self.timeout_error(),
            other => Error::failed(format!("{endpoint}: {other}")).at(shown),
        }
    }

    #[cold]
    pub(super) fn timeout_error(&self) -> Error {
        let Link { shown, endpoint, .. } = self.link;
        let limit = units::show_duration(self.transfer.limit);
        Error::failed(format!("{endpoint} has not answered for {limit} (?timeout= is the limit)"))
            .at(shown)
    }

    pub(super) fn text(&self, answer: &mut Answer) -> Result<String> {
        let text = answer.body_mut().with_config().limit(u64::MAX).read_to_string();
        let text = text.map_err(|why| self.no_answer_error(&why))?;
        self.count_received(text.len());
        Ok(text)
    }

    /// Returns a successful answer; `None` if there is no such object.
    ///
    /// # Errors
    ///
    /// Fails if the service refuses.
    pub(super) fn check_status(&self, mut answer: Answer) -> Result<Option<Answer>> {
        let status = answer.status();
        if status.is_success() {
            return Ok(Some(answer));
        }
        let text = self.text(&mut answer)?;
        if status == StatusCode::NOT_FOUND
            && matches!(element(&text, "Code"), "" | "NoSuchKey" | "NotFound")
        {
            return Ok(None);
        }
        Err(self.refusal(status, &text))
    }

    /// Creates the error of a refusal, whose answer has this text.
    pub(super) fn refusal(&self, status: StatusCode, text: &str) -> Error {
        let (code, message) = (element(text, "Code"), element(text, "Message"));
        let region = element(text, "Region");
        let shown = &self.link.shown;
        let status = status.as_u16();
        let code = if code.is_empty() { status.to_string() } else { format!("{status} {code}") };
        let message = if message.is_empty() { String::new() } else { format!(": {message}") };
        let said = format!("{shown}: the service refuses ({code}){message}");
        match status {
            401 | 403 => Error::usage(format!(
                "{said}; the credentials must belong to the service and may use the bucket"
            )),
            301 | 307 | 400 if !region.is_empty() => Error::usage(format!(
                "{said}; the bucket is in another region: add region={region}"
            )),
            404 | 301 | 307 | 400 => Error::usage(said),
            _ => Error::failed(said),
        }
    }

    /// Returns a successful answer about what cannot be absent.
    pub(super) fn expect_found(&self, answer: Answer) -> Result<Answer> {
        let absent = || Error::failed("what was asked for is gone").at(&self.link.shown);
        self.check_status(answer)?.ok_or_else(absent)
    }

    /// Reads `into` to its end, which is that of the answer.
    pub(super) fn fill(&self, answer: &mut Answer, into: &mut [u8]) -> Result<(), Lack> {
        let mut reader = answer.body_mut().as_reader();
        // The connection is free for the next request once its end was seen.
        let read = reader.read_exact(into).and_then(|()| reader.read(&mut [0]));
        self.count_received(into.len());
        match read {
            Ok(0) => Ok(()),
            Ok(_) => Err(Lack::Failed(self.unexpected_error("an answer is longer than it says"))),
            Err(_) if self.is_ended() => Err(Lack::Failed(Error::interrupted())),
            Err(cause) if cause.kind() == io::ErrorKind::TimedOut => {
                Err(Lack::Failed(self.timeout_error()))
            }
            Err(cause) => {
                let error = Error::io(&self.link.shown, cause).with_kind(ErrorKind::Failed);
                Err(Lack::BrokenOff(error.context("an answer breaks off")))
            }
        }
    }

    /// Returns the text of a successful answer, if it does not break off.
    pub(super) fn read_text(&self, answer: Answer) -> Result<String, Lack> {
        let mut answer = self.expect_found(answer)?;
        let text = answer.body_mut().with_config().limit(u64::MAX).read_to_string();
        let text = text.map_err(|why| match why {
            ureq::Error::Timeout(_) => Lack::Failed(self.timeout_error()),
            why => Lack::BrokenOff(self.no_answer_error(&why)),
        })?;
        self.count_received(text.len());
        Ok(text)
    }

    pub(super) fn success_text(&self, answer: Answer) -> Result<String> {
        self.text(&mut self.expect_found(answer)?)
    }

    /// Checks that no error is in the text of an answer whose status is that of success.
    pub(super) fn check_done(&self, text: &str) -> Result<()> {
        match element(text, "Code") {
            "" => Ok(()),
            code => Err(self.unexpected_error(&format!("{code}: {}", element(text, "Message")))),
        }
    }

    #[cold]
    pub(super) fn unexpected_error(&self, why: &str) -> Error {
        Error::failed(format!("the service answers oddly: {why}")).at(&self.link.shown)
    }

    pub(super) fn endless(&self) -> Error {
        Error::failed("an answer without its length").at(&self.link.shown)
    }
}

/// Adds the object to an error of the service. An error about wrong input names no object.
#[cold]
pub(super) fn add_object_name(error: Error, object: &str) -> Error {
    match error.kind() {
        ErrorKind::Usage | ErrorKind::Interrupted => error,
        _ => error.context(format!("the object {object}")),
    }
}

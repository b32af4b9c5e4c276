//! Objects: their lengths, and how they are read, written and deleted.

use std::mem;

use kit::refusal;
use model::Result;
use rusty_s3::actions::CompleteMultipartUpload;
use ureq::http::{HeaderMap, StatusCode};

use super::{
    Answer, S3Client, Upload,
    answer::{Lack, add_object_name},
    xml::element,
};
use crate::s3::{
    address::Link,
    parallel::in_parallel,
    sums::{Check, Header},
    transfer::Transfer,
};

/// A part of a value: its first byte and its length.
type Range = (usize, usize);

impl S3Client<'_> {
    /// Returns the length of an object and its metadata; `None` if there is no such object.
    pub(in crate::s3) fn head(&self, object: &str) -> Result<Option<(u64, HeaderMap)>> {
        let Link { bucket, credentials, .. } = self.link;
        let head = bucket.head_object(Some(credentials), object);
        let found = self.send(head, false, &[], &[]).and_then(|answer| self.check_status(answer));
        let Some(answer) = found.map_err(|error| add_object_name(error, object))? else {
            return Ok(None);
        };
        let length = length(&answer).ok_or_else(|| self.endless())?;
        Ok(Some((length, answer.into_parts().0.headers)))
    }

    fn fetch(&self, object: &str, headers: &[Header<'_>]) -> Result<Answer> {
        let Link { bucket, credentials, .. } = self.link;
        self.send(bucket.get_object(Some(credentials), object), false, headers, &[])
    }

    /// Copies a value to the front of `into` if it fits, and returns its length with its metadata.
    pub(in crate::s3) fn get(
        &self,
        object: &str,
        into: &mut [u8],
    ) -> Result<Option<(usize, HeaderMap)>> {
        self.until_whole(|| self.get_once(object, into))
            .map_err(|error| add_object_name(error, object))
    }

    fn get_once(&self, object: &str, into: &mut [u8]) -> Result<Option<(usize, HeaderMap)>, Lack> {
        let Transfer { part, concurrency, check, .. } = self.transfer;
        let in_parts = concurrency > 1 && into.len() > part;
        let first = if in_parts { vec![range((0, part))] } else { Vec::new() };
        let mut answer = self.fetch(object, &first)?;
        if answer.status() == StatusCode::RANGE_NOT_SATISFIABLE {
            // An empty object has no first byte.
            self.text(&mut answer)?;
            answer = self.fetch(object, &[])?;
        }
        let Some(mut answer) = self.check_status(answer)? else { return Ok(None) };
        // Some services answer a range with the status of a whole object.
        let whole = total(answer.headers()).or_else(|| length(&answer));
        let whole = whole.ok_or_else(|| self.endless())?;
        let here = length(&answer).ok_or_else(|| self.endless())?;
        let (whole, here) = (refusal::size(whole)?, refusal::size(here)?);
        let headers = mem::take(answer.headers_mut());
        let Some(value) = into.get_mut(..whole) else { return Ok(Some((whole, headers))) };
        let (start, rest) = value.split_at_mut(here.min(whole));
        self.fill(&mut answer, start)?;
        if !rest.is_empty() {
            self.fill_parts(object, &headers, here, rest)?;
        }
        check.compare(value, &headers).map_err(|error| error.at(&self.link.shown))?;
        Ok(Some((whole, headers)))
    }

    /// Reads what follows the first part, several parts at once.
    fn fill_parts(
        &self,
        object: &str,
        first: &HeaderMap,
        at: usize,
        rest: &mut [u8],
    ) -> Result<()> {
        let Transfer { part, concurrency, .. } = self.transfer;
        let tag = first.get("etag").and_then(|tag| tag.to_str().ok()).unwrap_or_default();
        let parts = rest.chunks_mut(part).enumerate();
        in_parallel(parts, concurrency, |(number, into)| {
            let mut headers = vec![range((at + number * part, into.len()))];
            if !tag.is_empty() {
                // The part must come from the same object as the first part.
                headers.insert(0, ("if-match", tag.into()));
            }
            self.until_whole(|| {
                let mut answer = self.expect_found(self.fetch(object, &headers)?)?;
                self.fill(&mut answer, into)
            })
        })
        .map(drop)
    }

    /// Puts a value; returns `false` if `headers` forbade it.
    pub(in crate::s3) fn put(
        &self,
        object: &str,
        value: &[u8],
        headers: &[Header<'_>],
    ) -> Result<bool> {
        self.put_once(object, value, headers).map_err(|error| add_object_name(error, object))
    }

    fn put_once(&self, object: &str, value: &[u8], headers: &[Header<'_>]) -> Result<bool> {
        let Transfer { part, check, .. } = self.transfer;
        let mut all = headers.to_vec();
        all.extend(check.stored_header(value));
        if value.len() > part {
            return self.put_in_parts(object, value, &all).map(|()| true);
        }
        all.extend(check.request_header(value));
        let Link { bucket, credentials, .. } = self.link;
        let answer = self.send(bucket.put_object(Some(credentials), object), false, &all, value)?;
        if answer.status() == StatusCode::PRECONDITION_FAILED {
            let mut answer = answer;
            return self.text(&mut answer).map(|_| false);
        }
        self.success_text(answer).map(|_| true)
    }

    fn put_in_parts(&self, object: &str, value: &[u8], headers: &[Header<'_>]) -> Result<()> {
        let Link { bucket, credentials, .. } = self.link;
        let create = bucket.create_multipart_upload(Some(credentials), object);
        let created = self.success_text(self.send(create, false, headers, &[])?)?;
        let upload = element(&created, "UploadId");
        if upload.is_empty() {
            return Err(self.unexpected_error("an upload has no number"));
        }
        self.put_parts(object, upload, value).inspect_err(|_| {
            let upload = Upload { object: object.to_owned(), id: upload.to_owned() };
            // The first error is the one to report. Requests of this client may have been ended.
            let _ = Self::new(self.link, self.transfer).give_up(&upload);
        })
    }

    fn put_parts(&self, object: &str, upload: &str, value: &[u8]) -> Result<()> {
        let Transfer { part, concurrency, check, .. } = self.transfer;
        let Link { bucket, credentials, .. } = self.link;
        let tags = in_parallel((1..).zip(value.chunks(part)), concurrency, |(number, bytes)| {
            let put = bucket.upload_part(Some(credentials), object, number, upload);
            // The sum of a part is another kind of request where it is no MD5.
            let sum: Vec<_> =
                check.request_header(bytes).filter(|_| check == Check::Md5).into_iter().collect();
            let answer = self.expect_found(self.send(put, false, &sum, bytes)?)?;
            let tag = answer.headers().get("etag").and_then(|tag| tag.to_str().ok());
            let tag =
                tag.map(str::to_owned).ok_or_else(|| self.unexpected_error("a part has no tag"))?;
            self.text(&mut { answer }).map(|_| tag)
        })?;
        let tags = || tags.iter().map(String::as_str);
        let complete =
            || CompleteMultipartUpload::new(bucket, Some(credentials), object, upload, tags());
        let body = complete().body();
        let done = self.success_text(self.send(complete(), false, &[], body.as_bytes())?)?;
        // The service answers before it knows whether it succeeds.
        self.check_done(&done)
    }

    pub(in crate::s3) fn delete(&self, object: &str) -> Result<()> {
        let Link { bucket, credentials, .. } = self.link;
        let answer = self.send(bucket.delete_object(Some(credentials), object), false, &[], &[]);
        match answer.and_then(|answer| self.check_status(answer)) {
            Ok(Some(mut answer)) => self.text(&mut answer).map(drop),
            Ok(None) => Ok(()),
            Err(error) => Err(add_object_name(error, object)),
        }
    }
}

fn length(answer: &Answer) -> Option<u64> {
    answer.headers().get("content-length")?.to_str().ok()?.parse().ok()
}

fn range((from, length): Range) -> Header<'static> {
    ("range", format!("bytes={from}-{}", from + length - 1).into())
}

/// Returns the length of the whole object that an answer is a part of.
fn total(headers: &HeaderMap) -> Option<u64> {
    headers.get("content-range")?.to_str().ok()?.rsplit_once('/')?.1.parse().ok()
}

//! The client of an S3 service: requests are signed, sent, repeated if the service is busy, and
//! counted.

use std::{
    io::{self, Read},
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    thread::{self, sleep},
    time::Duration,
};

use kit::{lock, refusal};
use model::{
    Action, BUSY_RETRIES, BYTES_RECEIVED, BYTES_SENT, DELETES, Error, ErrorKind, GETS,
    LONGEST_SCAN, PUTS, Requests, Result, count_requests, units,
};
use rusty_s3::{
    Method, S3Action,
    actions::{CompleteMultipartUpload, ListObjectsV2, ListObjectsV2Response, ObjectIdentifier},
};
use ureq::{
    Agent, Body,
    http::{HeaderMap, Request, Response, StatusCode},
};

use super::{
    address::Link,
    prices::Prices,
    sums::{Check, Header},
};

use crate::server::{End, at_stop, connect_limit, is_stopped};

/// The time for which a signature is valid.
const VALID: Duration = Duration::from_secs(15 * 60);
/// The longest time without any progress once the user wishes to stop.
const STOPPING: Duration = Duration::from_secs(10);
/// The wait before the second attempt; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const ATTEMPTS: u32 = 6;
/// The most objects that one request deletes.
const AT_ONCE: usize = 1000;
/// The most pages of unfinished uploads, of up to 1,000 each.
const MOST_PAGES: usize = 10_000;

/// An answer of the service whose body may not be read yet.
type Answer = Response<Body>;

/// The parameters of moving values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    /// The bytes of a part; longer values are moved in parts.
    pub(super) part: usize,
    /// The number of parts at once.
    pub(super) concurrency: usize,
    pub(super) check: Check,
    /// Whether its requests are those of the store: others find out whether a server of its own has
    /// started.
    pub(super) counted: bool,
    /// The prices of requests; `None` if none are given.
    pub(super) prices: Option<Prices>,
    /// The longest time without any progress.
    pub(super) limit: Duration,
}

impl Transfer {
    /// Adds the cost to requests, if prices are given.
    fn add_price(&self, requests: Requests) -> Requests {
        Requests { cost: self.prices.map(|prices| prices.cost(&requests)), ..requests }
    }

    /// Returns the most requests that an operation on values of `bytes` sends, if none is sent
    /// again.
    pub(super) fn requests(&self, action: Action, bytes: u64) -> Requests {
        let part = self.part as u64;
        let parts = bytes.div_ceil(part).max(1);
        let asks = Requests { gets: 1, ..Requests::default() };
        let reads = Requests { gets: parts, received_bytes: bytes, ..Requests::default() };
        // More than one are started and completed.
        let puts = if parts > 1 { parts + 2 } else { 1 };
        let writes = Requests { puts, sent_bytes: bytes, ..asks };
        let lists = Requests { puts: 1, ..Requests::default() };
        let deletes = Requests { deletes: 1, ..asks };
        self.add_price(match action {
            Action::Read => reads,
            Action::Update | Action::Insert => writes,
            Action::Modify => reads + writes,
            Action::Delete => deletes,
            Action::Scan => lists + reads * u64::from(LONGEST_SCAN),
            Action::Stat => asks,
        })
    }

    /// Returns the requests that create a store, list its `values`, and remove them.
    pub(super) fn store_requests(&self, values: u64) -> Requests {
        // Each page is listed to be read, and listed and deleted at the end. Besides: whether nothing
        // is there, whose it is, whether inserts are conditional, and unfinished uploads.
        let puts = 3 * values.div_ceil(AT_ONCE as u64) + 10;
        self.add_price(Requests { puts, ..Requests::default() })
    }
}

/// A session's connections.
pub(super) struct S3Client<'l> {
    agent: Agent,
    /// Ends the requests soon after the user wishes to stop; `None` if the client was created after
    /// that.
    end: Option<Arc<End>>,
    link: &'l Link,
    transfer: Transfer,
    /// The requests since they were last taken.
    sent: Mutex<Requests>,
    retries: AtomicI64,
}

/// A page of a list, with the token at which the next one starts.
pub(super) type Page = ListObjectsV2Response;

/// A part of a value: its first byte and its length.
type Range = (usize, usize);

/// The reason why there is no whole answer.
enum Lack {
    /// The answer broke off: another request may get all of it.
    BrokenOff(Error),
    Failed(Error),
}

impl From<Error> for Lack {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// An upload in parts that was neither completed nor given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Upload {
    pub(super) object: String,
    pub(super) id: String,
}

impl<'l> S3Client<'l> {
    pub(super) fn new(link: &'l Link, transfer: Transfer) -> Self {
        let agent = agent(link, transfer);
        let end = (!is_stopped()).then(|| {
            let agent = agent.clone();
            at_stop(Box::new(move || agent.clone().shutdown()))
        });
        let (sent, retries) = Default::default();
        Self { agent, end, link, transfer, sent, retries }
    }

    /// Sends a request, again if the service was busy or a connection was old. Returns its answer,
    /// whatever the status.
    fn send<'a, A: S3Action<'a>>(
        &self,
        mut action: A,
        list: bool,
        headers: &[Header<'a>],
        body: &[u8],
    ) -> Result<Answer> {
        for (name, value) in headers {
            action.headers_mut().insert(*name, value.clone());
        }
        let mut wait = FIRST_WAIT;
        for attempt in 1.. {
            let answer = self.once(&action, list, headers, body);
            let again = match &answer {
                Ok(answer) => matches!(answer.status().as_u16(), 429 | 500 | 502..=504),
                Err(ureq::Error::Io(why)) => why.kind() != io::ErrorKind::ConnectionRefused,
                Err(_) => false,
            };
            if !again || attempt == ATTEMPTS || self.is_ended() {
                return answer.map_err(|why| self.no_answer_error(&why));
            }
            self.retries.fetch_add(1, Relaxed);
            sleep(wait);
            wait *= 2;
        }
        unreachable!("the last attempt returns")
    }

    fn once<'a, A: S3Action<'a>>(
        &self,
        action: &A,
        list: bool,
        headers: &[Header<'a>],
        body: &[u8],
    ) -> Result<Answer, ureq::Error> {
        let url = action.sign(VALID);
        let mut request = Request::builder().method(A::METHOD.to_str()).uri(url.as_str());
        for (name, value) in headers {
            request = request.header(*name, &**value);
        }
        let mut sent = Requests { sent_bytes: body.len() as u64, ..Requests::default() };
        *match A::METHOD {
            Method::Put | Method::Post => &mut sent.puts,
            Method::Get if list => &mut sent.puts,
            Method::Get | Method::Head => &mut sent.gets,
            Method::Delete => &mut sent.deletes,
        } = 1;
        self.count(sent);
        match A::METHOD {
            Method::Put | Method::Post => self.agent.run(request.body(body)?),
            _ => self.agent.run(request.body(())?),
        }
    }

    /// Counts what was sent or received, with its cost.
    fn count(&self, requests: Requests) {
        if !self.transfer.counted {
            return;
        }
        let requests = self.transfer.add_price(requests);
        *lock::hold(&self.sent) += requests;
        count_requests(requests);
    }

    fn count_received(&self, length: usize) {
        self.count(Requests { received_bytes: length as u64, ..Requests::default() });
    }

    /// Repeats `work` while its answers break off.
    fn until_whole<T>(&self, mut work: impl FnMut() -> Result<T, Lack>) -> Result<T> {
        let mut wait = FIRST_WAIT;
        for attempt in 1.. {
            match work() {
                Ok(done) => return Ok(done),
                Err(Lack::BrokenOff(_)) if attempt < ATTEMPTS && !self.is_ended() => {}
                Err(Lack::BrokenOff(error) | Lack::Failed(error)) => return Err(error),
            }
            self.retries.fetch_add(1, Relaxed);
            sleep(wait);
            wait *= 2;
        }
        unreachable!("the last attempt returns")
    }

    /// Returns whether the requests are ended because the user wishes to stop.
    fn is_ended(&self) -> bool {
        self.end.is_some() && is_stopped()
    }

    /// Creates the error of a request without an answer. A URL has a signature in it and is not
    /// shown.
    #[cold]
    fn no_answer_error(&self, why: &ureq::Error) -> Error {
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
    fn timeout_error(&self) -> Error {
        let Link { shown, endpoint, .. } = self.link;
        let limit = units::show_duration(self.transfer.limit);
        Error::failed(format!("{endpoint} has not answered for {limit} (?timeout= is the limit)"))
            .at(shown)
    }

    /// Returns the text of an answer.
    fn text(&self, answer: &mut Answer) -> Result<String> {
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
    fn check_status(&self, mut answer: Answer) -> Result<Option<Answer>> {
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
    fn refusal(&self, status: StatusCode, text: &str) -> Error {
        let (code, message) = (element(text, "Code"), element(text, "Message"));
        let shown = &self.link.shown;
        let status = status.as_u16();
        let code = if code.is_empty() { status.to_string() } else { format!("{status} {code}") };
        let message = if message.is_empty() { String::new() } else { format!(": {message}") };
        let said = format!("{shown}: the service refuses ({code}){message}");
        match status {
            401 | 403 => Error::usage(format!(
                "{said}; the credentials must belong to the service and may use the bucket"
            )),
            404 | 301 | 307 | 400 => Error::usage(said),
            _ => Error::failed(said),
        }
    }

    /// Returns a successful answer about what cannot be absent.
    fn expect_found(&self, answer: Answer) -> Result<Answer> {
        let absent = || Error::failed("what was asked for is gone").at(&self.link.shown);
        self.check_status(answer)?.ok_or_else(absent)
    }

    /// Reads `into` to its end, which is that of the answer.
    fn fill(&self, answer: &mut Answer, into: &mut [u8]) -> Result<(), Lack> {
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

    /// Returns the length of an object and its metadata; `None` if there is no such object.
    pub(super) fn head(&self, object: &str) -> Result<Option<(u64, HeaderMap)>> {
        let Link { bucket, credentials, .. } = self.link;
        let head = bucket.head_object(Some(credentials), object);
        let found = self.send(head, false, &[], &[]).and_then(|answer| self.check_status(answer));
        let Some(answer) = found.map_err(|error| add_object_name(error, object))? else {
            return Ok(None);
        };
        let length = length(&answer).ok_or_else(|| self.endless())?;
        Ok(Some((length, answer.into_parts().0.headers)))
    }

    fn endless(&self) -> Error {
        Error::failed("an answer without its length").at(&self.link.shown)
    }

    fn fetch(&self, object: &str, headers: &[Header<'_>]) -> Result<Answer> {
        let Link { bucket, credentials, .. } = self.link;
        self.send(bucket.get_object(Some(credentials), object), false, headers, &[])
    }

    /// Copies a value to the front of `into` if it fits, and returns its length with its metadata.
    pub(super) fn get(&self, object: &str, into: &mut [u8]) -> Result<Option<(usize, HeaderMap)>> {
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
    pub(super) fn put(&self, object: &str, value: &[u8], headers: &[Header<'_>]) -> Result<bool> {
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

    /// Returns the text of a successful answer, if it does not break off.
    fn read_text(&self, answer: Answer) -> Result<String, Lack> {
        let mut answer = self.expect_found(answer)?;
        let text = answer.body_mut().with_config().limit(u64::MAX).read_to_string();
        let text = text.map_err(|why| match why {
            ureq::Error::Timeout(_) => Lack::Failed(self.timeout_error()),
            why => Lack::BrokenOff(self.no_answer_error(&why)),
        })?;
        self.count_received(text.len());
        Ok(text)
    }

    /// Returns the text of a successful answer.
    fn success_text(&self, answer: Answer) -> Result<String> {
        self.text(&mut self.expect_found(answer)?)
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

    /// Checks that no error is in the text of an answer whose status is that of success.
    fn check_done(&self, text: &str) -> Result<()> {
        match element(text, "Code") {
            "" => Ok(()),
            code => Err(self.unexpected_error(&format!("{code}: {}", element(text, "Message")))),
        }
    }

    #[cold]
    fn unexpected_error(&self, why: &str) -> Error {
        Error::failed(format!("the service answers oddly: {why}")).at(&self.link.shown)
    }

    pub(super) fn delete(&self, object: &str) -> Result<()> {
        let Link { bucket, credentials, .. } = self.link;
        let answer = self.send(bucket.delete_object(Some(credentials), object), false, &[], &[]);
        match answer.and_then(|answer| self.check_status(answer)) {
            Ok(Some(mut answer)) => self.text(&mut answer).map(drop),
            Ok(None) => Ok(()),
            Err(error) => Err(add_object_name(error, object)),
        }
    }

    /// Lists a page of the objects below the prefix, in order: those after `after`, or those from
    /// `token` on.
    pub(super) fn list(&self, after: &str, token: Option<&str>, most: usize) -> Result<Page> {
        let Link { bucket, credentials, prefix, .. } = self.link;
        let mut list = bucket.list_objects_v2(Some(credentials));
        list.with_prefix(prefix);
        list.with_max_keys(most.min(AT_ONCE));
        match token {
            Some(token) => list.with_continuation_token(token),
            None if !after.is_empty() => list.with_start_after(after),
            None => {}
        }
        let ask = || self.read_text(self.send(list.clone(), true, &[], &[])?);
        let text = self.until_whole(ask)?;
        ListObjectsV2::parse_response(&text).map_err(|why| self.unexpected_error(&why.to_string()))
    }

    /// Lists the unfinished uploads of objects whose keys start with the prefix. A service that
    /// does not know such a list has none.
    pub(super) fn uploads(&self) -> Result<Vec<Upload>> {
        let Link { bucket, credentials, prefix, .. } = self.link;
        let (mut all, mut marks) = (Vec::new(), None::<Upload>);
        for _ in 0..MOST_PAGES {
            // The bucket itself: rusty-s3 has no request for this.
            let mut list = bucket.get_object(Some(credentials), "");
            list.query_mut().insert("uploads", "");
            list.query_mut().insert("prefix", prefix.as_str());
            if let Some(Upload { object, id }) = &marks {
                list.query_mut().insert("key-marker", object.clone());
                list.query_mut().insert("upload-id-marker", id.clone());
            }
            let answer = self.send(list, true, &[], &[])?;
            let (status, mut answer) = (answer.status(), answer);
            if !status.is_success() {
                let text = self.text(&mut answer)?;
                // rclone says so of a bucket that never had one.
                let is_none = element(&text, "Code") == "NoSuchUpload";
                let is_unknown = matches!(status.as_u16(), 405 | 501);
                return if is_none || is_unknown {
                    Ok(all)
                } else {
                    Err(self.refusal(status, &text))
                };
            }
            let text = self.text(&mut answer)?;
            all.extend(uploads_in(&text));
            if element(&text, "IsTruncated") != "true" {
                return Ok(all);
            }
            let [object, id] = ["NextKeyMarker", "NextUploadIdMarker"]
                .map(|name| unescape_xml(element(&text, name)));
            let next = Some(Upload { object, id });
            if next == marks {
                break;
            }
            marks = next;
        }
        Err(self.unexpected_error("its list of unfinished uploads has no end"))
    }

    /// Gives up an unfinished upload, so that the service removes its parts.
    pub(super) fn give_up(&self, Upload { object, id }: &Upload) -> Result<()> {
        let Link { bucket, credentials, .. } = self.link;
        let abort = bucket.abort_multipart_upload(Some(credentials), object, id);
        let gone = self.send(abort, false, &[], &[]).and_then(|answer| match answer.status() {
            // Finished, or given up, meanwhile.
            StatusCode::NOT_FOUND => self.text(&mut { answer }).map(drop),
            _ => self.success_text(answer).map(drop),
        });
        gone.map_err(|error| add_object_name(error, object))
    }

    /// Gives up all unfinished uploads of objects whose keys start with the prefix.
    pub(super) fn give_up_all(&self) -> Result<()> {
        self.uploads()?.iter().try_for_each(|upload| self.give_up(upload))
    }

    /// Deletes all objects whose keys start with the prefix.
    pub(super) fn delete_all(&self) -> Result<()> {
        let Link { bucket, credentials, .. } = self.link;
        loop {
            // Deleted objects are no longer listed.
            let page = self.list("", None, AT_ONCE)?;
            let objects = page.contents.into_iter().map(|object| ObjectIdentifier::new(object.key));
            let objects: Vec<_> = objects.collect();
            if objects.is_empty() {
                return Ok(());
            }
            let mut action = bucket.delete_objects(Some(credentials), objects.iter());
            action.set_quiet(true);
            let (body, md5) = action.clone().body_with_md5();
            let sum = [("content-md5", md5.into())];
            let text = self.success_text(self.send(action, false, &sum, body.as_bytes())?)?;
            self.check_done(&text)?;
        }
    }

    /// Creates the bucket, unless it exists.
    pub(super) fn create_bucket(&self) -> Result<()> {
        let Link { bucket, credentials, .. } = self.link;
        let answer = self.send(bucket.create_bucket(credentials), false, &[], &[])?;
        if answer.status() == StatusCode::CONFLICT {
            return Ok(());
        }
        self.success_text(answer).map(drop)
    }

    /// Returns whether the bucket exists.
    pub(super) fn has_bucket(&self) -> Result<bool> {
        let Link { bucket, credentials, .. } = self.link;
        let answer = self.send(bucket.head_bucket(Some(credentials)), false, &[], &[])?;
        Ok(self.check_status(answer)?.is_some())
    }

    /// Returns the counters of [`model::Session::statistics`].
    pub(super) fn statistics(&self) -> Vec<(&'static str, i64)> {
        let sent = mem::take(&mut *lock::hold(&self.sent));
        let mut all = vec![
            (PUTS, amount(sent.puts)),
            (GETS, amount(sent.gets)),
            (DELETES, amount(sent.deletes)),
            (BYTES_SENT, amount(sent.sent_bytes)),
            (BYTES_RECEIVED, amount(sent.received_bytes)),
            (BUSY_RETRIES, self.retries.swap(0, Relaxed)),
        ];
        all.extend(self.transfer.prices.iter().flat_map(|prices| prices.counters(&sent)));
        all
    }

    pub(super) fn transfer(&self) -> Transfer {
        self.transfer
    }
}

fn agent(link: &Link, transfer: Transfer) -> Agent {
    let connections = transfer.concurrency + 1;
    let limit = if is_stopped() { transfer.limit.min(STOPPING) } else { transfer.limit };
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("storemark/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(connect_limit()))
        .timeout_per_read(Some(limit))
        .timeout_per_write(Some(limit))
        .max_idle_connections(connections)
        .max_idle_connections_per_host(connections);
    if link.direct {
        config = config.proxy(None);
    }
    config.build().into()
}

fn amount(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
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

/// Returns the text of the first element of this name. Services differ in the names of the elements
/// around it.
fn element<'t>(text: &'t str, name: &str) -> &'t str {
    let after = text.split_once(&format!("<{name}>")).map_or("", |(_, after)| after);
    after.split_once('<').map_or("", |(text, _)| text)
}

/// Returns the uploads in a list of unfinished ones.
fn uploads_in(text: &str) -> impl Iterator<Item = Upload> + '_ {
    text.split("<Upload>").skip(1).map(|upload| {
        let [object, id] = ["Key", "UploadId"].map(|name| unescape_xml(element(upload, name)));
        Upload { object, id }
    })
}

/// Decodes the entities of XML in a text.
fn unescape_xml(text: &str) -> String {
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

/// Adds the object to an error of the service. An error about wrong input names no object.
#[cold]
fn add_object_name(error: Error, object: &str) -> Error {
    match error.kind() {
        ErrorKind::Usage | ErrorKind::Interrupted => error,
        _ => error.context(format!("the object {object}")),
    }
}

/// Runs `work` on all items, on so many threads, and returns its results in their order.
pub(super) fn in_parallel<I: Send, T: Send>(
    items: impl Iterator<Item = I> + Send,
    threads: usize,
    work: impl Fn(I) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let items = Mutex::new(items.enumerate());
    let worker = || {
        let mut done = Vec::new();
        loop {
            let next = lock::hold(&items).next();
            let Some((number, item)) = next else { return Ok(done) };
            done.push((number, work(item)?));
        }
    };
    let results: Vec<Result<Vec<(usize, T)>>> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let own = worker();
        let joined = others
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        [own].into_iter().chain(joined).collect()
    });
    let mut all = Vec::new();
    for result in results {
        all.extend(result?);
    }
    all.sort_unstable_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, done)| done).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_work_keeps_its_order_and_reports_an_error() {
        for threads in [1, 3] {
            let squares = in_parallel(0..100, threads, |n| Ok(n * n)).unwrap();
            assert!(squares.into_iter().eq((0..100).map(|n| n * n)));
            let failing = |n| if n == 50 { Err(Error::failed("fifty")) } else { Ok(n) };
            assert_eq!(in_parallel(0..100, threads, failing).unwrap_err().to_string(), "fifty");
        }
    }

    #[test]
    fn uploads_are_read_from_a_list() {
        let text = "<R><Upload><Key>a&amp;b&#x2F;c</Key><UploadId>1</UploadId></Upload>\
                    <Upload><UploadId>2</UploadId><Key>d</Key></Upload></R>";
        let upload = |object: &str, id: &str| Upload { object: object.into(), id: id.into() };
        assert!(uploads_in(text).eq([upload("a&b/c", "1"), upload("d", "2")]));
        assert_eq!(uploads_in("<R/>").count(), 0);
        assert_eq!(unescape_xml("&lt;&gt;&quot;&apos;&#65;&nothing;."), "<>\"'A.");
    }

    #[test]
    fn an_element_is_found_in_an_answer() {
        let text = "<Error><Code>NoSuchBucket</Code><Message>gone</Message></Error>";
        assert_eq!((element(text, "Code"), element(text, "Message")), ("NoSuchBucket", "gone"));
        assert_eq!(element("", "Code"), "");
    }
}

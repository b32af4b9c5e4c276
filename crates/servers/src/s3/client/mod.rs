//! The client of an S3 service: requests are signed, sent, repeated if the service is busy, and
//! counted.

mod answer;
mod list;
mod values;
mod xml;

use std::{
    io, mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    thread::sleep,
    time::Duration,
};

use kit::lock;
use model::{
    BUSY_RETRIES, BYTES_RECEIVED, BYTES_SENT, DELETES, GETS, PUTS, Requests, Result, count_requests,
};
use rusty_s3::{Method, S3Action};
use ureq::{
    Agent, Body,
    http::{Request, Response},
};

use super::{address::Link, sums::Header, transfer::Transfer};
use crate::server::{End, at_stop, connect_limit, is_stopped};
use answer::Lack;
pub(super) use list::Upload;

/// The time for which a signature is valid.
const VALID: Duration = Duration::from_secs(15 * 60);
/// The longest time without any progress once the user wishes to stop.
const STOPPING: Duration = Duration::from_secs(10);
/// The wait before the second attempt; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const ATTEMPTS: u32 = 6;

/// An answer of the service whose body may not be read yet.
type Answer = Response<Body>;

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

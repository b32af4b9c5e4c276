//! ureq: requests signed by rusty-s3 on one connection, without sums of the values.

use std::{fs, io::Read, path::Path, time::Duration};

use model::Result;
use rusty_s3::{Bucket, Credentials, S3Action, UrlStyle};
use ureq::Agent;

use super::{Bare, Work};

/// As long as the adapter's signatures.
const VALID: Duration = Duration::from_secs(15 * 60);

/// The bucket of the adapter's server, which runs on the store at a path.
struct Objects {
    agent: Agent,
    bucket: Bucket,
    credentials: Credentials,
}

impl Objects {
    fn at(path: &Path) -> Self {
        let tcp = fs::read_to_string(path.join("tcp")).expect("where the server listens");
        let (secret, port) = tcp.trim_end().split_once('\n').expect("a secret and a port");
        let url = format!("http://127.0.0.1:{port}").parse().expect("a URL");
        let bucket = Bucket::new(url, UrlStyle::Path, "integers", "us-east-1");
        Self {
            agent: Agent::config_builder().proxy(None).build().into(),
            bucket: bucket.expect("a bucket"),
            credentials: Credentials::new("storemark", secret),
        }
    }
}

pub(crate) struct Get(Objects);

impl Get {
    #[expect(clippy::unnecessary_wraps, reason = "as the other loops are opened")]
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self(Objects::at(path)))
    }
}

impl Bare for Get {
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize {
        let Objects { agent, bucket, credentials } = &self.0;
        let mut bytes = 0;
        for key in work.keys {
            let object = format!("{key:019}");
            let url = bucket.get_object(Some(credentials), &object).sign(VALID);
            let mut answer = agent.get(url.as_str()).call().expect("the object is there");
            let length = answer.body().content_length().expect("a length");
            let length = usize::try_from(length).expect("a value that fits");
            let mut reader = answer.body_mut().as_reader();
            reader.read_exact(&mut buffer[..length]).expect("a value");
            // The connection is free once its end was seen.
            assert_eq!(reader.read(&mut [0]).expect("the end"), 0);
            bytes += length;
        }
        bytes
    }
}

pub(crate) struct Put(Objects);

impl Put {
    #[expect(clippy::unnecessary_wraps, reason = "as the other loops are opened")]
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self(Objects::at(path)))
    }
}

impl Bare for Put {
    fn pass(&mut self, work: &Work<'_>, _: &mut [u8]) -> usize {
        let Objects { agent, bucket, credentials } = &self.0;
        let mut bytes = 0;
        for key in work.keys {
            let (object, value) = (format!("{key:019}"), work.data.payload(*key, work.salt));
            let url = bucket.put_object(Some(credentials), &object).sign(VALID);
            let mut answer = agent.put(url.as_str()).send(value).expect("a put");
            answer.body_mut().read_to_vec().expect("the end of the answer");
            bytes += value.len();
        }
        bytes
    }
}

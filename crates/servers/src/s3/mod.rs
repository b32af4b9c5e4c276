//! Object stores that speak S3: `s3:` starts a private server on this machine, `s3://bucket/prefix` uses
//! an existing bucket. A value is an object; requests are signed by rusty-s3 and sent by ureq.

mod address;
mod client;
mod credentials;
mod leftovers;
mod names;
mod parallel;
mod prices;
mod private;
mod software;
mod store;
mod sums;
mod transfer;

use model::{
    Accepts, Capabilities, Declaration, Durability, DurabilitySettings, Facet, Fill, Setting,
    Settings, Try,
};

use self::{
    address::{ENDPOINT, REGION},
    prices::PRICES,
    software::SERVER,
    store::ObjectStore,
    sums::CHECK,
};
use crate::server::{ServerEngine, TIMEOUT};

/// The engine with a private server for each store.
pub(crate) static S3: ServerEngine<ObjectStore> = ServerEngine::new(&PRIVATE);

/// The engine of an existing bucket.
pub(crate) static BUCKET: ServerEngine<ObjectStore> = ServerEngine::new(&REMOTE);

const PART: Setting = Setting::new(
    "part",
    // Services accept parts of these sizes.
    Accepts::Size(5 << 20, 5 << 30),
    "the most bytes in a request: a longer value is put and read in parts of this size",
)
.of_use();

const CONCURRENCY: Setting = Setting::new(
    "concurrency",
    Accepts::Integer(1, 64),
    "parts of a value, and values of a scan, that are moved at once",
)
.of_use();

const EXISTING: Setting = Setting::new(
    "existing",
    Accepts::Words(&["no", "yes"]),
    "yes: the objects below the prefix are values of your own, under their keys as they are; they are \
     only read. no: storemark makes objects in a part of its own and removes them",
)
.only_for(&[Facet::Blobs]);

const KEYS: Setting = Setting::new(
    "keys",
    Accepts::Words(&["names", "integers"]),
    "with existing=yes: integers, if all keys are those of integers that storemark has copied, of 19 \
     digits",
)
.only_for(&[Facet::Blobs]);

const ACKNOWLEDGED: Setting = Setting::new(
    "acknowledged",
    Accepts::Words(&["none", "durable"]),
    "what the service promises of a put that it has acknowledged; durable for AWS, else none unless \
     it is given",
);

const CLASSES: &[DurabilitySettings] = &[
    Durability::None.kept_by(
        &[("acknowledged", "none")],
        "a put is acknowledged as the service likes; what a power cut leaves is not known",
    ),
    Durability::Durable.kept_by(
        &[("acknowledged", "durable")],
        "the service promises that an acknowledged put is stored for good (AWS: on several devices); \
         storemark cannot read that back",
    ),
];

const TRADES: &[Try] = &[Try::new(
    "",
    "clients on other machines, and room without end at a service; a request over HTTP for each \
     value",
)];

const INTEGRITY: &str = "a CRC-32 or MD5 of each value (check=), sent with it, kept in its metadata and \
                         compared when all of it is read";

const BATCHES: &str = "a batch is no transaction: each put counts at once, and none is undone";
const ASKING: &str = "an update or a delete asks whether the object exists, which is a request more; so \
                      does an insert, unless the service knows If-None-Match. Between the two another \
                      session may write";
const ORDER: &str = "an order of names: a scan lists all of them first";

static PRIVATE: Declaration = Declaration {
    settings: &[SERVER, PART, CONCURRENCY, CHECK, PRICES, TIMEOUT],
    durability: &[Durability::None.kept_by(
        &[],
        "the server acknowledges a put once it has written it to its files, and flushes nothing: a \
         power cut may leave no readable store",
    )],
    limitations: &[
        BATCHES,
        ASKING,
        ORDER,
        "rclone keeps sums in its memory alone: a value is compared until its server ends",
        "a server changes its files also when it is only read, so that a copy is measured",
    ],
    capabilities: Capabilities {
        meta: false,
        paths: true,
        atomic_batches: false,
        ..Capabilities::ON_DISK
    },
    integrity: Some(INTEGRITY),
    fill: Some(Fill { settings: &[], sessions: 2, whole_blocks_from: Some(0) }),
    servers: Some(&S3),
    worth_trying: TRADES,
    blobs: Some(&S3),
    title: "a private S3 server",
    ..Declaration::new("s3", "objects on an S3 server that storemark starts and ends")
};

static REMOTE: Declaration = Declaration {
    settings: &[
        ENDPOINT,
        REGION,
        EXISTING,
        KEYS,
        credentials::PROFILE,
        credentials::FILE,
        ACKNOWLEDGED,
        PART,
        CONCURRENCY,
        CHECK,
        PRICES,
        TIMEOUT,
    ],
    durability: CLASSES,
    limitations: &[
        BATCHES,
        ASKING,
        ORDER,
        "a put without mode and time drops those of the object that it replaces",
        "the service's processor time, memory and space are not counted, wherever it runs",
        "its caches are neither emptied nor looked at",
    ],
    capabilities: Capabilities { snapshots: false, atomic_batches: false, ..Capabilities::REMOTE },
    fill: Some(Fill { settings: &[], sessions: 8, whole_blocks_from: None }),
    integrity: Some(INTEGRITY),
    servers: Some(&BUCKET),
    schemes: &["s3"],
    address: "bucket/prefix",
    blobs: Some(&BUCKET),
    title: "an S3 bucket",
    ..Declaration::new("bucket", "objects in an existing bucket of any S3 service")
};

/// Returns the settings in effect of an existing bucket, in addition to those that all stores have.
fn in_effect_of(settings: &Settings) -> Vec<(&'static str, &str)> {
    let own = [credentials::PROFILE, credentials::FILE].map(|setting| setting.name);
    let named = own.into_iter().map(|name| (name, settings.get(name).unwrap_or("environment")));
    named.chain([(ACKNOWLEDGED.name, acknowledged(settings))]).collect()
}

fn acknowledged(settings: &Settings) -> &str {
    let usual = if address::is_aws(settings) { "durable" } else { "none" };
    settings.get(ACKNOWLEDGED.name).unwrap_or(usual)
}

fn class(settings: &Settings) -> Durability {
    let durable = acknowledged(settings) == "durable";
    if durable { Durability::Durable } else { Durability::None }
}

//! Shuffled rounds: in each, both sides of every row do the same work, one right after the
//! other, so that drift cancels in their ratio.

use std::time::{Duration, Instant};

use model::{Error, How, Key, Mode, Put, Result, Session};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use stats::{Estimate, paired_ratio};

use crate::{
    bare::{Bare, Work},
    data::{self, Data, LONGEST},
    scratch::Stop,
    subjects::Subject,
};

/// What a row took: microseconds an operation, one a round.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) limit: f64,
    pub(crate) adapter: Vec<f64>,
    pub(crate) bare: Vec<f64>,
}

impl Row {
    pub(crate) fn ratio(&self) -> Estimate {
        paired_ratio(&self.adapter, &self.bare).expect("times are positive")
    }

    /// The whole interval lies above the limit.
    pub(crate) fn over(&self) -> bool {
        self.ratio().low > self.limit
    }
}

/// Both sides of a row, with the session that lasts through all rounds.
struct Pair<'a> {
    session: Box<dyn Session + 'a>,
    bare: Option<&'a mut dyn Bare>,
    mode: Mode,
    row: Row,
}

/// Measures for that many rounds after one that warms everything.
pub(crate) fn measure(
    mut subjects: Vec<Subject>,
    data: &Data,
    rounds: usize,
    stop: &Stop,
) -> Result<Vec<Row>> {
    let mut pairs = subjects.iter_mut().map(Pair::new).collect::<Result<Vec<_>>>()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut keys: Vec<i64> = data.keys().collect();
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    let mut buffer = vec![0; LONGEST];
    let mut salt = 0;
    for round in 0..=rounds {
        data::shuffle(&mut keys, &mut random);
        data::shuffle(&mut order, &mut random);
        for pair in &order {
            stop.check()?;
            let work = Work { data, keys: &keys, salt: salt + 1 };
            let bare_first = random.next_u64() & 1 == 1;
            let [adapter, bare] = pairs[*pair].measure(work, bare_first, &mut buffer)?;
            salt += 2;
            if round > 0 {
                pairs[*pair].row.adapter.push(adapter);
                pairs[*pair].row.bare.push(bare);
            }
        }
    }
    Ok(pairs.into_iter().map(|pair| pair.row).collect())
}

impl<'a> Pair<'a> {
    fn new(subject: &'a mut Subject) -> Result<Self> {
        let Subject { name, mode, limit, store, bare } = subject;
        Ok(Self {
            session: store.session()?,
            bare: bare.as_deref_mut().map(|bare| bare as &mut dyn Bare),
            mode: *mode,
            row: Row { name, limit: *limit, adapter: Vec::new(), bare: Vec::new() },
        })
    }

    /// Microseconds an operation of adapter and bare loop.
    fn measure(
        &mut self,
        mut work: Work<'_>,
        bare_first: bool,
        buffer: &mut [u8],
    ) -> Result<[f64; 2]> {
        let mut taken = [Duration::ZERO; 2];
        for bare in [bare_first, !bare_first] {
            buffer.fill(0xa5);
            taken[usize::from(bare)] =
                if bare { self.bare(&work, buffer)? } else { self.adapter(&work, buffer)? };
            work.salt += 1;
        }
        Ok(taken.map(|taken| taken.as_secs_f64() * 1e6 / work.keys.len() as f64))
    }

    fn adapter(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> Result<Duration> {
        let start = Instant::now();
        let bytes = match self.mode {
            Mode::Read => get_all(&mut *self.session, work, buffer)?,
            Mode::Write => update_all(&mut *self.session, work)?,
        };
        let taken = start.elapsed();
        self.check(work, bytes, buffer)?;
        Ok(taken)
    }

    fn bare(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> Result<Duration> {
        let Some(bare) = &mut self.bare else {
            return Ok(Duration::from_nanos(work.keys.len() as u64));
        };
        let start = Instant::now();
        let bytes = bare.pass(work, buffer);
        let taken = start.elapsed();
        self.check(work, bytes, buffer)?;
        Ok(taken)
    }

    /// That all bytes passed, and that the last ones are right.
    fn check(&mut self, work: &Work<'_>, bytes: usize, buffer: &mut [u8]) -> Result<()> {
        let (Some(last), Some(_)) = (work.keys.last(), &self.bare) else { return Ok(()) };
        let expected: usize = work.keys.iter().map(|key| work.data.value(*key).len()).sum();
        let value = match self.mode {
            Mode::Read => work.data.value(*last),
            Mode::Write => {
                self.session.get(Key::Int(*last), buffer)?;
                work.data.payload(*last, work.salt)
            }
        };
        if bytes == expected && buffer.starts_with(value) {
            return Ok(());
        }
        Err(Error::corrupt(format!("{}: {bytes} of {expected} bytes, or others", self.row.name)))
    }
}

fn get_all(session: &mut dyn Session, work: &Work<'_>, buffer: &mut [u8]) -> Result<usize> {
    session.begin(Mode::Read)?;
    let mut bytes = 0;
    for key in work.keys {
        bytes += session.get(Key::Int(*key), buffer)?.unwrap_or(0);
    }
    session.commit()?;
    Ok(bytes)
}

const UPDATE: Put = Put { how: How::Update, meta: None };

fn update_all(session: &mut dyn Session, work: &Work<'_>) -> Result<usize> {
    session.begin(Mode::Write)?;
    let mut bytes = 0;
    for key in work.keys {
        let payload = work.data.payload(*key, work.salt);
        if session.put(Key::Int(*key), payload, &UPDATE)? {
            bytes += payload.len();
        }
    }
    session.commit()?;
    Ok(bytes)
}

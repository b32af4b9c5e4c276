//! The interval that is printed is the one that decides, in every form and for any record.

use checks::{Verdict, figures};
use model::record::Record;
use stats::{Estimate, SAME};
use storemark_report::{
    ComparisonData, ReportData, comparison,
    pages::{self, Detail},
};

use crate::fixture::{passes, record, sample, style};

const LABELS: [&str; 5] = ["files", "sqlite", "lmdb", "redb", "fjall"];
const RECORDS: u64 = 60;

/// Numbers that look random, the same ones each time (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
    fn up_to(&mut self, most: u32) -> u32 {
        (self.next() * f64::from(most)) as u32
    }
}

/// Up to four targets next to the baseline, mostly close to it, over any number of rounds that may have
/// something in common, of one copy or five, and looked at once or as planned.
fn random_record(random: &mut Random) -> Record {
    let targets = 2 + random.up_to(4) as usize;
    let mut record = record(&LABELS[..targets]);
    let plan = &mut record.header.plan;
    let rounds = 1 + random.up_to(32);
    plan.rounds.max = (random.up_to(3) == 0).then_some(rounds);
    plan.rounds.runs = if random.up_to(4) == 0 { 1 + random.up_to(8) } else { 1 };
    plan.rounds.precision = [0.03, 0.0, 0.1][random.up_to(3) as usize];
    let (runs, copies) = (plan.rounds.runs, 1 + 4 * random.up_to(2));
    for target in 0..targets {
        let ratio = match random.up_to(3) {
            0 => random.between(0.3, 3.0),
            _ => random.between(0.94, 1.06),
        };
        let spread = random.between(0.0, 0.05).powi(1 + random.up_to(2).cast_signed());
        let (kept, mut last) = (random.between(0.0, 0.8), 0.0);
        for round in 0..rounds {
            last = kept * last + random.between(-spread, spread);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ms")]
            let ns = if target == 0 { 4e6 } else { 4e6 * ratio * f64::exp(last) } as u64;
            let mut trial = sample(round, target, ns);
            trial.run = round % runs;
            passes(&mut trial).copy = Some(round % copies);
            record.samples.push(trial);
        }
    }
    record
}

/// Fails unless the verdict is what an interval from `low` to `high` says.
#[track_caller]
fn assert_decides(low: f64, high: f64, verdict: &str, place: &str) {
    let is_same = low > 1.0 - SAME && high < 1.0 + SAME;
    let expected = match () {
        () if is_same => "same",
        () if high < 1.0 => "faster",
        () if low > 1.0 => "slower",
        () => "inconclusive",
    };
    assert!(verdict.contains(expected), "{place}: {low} to {high}: {verdict}");
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Same => "same",
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Inconclusive => "inconclusive",
        other => panic!("{other:?} is not judged"),
    }
}

/// The interval in `1.04 (1.02–1.06)`.
fn printed(line: &str) -> Option<(f64, f64)> {
    let (low, high) = line.rsplit_once('(')?.1.split_once(')')?.0.split_once('–')?;
    Some((low.parse().ok()?, high.parse().ok()?))
}

/// Checks all lines of a page that have an interval and a verdict; returns how many those are.
fn assert_page_decides(page: &str) -> usize {
    let judged = ["same within", "faster", "slower", "inconclusive"];
    let rows = page.lines().filter(|line| LABELS.iter().any(|label| line.contains(label)));
    let rows = rows.filter(|line| judged.iter().any(|word| line.contains(word)));
    let found: Vec<_> = rows.filter_map(|line| Some((line, printed(line)?))).collect();
    for (line, (low, high)) in &found {
        assert_decides(*low, *high, line, line);
    }
    found.len()
}

fn assert_json_decides(rows: &serde_json::Value, ratio: &str) -> usize {
    let judged = ["same", "faster", "slower", "inconclusive"];
    let mut count = 0;
    for row in rows.as_array().unwrap() {
        let verdict = row["verdict"].as_str().unwrap();
        let ends = row[ratio]["low"].as_f64().zip(row[ratio]["high"].as_f64());
        let Some((low, high)) = ends.filter(|_| judged.contains(&verdict)) else { continue };
        assert_decides(low, high, verdict, "json");
        count += 1;
    }
    count
}

#[test]
fn the_interval_of_a_ratio_decides_its_verdict() {
    let mut random = Random(1);
    let (mut verdicts, mut lines) = ([0; 4], [0; 3]);
    for _ in 0..RECORDS {
        let record = random_record(&mut random);
        for row in figures(&record).iter().filter(|row| row.verdict.is_judged()) {
            let Estimate { low, high, .. } = row.ratio.unwrap();
            assert_decides(low, high, word(row.verdict), "figures");
            let all = [Verdict::Same, Verdict::Faster, Verdict::Slower, Verdict::Inconclusive];
            verdicts[all.iter().position(|one| *one == row.verdict).unwrap()] += 1;
        }
        let page = pages::records(std::slice::from_ref(&record), Detail::default());
        lines[0] += assert_page_decides(&page.terminal(&style(120)));
        lines[1] += assert_page_decides(&page.markdown());
        let json = serde_json::to_value(ReportData::new(&[record])).unwrap();
        lines[2] += assert_json_decides(&json["runs"][0]["rows"], "ratio");
    }
    assert!(verdicts.iter().all(|count| *count > 5), "{verdicts:?}");
    assert!(lines.iter().all(|count| *count > 60), "{lines:?}");
}

#[test]
fn the_interval_of_a_change_decides_its_verdict() {
    let mut random = Random(2);
    let mut lines = [0; 2];
    for _ in 0..RECORDS {
        let mut old = random_record(&mut random);
        let mut new = random_record(&mut random);
        for record in [&mut old, &mut new] {
            let plan = &mut record.header.plan;
            plan.targets.truncate(2);
            record.samples.retain(|sample| sample.target < 2);
        }
        new.header.plan.rounds = old.header.plan.rounds;
        let runs = new.header.plan.rounds.runs;
        new.samples.iter_mut().for_each(|sample| sample.run = sample.round % runs);
        let found = comparison(&[old], &[new], None).unwrap();
        let page = pages::comparison(&found, ["old.json", "new.json"], Detail::default());
        lines[0] += assert_page_decides(&page.terminal(&style(120)));
        let json = serde_json::to_value(ComparisonData::new(&found)).unwrap();
        lines[1] += assert_json_decides(&json["rows"], "time_ratio");
    }
    assert!(lines.iter().all(|count| *count > 20), "{lines:?}");
}

//! Traces of drawn operations, held against what their law says.

use std::collections::BTreeMap;

use model::{Key, KeyKind, Order, Ycsb};

use super::*;

/// That `seen` came by chances in proportion to `weights`: Pearson's statistic, classes that are
/// expected fewer than ten times taken together. Six standard deviations above its mean it would
/// not come by chance in a billion such tests.
fn chi_square(seen: &[u64], weights: &[f64], what: &str) {
    let (draws, sum) = (seen.iter().sum::<u64>() as f64, weights.iter().sum::<f64>());
    let (mut statistic, mut classes) = (0.0, 0.0_f64);
    let (mut count, mut expected) = (0.0, 0.0);
    let mut class = |count: f64, expected: f64| {
        statistic += (count - expected).powi(2) / expected;
        classes += 1.0;
    };
    for (one, weight) in seen.iter().zip(weights) {
        count += *one as f64;
        expected += weight / sum * draws;
        if expected >= 10.0 {
            class(count, expected);
            (count, expected) = (0.0, 0.0);
        }
    }
    if expected > 0.0 {
        class(count, expected);
    }
    let freedom = (classes - 1.0).max(0.0);
    let bound = freedom + 6.0 * (2.0 * freedom).sqrt() + 1e-9;
    assert!(statistic <= bound, "{what}: {statistic:.1} with {freedom} degrees of freedom");
}

fn dataset(keys: i64) -> Dataset {
    let mut dataset = Dataset::new(KeyKind::Integers);
    for key in 1..=keys {
        dataset.push(Key::Int(key), &vec![7; usize::try_from(key % 50).unwrap()]).unwrap();
    }
    dataset
}

fn work(operation: Operation, order: Order) -> BlobWork {
    BlobWork { operation, order, rate: None }
}

fn drawn(mix: &str, order: Order, keys: i64, counts: &[u64]) -> (Dataset, OpStream) {
    let dataset = dataset(keys);
    let work = work(Operation::Mix(mix.parse().unwrap()), order);
    let ops = OpStream::draw(work, &dataset, counts, 42).unwrap();
    (dataset, ops)
}

/// How often each of `keys` keys comes, the most frequent first.
fn by_frequency(ops: &OpStream, keys: usize) -> Vec<u64> {
    let mut seen = vec![0; keys];
    ops.workers[0].iter().for_each(|op| seen[op.key as usize] += 1);
    seen.sort_unstable_by(|a, b| b.cmp(a));
    seen
}

#[test]
fn a_zipfian_trace_matches_its_law() {
    const KEYS: usize = 100;
    let (_, ops) = drawn("read=100", Order::Zipfian { theta: 0.99 }, 100, &[200_000]);
    let seen = by_frequency(&ops, KEYS);
    let zeta: f64 = (1..=100).map(|rank| f64::from(rank).powf(-0.99)).sum();
    for (rank, seen) in (1..).zip(&seen).take(20) {
        let expected = 200_000.0 * f64::from(rank).powf(-0.99) / zeta;
        // Sorted by frequency, neighbours change places: five standard deviations hold both.
        assert!(
            (*seen as f64 - expected).abs() < 5.0 * expected.sqrt(),
            "{rank}: {seen}, {expected}"
        );
    }
    // Popular keys are scattered: the ten most popular are not the first or last ten.
    let mut often = vec![0_u64; KEYS];
    ops.workers[0].iter().for_each(|op| often[op.key as usize] += 1);
    let top: Vec<_> = (0..KEYS).filter(|key| often[*key] >= seen[9]).collect();
    assert!(top.windows(2).any(|pair| pair[1] - pair[0] > 5), "{top:?}");
}

#[test]
fn a_uniform_trace_touches_all_alike_and_one_of_all_workers_only_its_own() {
    let (_, ops) = drawn("read=100", Order::Random, 90, &[90_000, 10, 10]);
    let mut seen = vec![0; 90];
    ops.workers[0].iter().for_each(|op| seen[op.key as usize] += 1);
    let own: Vec<u64> = seen.iter().copied().step_by(3).collect();
    chi_square(&own, &[1.0; 30], "uniform");
    assert_eq!(seen.iter().sum::<u64>(), own.iter().sum::<u64>(), "keys of others");
    for (worker, ops) in ops.workers.iter().enumerate() {
        assert!(ops.iter().all(|op| op.key as usize % 3 == worker));
    }
}

#[test]
fn a_hotspot_gets_its_share() {
    let order = Order::Hotspot { keys: 20, operations: 80 };
    let (_, ops) = drawn("read=100", order, 200, &[100_000]);
    let seen = by_frequency(&ops, 200);
    let weights: Vec<_> = (0..200).map(|n| if n < 40 { 0.8 / 40.0 } else { 0.2 / 160.0 }).collect();
    let totals = [seen[..40].iter().sum(), seen[40..].iter().sum()];
    chi_square(&totals, &[weights[..40].iter().sum(), weights[40..].iter().sum()], "hotspot");
    assert!(seen[39] > 3 * seen[40], "{seen:?}");
}

#[test]
fn the_latest_are_read_most() {
    let (_, ops) = drawn("read=95,insert=5", Order::Latest { theta: 0.99 }, 1000, &[50_000]);
    let (mut there, mut reads) = (1000, 0_u64);
    let (mut ages, mut expected) = (vec![0_u64; 10], vec![0.0; 10]);
    for op in &ops.workers[0] {
        if op.action == Action::Insert {
            assert_eq!(op.key, there);
            there += 1;
            continue;
        }
        reads += 1;
        let zeta: f64 = zeta(there, 0.99);
        (1_u32..).zip(&mut expected).for_each(|(age, e)| *e += f64::from(age).powf(-0.99) / zeta);
        if let Some(age) = ages.get_mut((there - 1 - op.key) as usize) {
            *age += 1;
        }
    }
    for (age, expected) in ages.iter().zip(&expected) {
        let deviation = 5.0 * expected.sqrt();
        assert!((*age as f64 - expected).abs() < deviation, "{ages:?} of {reads}: {expected:?}");
    }
}

/// The sum of all chances, by Euler and Maclaurin beyond the first thousand.
fn zeta(ranks: u32, theta: f64) -> f64 {
    let term = |rank: f64| rank.powf(-theta);
    let head: f64 = (1..=1000).map(|rank| term(f64::from(rank))).sum();
    let integral = |x: f64| x.powf(1.0 - theta) / (1.0 - theta);
    let last = f64::from(ranks);
    head + integral(last) - integral(1000.0) + (term(last) - term(1000.0)) / 2.0
}

#[test]
fn a_mix_has_its_shares_and_scans_all_lengths() {
    let mix = "read=40,update=20,insert=10,delete=5,scan=15,rmw=10";
    let (_, ops) = drawn(mix, Order::Random, 20_000, &[100_000]);
    let count = |action| ops.workers[0].iter().filter(|op| op.action == action).count() as u64;
    chi_square(&Action::ALL.map(count), &[40.0, 20.0, 10.0, 5.0, 15.0, 10.0], mix);
    let mut lengths = vec![0; 101];
    let scans = ops.workers[0].iter().filter(|op| op.action == Action::Scan);
    scans.for_each(|op| lengths[usize::from(op.items)] += 1);
    assert_eq!(lengths[0], 0);
    chi_square(&lengths[1..], &[1.0; 100], "lengths of scans");
}

/// Does the operations to a set, as an engine would: whatever is touched must be there, and what
/// is inserted must not; afterwards, what has changed is all that differs.
fn replayed(mix: &str, order: Order, keys: i64, counts: &[u64]) {
    let (dataset, ops) = drawn(mix, order, keys, counts);
    let all = || dataset.entries().iter().map(|entry| (dataset.key(entry), entry.size));
    let mut there: BTreeMap<Key<'_>, u32> = all().collect();
    for (worker, count) in counts.iter().enumerate() {
        let mut done = 0;
        for turn in ops.ops(&dataset, worker, *count) {
            done += 1;
            match turn.action {
                Action::Insert => assert_eq!(there.insert(turn.key, turn.size), None),
                Action::Delete => assert_eq!(there.remove(&turn.key), Some(turn.size)),
                _ => assert_eq!(there.get(&turn.key), Some(&turn.size)),
            }
            if turn.action == Action::Scan {
                let beyond = there.range(turn.key..).count();
                assert!(
                    usize::from(turn.least) <= beyond && (1..=turn.items).contains(&turn.least)
                );
            }
        }
        assert_eq!(done, *count);
    }
    for change in ops.changed(&dataset, counts.iter().copied()) {
        let was = if change.added {
            there.remove(&change.key)
        } else {
            there.insert(change.key, change.size).xor(Some(change.size))
        };
        assert_eq!(was, Some(change.size), "{}", change.key);
    }
    assert!(there.into_iter().eq(all()));
}

#[test]
fn what_is_touched_is_there_and_everything_can_be_put_right() {
    let mix = "read=20,update=20,insert=20,delete=20,scan=10,rmw=10";
    for order in ["uniform", "zipfian", "zipfian=2.5", "latest", "hotspot", "hotspot=1/99"] {
        for counts in [&[3000][..], &[1, 700, 20], &[500; 7]] {
            replayed(mix, order.parse().unwrap(), 500, counts);
        }
        replayed("read=90,delete=10", order.parse().unwrap(), 200, &[1000]);
        replayed("insert=100", order.parse().unwrap(), 1, &[50]);
    }
    for letter in ["a", "b", "c", "d", "e", "f"] {
        let one: Ycsb = letter.parse().unwrap();
        let mix: Vec<_> =
            one.mix().actions().map(|a| format!("{a}={}", one.mix().share(a))).collect();
        replayed(&mix.join(","), one.order(), 300, &[2000, 2000]);
    }
}

#[test]
fn the_same_seed_draws_the_same_and_another_another() {
    let dataset = dataset(100);
    let work = work(Operation::Read, Order::Zipfian { theta: 0.99 });
    let ops = |seed| OpStream::draw(work, &dataset, &[1000], seed).unwrap().workers;
    assert_eq!(ops(1), ops(1));
    assert_ne!(ops(1), ops(2));
}

#[test]
fn a_mix_that_deletes_everything_is_refused() {
    let (dataset, work) =
        (dataset(5), work(Operation::Mix("delete=100".parse().unwrap()), Order::Random));
    assert!(OpStream::draw(work, &dataset, &[5], 1).is_ok());
    let error = OpStream::draw(work, &dataset, &[6], 1).err().unwrap();
    assert!(error.to_string().contains("deletes all 5 keys"), "{error}");
}

#[test]
fn inserted_names_clash_with_none() {
    let mut names = Dataset::new(KeyKind::Names);
    for name in ["a", "new-", "new-00000001/b", "z"] {
        names.push(Key::Name(name.as_bytes()), b"12345").unwrap();
    }
    let fresh = names.fresh(3, 1).unwrap();
    let shown: Vec<_> = fresh.entries().iter().map(|e| fresh.key(e).to_string()).collect();
    assert_eq!(shown, ["new--00000001", "new--00000002", "new--00000003"]);
    assert!(fresh.entries().iter().all(|entry| entry.size == 5));
    let mut last = Dataset::new(KeyKind::Integers);
    last.push(Key::Int(i64::MAX - 1), b"").unwrap();
    assert!(last.fresh(1, 1).is_ok());
    assert!(last.fresh(2, 1).unwrap_err().to_string().contains("no key is left"));
}

#[test]
fn ranks_come_as_often_as_zipfs_law_says() {
    const DRAWS: u32 = 400_000;
    for (seed, theta) in (1..).zip([0.5, 0.8, 0.99, 1.0, 1.5, 3.0]) {
        for ranks in [1_u32, 2, 10, 200] {
            let law = keys::zipf(ranks, theta);
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut seen = vec![0_u64; ranks as usize];
            (0..DRAWS)
                .for_each(|_| seen[keys::rank(&law, ranks as usize, &mut random) as usize] += 1);
            let weights: Vec<_> = (1..=ranks).map(|rank| f64::from(rank).powf(-theta)).collect();
            chi_square(&seen, &weights, &format!("{ranks} ranks, exponent {theta}"));
        }
    }
}

//! Counts, sums and changes are right, in every style, for every size of a transaction.

use model::rows::MULTI_ROWS;
use proptest::prelude::*;

use super::case::cases;

/// The sum of 2 i over the first `n` rows, and over all when 2 is added to each.
fn sums(n: i64) -> (i64, i64) {
    (n * (n - 1), n * (n - 1) + 2 * n)
}

#[test]
fn each_style_inserts_what_can_be_summed_and_changed() {
    for case in cases() {
        for style in case.engine.styles(&case.settings) {
            case.with(1, |_, tables| {
                let mut session = tables.session(0)?;
                assert_eq!((session.count()?, session.sum()?), (0, 0), "{} {style}", case.name());
                let rows = MULTI_ROWS.cast_signed() * 2 + 77;
                session.insert(0..rows, *style, 500)?;
                tables.flush_writes()?;
                let (sum, changed) = sums(rows);
                assert_eq!(session.sum()?, sum, "{} {style}", case.name());
                assert_eq!(session.add(2)?, rows.unsigned_abs(), "{} {style}", case.name());
                assert_eq!(session.sum()?, changed, "{} {style}", case.name());
                assert_eq!(session.count()?, rows.unsigned_abs(), "{} {style}", case.name());
                Ok(())
            });
        }
    }
}

#[test]
fn databases_are_apart() {
    for case in cases() {
        case.with(3, |_, tables| {
            let mut sessions = (0..3).map(|d| tables.session(d)).collect::<Result<Vec<_>, _>>()?;
            for (session, rows) in sessions.iter_mut().zip([10, 20, 30]) {
                session.insert(0..rows, case.engine.styles(&case.settings)[0], 7)?;
            }
            tables.flush_writes()?;
            for (session, rows) in sessions.iter_mut().zip([10, 20, 30]) {
                assert_eq!(session.sum()?, sums(rows).0, "{}", case.name());
            }
            Ok(())
        });
    }
}

#[test]
fn the_files_hold_the_rows() {
    const ROWS: i64 = 20_000;
    for case in cases() {
        case.with(2, |_, tables| {
            let length = |database| -> u64 {
                let files = tables.files(database).into_iter();
                files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
            };
            let style = *case.engine.styles(&case.settings).last().unwrap();
            let before = length(0);
            tables.session(1)?.insert(0..ROWS, style, 100_000)?;
            tables.flush_writes()?;
            assert_eq!(length(0), before, "{}", case.name());
            // Of a row of small integers at least four bytes are kept, if in a file at all.
            let in_file = !tables.files(1).is_empty();
            assert_eq!(length(1) > before + 4 * ROWS.unsigned_abs(), in_file, "{}", case.name());
            Ok(())
        });
    }
}

#[test]
fn settings_are_read_back() {
    for case in cases() {
        case.with(1, |_, tables| {
            let (in_effect, _) = tables.in_effect()?;
            for (name, value) in &case.settings.0 {
                assert_eq!(in_effect.get(name), Some(value.as_str()), "{}", case.name());
            }
            Ok(())
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Batches that divide the rows, do not, or are larger; ranges that begin anywhere.
    #[test]
    fn any_batch_and_range_hold_all_rows(
        start in 0_i64..5_000,
        rows in 0_i64..1_500,
        batch in 1_u64..2_000,
    ) {
        for case in cases() {
            case.with(1, |_, tables| {
                let mut session = tables.session(0)?;
                let (mut count, mut sum) = (0, 0);
                for style in case.engine.styles(&case.settings) {
                    session.insert(start..start + rows, *style, batch)?;
                    tables.flush_writes()?;
                    count += rows.unsigned_abs();
                    sum += (start..start + rows).map(|i| 2 * i).sum::<i64>();
                    let found = (session.count()?, session.sum()?);
                    assert_eq!(found, (count, sum), "{} {style}", case.name());
                }
                Ok(())
            });
        }
    }
}

//! What only the runs of a sweep together show, on runs whose crossing is known.

use checks::{break_evens, page_matrices};
use model::record::{Point, Record};
use storemark_report::{
    Style,
    pages::{self, Detail},
};

use crate::fixture::{record, sample, set_size, style};

fn page(runs: &[Record], style: Style) -> String {
    pages::records(runs, Detail::default()).terminal(&style)
}

/// Runs over blobs of 1,000 and 16,000 bytes: files, and databases with two page sizes, whose time
/// over that of files goes from 0.5 to 2, and from 0.8 to 0.4.
pub(crate) fn swept() -> Vec<Record> {
    let ratios = [(1_000, [500, 800]), (16_000, [2000, 400])];
    let run = |(number, (size, ratios)): (usize, (u64, [u64; 2]))| {
        let mut run = record(&["files", "sqlite page_size=512", "sqlite page_size=4096"]);
        let varied = [("size".to_owned(), size.to_string())].into();
        let point = Some(Point { number, of: 2, varied });
        run.header.point = point;
        set_size(&mut run, size);
        for (target, pages) in [(1, 512), (2, 4096)] {
            let planned = &mut run.header.plan.targets[target];
            "sqlite".clone_into(&mut planned.engine);
            planned.settings.set("page_size", pages);
        }
        for round in 0..6 {
            let slow = 4000 + 10 * u64::from(round);
            let wobble = [990, 1010][round as usize % 2];
            run.samples.push(sample(round, 0, slow));
            for (target, ratio) in (1..).zip(ratios) {
                run.samples.push(sample(round, target, slow * ratio / 1000 * wobble / 1000));
            }
        }
        run
    };
    ratios.into_iter().enumerate().map(run).collect()
}

#[test]
fn the_break_even_is_where_the_ratio_crosses_1() {
    let rows = break_evens(&swept());
    assert_eq!(rows.len(), 2);
    let crossing = rows[0].found.crossings[0];
    // Half-way on both logarithms.
    assert!((crossing.size / 4e3 - 1.0).abs() < 0.01, "{crossing:?}");
    assert!(crossing.upwards && crossing.low.unwrap() < 4e3 && crossing.high.unwrap() > 4e3);
    assert_eq!((rows[1].found.crossings.len(), rows[1].found.begins_below), (0, true));
    assert_eq!(rows[1].sizes, [1_000, 16_000]);
}

#[test]
fn too_few_rounds_say_nothing_about_sizes() {
    let mut runs = swept();
    let says = |runs: &[Record]| page(runs, style(200)).contains("by size: ");
    assert!(says(&runs));
    for run in &mut runs {
        run.samples.retain(|sample| sample.round < 2);
    }
    assert!(!says(&runs));
}

/// Sizes and numbers of keys in all combinations, and a number of keys of its own for each size.
#[test]
fn sizes_with_several_numbers_of_keys_have_a_break_even_for_each() {
    let with_keys = |keys: [u64; 2]| {
        let mut runs = swept();
        for (run, keys) in runs.iter_mut().zip(keys) {
            let varied = &mut run.header.point.as_mut().unwrap().varied;
            varied.insert("keys".to_owned(), keys.to_string());
        }
        runs
    };
    let all = [with_keys([100, 100]), with_keys([900, 900])].concat();
    let rows = break_evens(&all);
    let keys: Vec<_> = rows.iter().map(|row| &*row.others["keys"]).collect();
    assert_eq!(keys, ["100", "100", "900", "900"]);
    let plain = break_evens(&swept());
    assert!(
        rows.iter()
            .zip([&plain[..], &plain[..]].concat())
            .all(|(row, plain)| row.found == plain.found)
    );
    assert_eq!(page_matrices(&all).len(), 2);
    let text = page(&all, style(100));
    assert!(text.contains("break-even, read, warm, keys=900"), "{text}");
    assert_eq!(break_evens(&with_keys([900, 100])), plain);
}

#[test]
fn the_best_page_size_is_that_of_each_size() {
    let matrices = page_matrices(&swept());
    let [matrix] = matrices.as_slice() else { panic!("{matrices:?}") };
    assert_eq!(
        (matrix.sizes.as_slice(), matrix.family.as_str()),
        ([1_000, 16_000].as_slice(), "sqlite")
    );
    assert_eq!([matrix.best(0), matrix.best(1)], [Some(0), Some(1)]);
    // Files' time over the database's.
    let first = matrix.rows[0].1[0].unwrap();
    assert!((first.point - 2.0).abs() < 0.01 && first.low < 2.0 && first.high > 2.0, "{first:?}");
}

#[test]
fn the_page_shows_both() {
    let text = page(&swept(), style(100));
    for said in [
        "a sweep of 2 runs: size 1000, 16000",
        "break-even, read, warm: the size of blobs at which files overtakes",
        "never from 1.00 kB up to 16.0 kB",
        "time ÷ sqlite's",
        "*2.5",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_sweep_that_was_cut_off_shows_what_there_is() {
    let mut runs = swept();
    runs[1].samples.clear();
    assert!(break_evens(&runs).is_empty());
    let text = page(&runs, style(100));
    assert!(text.contains("size=16000") && text.contains("cut off"), "{text}");
    assert!(page(&runs[..1], style(100)).contains("1 of 2 runs"));
    assert_eq!(page(&[], style(100)), "");
}

#[test]
fn the_page_fits_with_and_without_bars() {
    for width in [60, 80, 120] {
        for bars in [false, true] {
            let page = page(&swept(), Style { bars, ..style(width) });
            let too_wide = page.lines().find(|line| line.chars().count() > width.into());
            assert_eq!(too_wide, None, "{page}");
            assert_eq!(page.contains('█'), bars && width == 120, "{page}");
        }
    }
}

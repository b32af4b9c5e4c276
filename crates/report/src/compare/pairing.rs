//! Pairs the runs, cases and targets of two records.

use std::{ffi::OsStr, path::Path};

use itertools::Itertools;
use model::{Case, Plan, PlannedTarget, units::show_count};

use super::unlike::Unlike;
use crate::words;

/// Pairs elements of `old` and `new` by the first name that they have in common, in the order of
/// `new`; of several the first with the first, and so on. Returns the pairs, then the first names
/// of the elements that only `old` and only `new` has.
pub(super) fn paired<'a, T, const N: usize>(
    old: &'a [T],
    new: &'a [T],
    called: impl Fn(&T) -> [Option<String>; N],
) -> (Vec<(&'a T, &'a T)>, [Vec<String>; 2]) {
    let listed = |all: &'a [T]| all.iter().map(|one| (called(one), one)).collect::<Vec<_>>();
    let (mut rest, new) = (listed(old), listed(new));
    let mut partners = vec![None; new.len()];
    for rank in 0..N {
        for (partner, (names, _)) in partners.iter_mut().zip(&new).filter(|(p, _)| p.is_none()) {
            let is_it =
                |(other, _): &([_; N], _)| names[rank].is_some() && other[rank] == names[rank];
            *partner = rest.iter().position(is_it).map(|place| rest.remove(place).1);
        }
    }
    let first = |(names, _): &([Option<String>; N], &T)| names[0].clone().unwrap_or_default();
    let (mut pairs, mut only_new) = (Vec::new(), Vec::new());
    for (one, partner) in new.iter().zip(partners) {
        match partner {
            Some(old) => pairs.push((old, one.1)),
            None => only_new.push(first(one)),
        }
    }
    (pairs, [rest.iter().map(first).collect(), only_new])
}

/// Returns the names by which a target is the same one in both records: its name in the tables; for
/// a store of the user, which may have moved, the name of its file or folder; and its kind. Each is
/// written with the settings and the file system that were asked for.
pub(super) fn identities(target: &PlannedTarget) -> [Option<String>; 3] {
    let file = Path::new(&target.location).file_name().map(OsStr::to_string_lossy);
    let kind = words::owner(target).map(|_| words::target_as(target, &target.engine));
    let file = kind.as_ref().zip(file).map(|(kind, file)| format!("{kind} {file}"));
    [Some(words::target_as(target, &target.label)), file, kind]
}

/// Compares the places of the user's stores: whether they moved, or only one record measured a
/// copy.
pub(super) fn stores(pairs: &[(&Numbered<'_>, &Numbered<'_>)]) -> Option<Unlike> {
    let shown = |(_, target): &Numbered<'_>| {
        words::owner(target).map(|owner| format!("{} ({owner})", target.location))
    };
    let both = pairs.iter().map(|(old, new)| [shown(old), shown(new)]);
    let differ: Vec<_> = both.filter(|[old, new]| old != new).collect();
    let listed = |of: usize| differ.iter().filter_map(|both| both[of].clone()).join("; ");
    Unlike::compare("stores", [listed(0), listed(1)])
}

/// A target with its index in the plan.
type Numbered<'a> = (usize, &'a PlannedTarget);

/// Compares the lengths of passes that write: in a longer pass the cost of a commit or a flush is
/// spread over more operations.
pub(super) fn work(both: [&Plan; 2], before: Case, after: Case) -> Option<Unlike> {
    let of = |plan: &Plan, case: Case| plan.workloads.get(case.workload).copied();
    let (old, new) = (of(both[0], before)?, of(both[1], after)?);
    let counts = [old, new].map(|workload| show_count(workload.count));
    let differ = new
        .work
        .writes()
        .then(|| Unlike::compare(&format!("operations a pass ({})", new.work), counts));
    differ?
}

pub(super) fn cases(plan: &Plan) -> Vec<(Case, String)> {
    let of = |case: Case| words::workload(&plan.workloads[case.workload]);
    plan.cases().map(|case| (case, format!("{}, {}", of(case), case.cache))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_again_pairs_in_order() {
        let (old, new) = (["a1", "b1", "a2"], ["a3", "c1", "a4", "a5"]);
        let letter = |one: &&str| [Some(one[..1].to_owned())];
        let (pairs, only) = paired(&old, &new, letter);
        assert_eq!(pairs, [(&"a1", &"a3"), (&"a2", &"a4")]);
        assert_eq!(only, [vec!["b"], vec!["c", "a"]]);
    }
}

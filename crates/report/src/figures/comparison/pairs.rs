//! Pairs what is called the same in two lists.

/// Elements of `old` and `new` with the same name, in the order of `new`; of several the first with
/// the first, and so on.
pub(super) fn pairs<'a, T>(
    old: &'a [T],
    new: &'a [T],
    name: impl Fn(&T) -> String,
) -> Vec<(&'a T, &'a T)> {
    let [old, new] = [old, new].map(|list| named(list, &name));
    let partner = |name: &(String, usize)| old.iter().find(|(other, _)| other == name);
    new.iter().filter_map(|(name, own)| Some((partner(name)?.1, *own))).collect()
}

/// Names of what is in one list only.
pub(super) fn without_partner<T>(
    old: &[T],
    new: &[T],
    name: impl Fn(&T) -> String,
) -> [Vec<String>; 2] {
    let [old, new] = [old, new].map(|list| named(list, &name));
    let alone = |list: &[((String, usize), &T)], others: &[((String, usize), &T)]| {
        let lacks = |name: &(String, usize)| !others.iter().any(|(other, _)| other == name);
        list.iter().filter(|(name, _)| lacks(name)).map(|((name, _), _)| name.clone()).collect()
    };
    [alone(&old, &new), alone(&new, &old)]
}

/// Each element with its name, and how many of that name come before it.
fn named<T>(list: &[T], name: impl Fn(&T) -> String) -> Vec<((String, usize), &T)> {
    let mut all: Vec<((String, usize), &T)> = Vec::new();
    for one in list {
        let name = name(one);
        let nth = all.iter().filter(|((other, _), _)| *other == name).count();
        all.push(((name, nth), one));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_again_pairs_in_order() {
        let (old, new) = (["a1", "b1", "a2"], ["a3", "c1", "a4", "a5"]);
        let letter = |one: &&str| one[..1].to_owned();
        assert_eq!(pairs(&old, &new, letter), [(&"a1", &"a3"), (&"a2", &"a4")]);
        assert_eq!(without_partner(&old, &new, letter), [vec!["b"], vec!["c", "a"]]);
    }
}

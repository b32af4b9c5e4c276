//! A sample of the data, stratified by size.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::dataset::below;

/// Returns the indices of `count` of the values with these `lengths`, ascending. Values are classed
/// by length, as many in each class, and one of each is drawn: so the mean of the lengths stays
/// what it is, and the longest values are in proportion.
pub(super) fn stratified(lengths: &[u64], count: usize, seed: u64) -> Vec<usize> {
    let mut by_length: Vec<usize> = (0..lengths.len()).collect();
    by_length.sort_by_key(|place| lengths[*place]);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let count = count.min(lengths.len());
    let start = |class: usize| class * lengths.len() / count;
    let draw = |class: usize| {
        let (first, next) = (start(class), start(class + 1));
        let drawn = below(&mut random, (next - first) as u64);
        by_length[first + usize::try_from(drawn).expect("fewer than there are values")]
    };
    let mut places: Vec<usize> = (0..count).map(draw).collect();
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_size_is_there_once() {
        // Two of each length, in no order.
        let lengths: Vec<u64> = (0..1000).map(|place| place * 7 % 500).collect();
        let places = stratified(&lengths, 100, 1);
        let mut classes: Vec<u64> = places.iter().map(|place| lengths[*place] / 5).collect();
        assert!(places.is_sorted());
        classes.sort_unstable();
        assert_eq!(classes, (0..100).collect::<Vec<_>>());
        assert_ne!(places, stratified(&lengths, 100, 2));
    }

    #[test]
    fn the_mean_length_is_that_of_all_if_many_samples_are_drawn() {
        let mut lengths = vec![4_000; 999];
        lengths.push(4_000_000);
        let sum = |seed| stratified(&lengths, 10, seed).iter().map(|p| lengths[*p]).sum::<u64>();
        let mean = (0..20_000).map(sum).sum::<u64>() as f64 / 200_000.0;
        let truth = lengths.iter().sum::<u64>() as f64 / 1000.0;
        // The long one is in one of 100 samples, its class being one of 10 and it one of 100 there.
        assert!((mean / truth - 1.0).abs() < 0.2, "{mean} {truth}");
    }

    #[test]
    fn a_sample_of_all_is_all() {
        assert_eq!(stratified(&[3, 1, 2], 7, 1), [0, 1, 2]);
        assert!(stratified(&[], 7, 1).is_empty());
    }
}

//! The parts of the time that work may take.

use std::time::Duration;

// Getting ready, in parts of the whole time.

/// Listing the keys of stores that need not be filled. Keys drawn at random show nearly as much as
/// all, so what takes longer is not worth its time.
pub(crate) const LISTING: f64 = 0.1;
/// Listing keys again, without the lengths of their values, where none can be drawn: nothing is measured
/// without keys, and what follows needs the rest of the time.
pub(crate) const LISTING_AGAIN: f64 = 0.4;
/// Comparing all keys of the user's stores. The values that are measured are compared in any case.
pub(crate) const COMPARING: f64 = 0.1;
/// Filling scratch stores: less than half, as they are checked, copied and measured too.
pub(crate) const FILLING: f64 = 0.4;
/// The part of [`FILLING`] that a sample may seem to take. The rest is for what takes longer than
/// it seemed.
pub(crate) const FILLED: f64 = 0.75;
/// The part of [`FILLING`] below which filling is not tried, because engines differ that much from
/// what is guessed.
pub(crate) const CLEARLY_FILLED: f64 = 0.25;
/// Trying how long filling takes. What was tried is thrown away.
pub(crate) const TRYING_TO_FILL: f64 = 0.02;
/// Reading values of the user's that stores may be filled with: those that were read are in memory.
pub(crate) const READING_SAMPLE: f64 = 0.15;
/// The part that is left when stores are created, and when they are checked: rounds need some time
/// whatever getting ready takes.
pub(crate) const AFTER_CREATING: f64 = 0.4;
pub(crate) const AFTER_CHECKING: f64 = 0.3;
/// The part of the time left for it that getting a target ready may seem to take that is not the last, so that a
/// slow one leaves some to the others; and that a store may take that is written to.
pub(crate) const ONE_TARGET: f64 = 0.5;
/// The part after which it is left out, as it takes longer than it seemed.
pub(crate) const ONE_TARGET_AT_MOST: f64 = 0.7;
/// The part of all that is left that it may take in any case: what came before may have taken longer than it
/// seemed.
pub(crate) const LATE_TARGET: f64 = 0.2;
/// Running rounds of a small part of the work, which are thrown away.
pub(crate) const REHEARSING: f64 = 0.125;

// Getting ready, in parts of the time that is left.

/// Reading values to check them. Only what was checked is measured, so more of it is a better
/// choice of keys, but rounds need the time.
pub(crate) const CHECKING: f64 = 0.3;
/// Reading a store into memory from start to end. Reads that wait for the device show the same with
/// less.
pub(crate) const WARMING: f64 = 0.25;
/// The part after which reading it ends if it takes longer than it seemed: the store is measured as it then is.
pub(crate) const WARMING_AT_MOST: f64 = 0.4;
/// Examining all files of all stores once, which is done several times. Where that takes longer, some files are
/// examined.
pub(crate) const EXAMINING: f64 = 0.05;
/// Looking which pages of stores larger than memory are there, each page by itself. Without that they would be
/// measured from memory, into which checking has read their values.
pub(crate) const NOTING: f64 = 0.2;
/// Reading it again although it is in memory, so that all stores are brought there in one way.
pub(crate) const WARMING_AGAIN: f64 = 0.05;
/// Filling the further copies of all stores, each with as much of it. They make intervals true, but not
/// narrower.
pub(crate) const COPYING: f64 = 0.1;

// Rounds.

/// The part of a round's time in which its operations seem to fit. There is a first pass as well,
/// and what was tried when the machine was idle takes longer later.
pub(crate) const OPERATIONS: f64 = 0.5;
/// The part of a round's time that all else may seem to take.
pub(crate) const APART: f64 = 0.6;
/// What a plugin, or another program, may take for one trial, in parts of the whole time, and the least that it
/// may take: five rounds do not fit if one takes longer, so it is taken as hanging.
pub(crate) const ANSWERING: f64 = 0.2;
pub(crate) const ANSWERING_AT_LEAST: Duration = Duration::from_secs(5);
/// Examining the pages of warm stores, in parts of the time of epochs.
pub(crate) const LOOKING: f64 = 0.05;
/// Examining pages and reading missing ones again after an epoch was lost to them: without that the
/// next ones would be lost too.
pub(crate) const REREADING: f64 = 0.25;

/// Returns how much time a case has in comparison with others: one that `writes` has more, as its
/// stores are made in it, and its operations take longer and vary more.
pub(crate) fn weight(writes: bool) -> f64 {
    if writes { 1.5 } else { 1.0 }
}

// The runs of `advise`, in parts of the time that is left.

/// Finding the thresholds of engines that keep values in two ways. Candidates are set up by them,
/// so they come first, but all of them together are one setting of one engine.
pub(crate) const THRESHOLDS: f64 = 0.15;
/// Measuring all candidates on a sample, which decides only who is measured again.
pub(crate) const RACE: f64 = 0.35;
/// Measuring the last two of them, if that was too little for a figure of both.
pub(crate) const LAST_RACE: f64 = 0.9;
/// Measuring the last candidates, which is the answer.
pub(crate) const FINALS: f64 = 0.8;
/// The same of roles: their settings are measured one by one after it.
pub(crate) const FINALS_OF_ROLES: f64 = 0.4;
/// Measuring a cold start. The life of stores has the rest.
pub(crate) const COLD_START: f64 = 0.5;

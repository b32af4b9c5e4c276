//! How often the verdicts of a table, and the intervals next to them, are right, by simulation with
//! fixed seeds. A share of 5 % of 500 tables has a standard error of one point; larger runs are in
//! `docs/method-proof.md`.

mod simulation;

use simulation::{LOOKS, Machine, Noise, Outcome, Random, Tables};
use storemark_stats::{Looks, Values, Verdict, judge};

const EQUAL: [f64; 4] = [1.0; 4];
/// Two that are equal, one that is 5 % slower, one much faster.
const MIXED: [f64; 4] = [1.0, 1.0, 1.05, 0.6];
/// Two that are just too different to be the same.
const EDGE: [f64; 4] = [1.0, 1.0, 1.03, 1.03];

fn looking(noise: Noise, sigma: f64, truth: &[f64]) -> Outcome {
    Tables { noise, sigma, truth, looks: LOOKS, rounds: 60, count: 500 }.outcome()
}

fn fixed(noise: Noise, sigma: f64, rounds: usize) -> Outcome {
    Tables { noise, sigma, truth: &EQUAL, looks: Looks::Once, rounds, count: 500 }.outcome()
}

fn alone(ratio: &Values) -> Verdict {
    judge(std::slice::from_ref(ratio), Looks::Once)[0].verdict
}

#[track_caller]
fn assert_right(found: Outcome) {
    assert!(found.false_tables <= 0.07, "{found:?}");
    assert!(found.covered >= 0.95, "{found:?}");
}

#[track_caller]
fn assert_right_however_it_is(noise: Noise) {
    for truth in [EQUAL, MIXED, EDGE] {
        assert_right(looking(noise, 0.05, &truth));
    }
    assert_right(fixed(noise, 0.05, 30));
}

#[test]
fn normal_noise() {
    assert_right_however_it_is(Noise::Normal);
}

#[test]
fn log_normal_noise() {
    assert_right_however_it_is(Noise::LogNormal);
}

#[test]
fn noise_with_heavy_tails() {
    assert_right_however_it_is(Noise::HeavyTails);
}

#[test]
fn rounds_that_follow_each_other() {
    assert_right_however_it_is(Noise::Correlated(0.3));
}

#[test]
fn rounds_that_follow_each_other_closely() {
    assert_right_however_it_is(Noise::Correlated(0.6));
}

#[test]
fn bursts_of_load() {
    assert_right_however_it_is(Noise::Bursts);
}

#[test]
fn the_first_of_a_round_takes_longer() {
    assert_right_however_it_is(Noise::Order(1.0));
}

#[test]
fn copies_that_differ() {
    assert_right_however_it_is(Noise::Copies(0.3));
}

/// A known limit: a few rounds of each copy do not show that these differ, if rounds are as noisy.
#[test]
fn copies_that_differ_as_much_as_rounds() {
    let found = looking(Noise::Copies(1.0), 0.05, &EQUAL);
    assert!(found.false_tables < 0.1 && found.covered > 0.92, "{found:?}");
    assert_right(looking(Noise::Copies(1.0), 0.02, &EQUAL));
}

/// The largest correlation that is assumed is for this: rounds of a real run, in which one store became
/// slower. Those that follow each other closely are still clearly below 1.
#[test]
fn a_clear_difference_is_seen_though_ratios_drift() {
    let ratios = vec![
        0.715, 0.732, 0.706, 0.709, 0.729, 0.697, 0.709, 0.688, 0.700, 0.611, 0.661, 0.661, 0.662,
        0.650,
    ];
    assert_eq!(judge(&[ratios.into()], LOOKS)[0].verdict, Verdict::Faster);
}

#[test]
fn little_noise_is_judged_soon() {
    let found = looking(Noise::Normal, 0.01, &MIXED);
    assert_right(found);
    assert!(found.judged > 0.97 && found.rounds < 16.0, "{found:?}");
}

#[test]
fn a_difference_is_found_the_sooner_the_clearer_it_is() {
    for (sigma, truth, rounds) in [(0.025, 1.05, 17.0), (0.05, 1.05, 34.0), (0.025, 1.1, 10.0)] {
        let found = looking(Noise::Normal, sigma, &[truth]);
        assert!(found.judged > 0.98 && found.rounds < rounds, "{found:?}");
    }
}

/// The interval that is printed is the one that decides, whoever looks how often: none without 1 is
/// inconclusive, and none within ±3 %.
#[test]
fn an_interval_and_its_verdict_agree() {
    const NEAR: [f64; 4] = [0.96, 0.985, 1.02, 1.04];
    let mut random = Random::new(11);
    for noise in [Noise::Normal, Noise::Correlated(0.6), Noise::Copies(1.0)] {
        for sigma in [0.005, 0.02, 0.05] {
            let mut machine = Machine::new(noise, sigma, NEAR.len());
            let mut ratios = vec![Values::default(); NEAR.len()];
            for round in 0..60_u64 {
                let times = machine.round(&mut random);
                let all = ratios.iter_mut().zip(NEAR).zip(&times[1..]);
                all.for_each(|((own, truth), time)| own.push(truth * time / times[0], round % 5));
                for looks in [LOOKS, Looks::Once] {
                    for judged in judge(&ratios, looks) {
                        let ratio = judged.ratio.expect("simulated times are positive");
                        let shown = match judged.verdict {
                            Verdict::Same => ratio.low > 0.97 && ratio.high < 1.03,
                            Verdict::Faster => ratio.high < 1.0 && ratio.low <= 0.97,
                            Verdict::Slower => ratio.low > 1.0 && ratio.high >= 1.03,
                            Verdict::Inconclusive => {
                                (ratio.low..=ratio.high).contains(&1.0)
                                    && (ratio.low <= 0.97 || ratio.high >= 1.03)
                            }
                        };
                        assert!(shown, "{judged:?}");
                    }
                }
            }
        }
    }
}

/// What sharing the level is for: with a plain test after each round, one of four equal targets is called
/// different in every seventh table or more.
#[test]
fn looking_often_with_a_plain_test_is_wrong_often() {
    let mut random = Random::new(7);
    let mut is_wrong = || {
        let mut machine = Machine::new(Noise::Normal, 0.1, 4);
        let mut ratios = vec![Values::default(); 4];
        (1..=60).any(|round| {
            let times = machine.round(&mut random);
            ratios.iter_mut().zip(&times[1..]).for_each(|(own, time)| own.push(time / times[0], 0));
            let differs =
                |ratio: &Values| matches!(alone(ratio), Verdict::Faster | Verdict::Slower);
            round >= 5 && ratios.iter().any(differs)
        })
    };
    let wrong = (0..200).filter(|_| is_wrong()).count();
    assert!(wrong > 28, "{wrong}");
}

/// Fewer than twelve rounds do not show how they are correlated, and are taken as correlated by 0.6: their
/// verdicts are right if they are.
#[test]
fn few_rounds_are_right_though_they_follow_each_other() {
    for noise in [Noise::Normal, Noise::HeavyTails, Noise::Correlated(0.3), Noise::Correlated(0.6)]
    {
        for rounds in [5, 8, 11] {
            let found = fixed(noise, 0.05, rounds);
            assert!(found.false_tables <= 0.05 && found.covered >= 0.98, "{rounds}: {found:?}");
            let truth = &EDGE;
            let found = Tables { noise, sigma: 0.02, truth, looks: LOOKS, rounds, count: 500 };
            assert!(found.outcome().false_tables <= 0.05, "{rounds}: {:?}", found.outcome());
        }
    }
}

/// What the allowance costs: a difference must be clear.
#[test]
fn few_rounds_show_a_clear_difference() {
    let found = |sigma, rounds, truth| {
        let (noise, truth) = (Noise::Normal, &[truth]);
        Tables { noise, sigma, truth, looks: LOOKS, rounds, count: 500 }.outcome().judged
    };
    for (sigma, rounds, truth) in [(0.02, 5, 1.2), (0.05, 5, 1.5), (0.05, 10, 1.2), (0.1, 10, 1.5)]
    {
        assert!(found(sigma, rounds, truth) > 0.95, "{sigma} {rounds} {truth}");
    }
}

/// The last look, at the end of the time, is right however soon that is, and shows more than the looks
/// before it.
#[test]
fn the_last_look_is_right_and_shows_more() {
    fn tables(noise: Noise, truth: &[f64], rounds: usize) -> Outcome {
        Tables { noise, sigma: 0.05, truth, looks: LOOKS, rounds, count: 500 }.outcome()
    }
    for (_, noise) in Noise::ALL.into_iter().filter(|(_, of)| *of != Noise::Copies(1.0)) {
        for rounds in [12, 20] {
            for truth in [EQUAL, EDGE] {
                let found = tables(noise, &truth, rounds);
                assert!(
                    found.false_tables <= 0.06 && found.covered >= 0.98,
                    "{noise:?} {rounds} {found:?}"
                );
            }
        }
    }
    let shown = |rounds| tables(Noise::Normal, &[1.1], rounds).judged;
    assert!(shown(15) > 0.65 && shown(20) > 0.9, "{} {}", shown(15), shown(20));
}

/// A known limit: rounds without a stall cannot show that there are stalls.
#[test]
fn rare_stalls_of_one_target_are_missed() {
    let covered = |chance, length| looking(Noise::Stalls(chance, length), 0.03, &EQUAL).covered;
    assert!(covered(0.02, 50.0) < 0.8);
    assert!(covered(0.5, 1.0) > 0.93, "frequent ones are seen");
}

use super::random::Random;

/// A distribution by its quantiles: (share of cases, size in tokens). Between two of them the logarithm of the size
/// grows evenly.
pub(super) type Quantiles = [(f64, f64)];

/// Outputs of tools, as measured on agents' logs: half are small, one in six holds most of the tokens.
pub(super) const OUTPUT: &Quantiles =
    &[(0.0, 2.0), (0.5, 140.0), (0.9, 1600.0), (0.99, 8800.0), (1.0, 30_000.0)];
/// How far back the output stands from which a path or an id is copied for the first time.
pub(super) const DISTANCE: &Quantiles =
    &[(0.0, 400.0), (0.5, 6000.0), (0.9, 44_000.0), (0.99, 98_000.0), (1.0, 150_000.0)];
/// Lines of an edit's new text.
pub(super) const EDIT_LINES: &Quantiles = &[(0.0, 1.0), (0.5, 7.0), (0.9, 36.0), (1.0, 150.0)];
/// Lines of a file that is written anew.
pub(super) const WRITE_LINES: &Quantiles = &[(0.0, 20.0), (0.5, 110.0), (0.9, 280.0), (1.0, 500.0)];

/// The size that `share` of all cases stay below.
pub(super) fn at(quantiles: &Quantiles, share: f64) -> f64 {
    let upper = quantiles.iter().position(|(q, _)| *q >= share).unwrap_or(quantiles.len() - 1).max(1);
    let ((q0, s0), (q1, s1)) = (quantiles[upper - 1], quantiles[upper]);
    (s0.ln() + (s1.ln() - s0.ln()) * (share - q0) / (q1 - q0)).exp()
}

/// One size.
pub(super) fn draw(quantiles: &Quantiles, random: &mut Random) -> f64 {
    at(quantiles, random.unit())
}

/// `count` sizes in random order, spread over the whole distribution evenly: short conversations have its shape too.
pub(super) fn spread(quantiles: &Quantiles, count: usize, random: &mut Random) -> Vec<f64> {
    let mut sizes: Vec<_> =
        (0..count).map(|i| at(quantiles, (i as f64 + random.unit()) / count as f64)).collect();
    for i in (1..sizes.len()).rev() {
        sizes.swap(i, random.below(i + 1));
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_met() {
        assert!((at(OUTPUT, 0.5) - 140.0).abs() < 1e-6 && (at(OUTPUT, 1.0) - 30_000.0).abs() < 1e-3);
        assert!((at(OUTPUT, 0.0) - 2.0).abs() < 1e-6);
        let mut sizes = spread(OUTPUT, 200, &mut Random::new(7));
        sizes.sort_by(f64::total_cmp);
        assert!((130.0..150.0).contains(&sizes[100]) && (1500.0..1750.0).contains(&sizes[180]));
    }
}

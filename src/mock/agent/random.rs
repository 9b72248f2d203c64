/// A small generator of numbers that look random: the same seed gives the same numbers on every machine.
/// (Splitmix64; nothing secret may be made with it.)
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 on, below 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 0 on, below `end`, which must be more than 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// From `low` to `high`, both included.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `share` of all cases.
    pub(super) fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// One of a list that is not empty.
    pub(super) fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    /// One of a list that is not empty, more often where the weight is greater.
    pub(super) fn weighted<T: Copy>(&mut self, list: &[(u32, T)]) -> T {
        let sum: u32 = list.iter().map(|(weight, _)| weight).sum();
        let mut at = self.below(sum as usize) as u32;
        for (weight, choice) in list {
            match at.checked_sub(*weight) {
                Some(rest) => at = rest,
                None => return *choice,
            }
        }
        list[list.len() - 1].1
    }

    /// `length` characters of an alphabet.
    pub(super) fn string(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }
}

pub(super) const HEX: &[u8] = b"0123456789abcdef";
pub(super) const LOWER: &[u8] = b"0123456789abcdefghjkmnpqrstvwxyz";
pub(super) const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_published_numbers() {
        let mut random = Random::new(1_234_567);
        assert_eq!([random.bits(), random.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn keeps_its_bounds() {
        let mut random = Random::new(1);
        let numbers: Vec<_> = (0..1000).map(|_| random.between(3, 5)).collect();
        assert!((3..=5).all(|n| numbers.contains(&n)) && numbers.iter().all(|n| (3..=5).contains(n)));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit())));
        assert!((0..100).all(|_| random.weighted(&[(0, 'a'), (1, 'b')]) == 'b'));
    }
}

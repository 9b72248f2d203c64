use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A content identity: 128 bits of BLAKE3. Its input comes from clients, so it must be one that nobody can craft
/// collisions for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Fingerprint([u8; 16]);

/// A map by fingerprint.
pub type ByFingerprint<V> = HashMap<Fingerprint, V, BuildHasherDefault<Leading>>;

/// Hashes a fingerprint, which is spread evenly already, by taking its first half.
#[derive(Debug, Clone, Copy, Default)]
pub struct Leading(u64);

/// What BLAKE3 takes in one piece, in bytes.
const SHORT: usize = 1024;

impl Fingerprint {
    /// The identity of a sequence of byte strings. Each is counted in with its length, so that moving a border
    /// between two of them gives another identity.
    pub fn of(parts: &[&[u8]]) -> Self {
        let length: usize = parts.iter().map(|part| size_of::<u64>() + part.len()).sum();
        if length <= SHORT {
            return Self::of_short(parts);
        }
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self::finish(&hasher)
    }

    /// Hashing a short text in one go takes a third of the time.
    fn of_short(parts: &[&[u8]]) -> Self {
        let mut text = [0; SHORT];
        let mut end = 0;
        let mut append = |bytes: &[u8]| {
            text[end..end + bytes.len()].copy_from_slice(bytes);
            end += bytes.len();
        };
        for part in parts {
            append(&(part.len() as u64).to_le_bytes());
            append(part);
        }
        Self::cut(blake3::hash(&text[..end]))
    }

    /// The identity of this one followed by `next`: the link of a chain over a list.
    pub fn then(self, next: Self) -> Self {
        let mut both = [0; 32];
        both[..16].copy_from_slice(&self.0);
        both[16..].copy_from_slice(&next.0);
        Self::cut(blake3::hash(&both))
    }

    /// Lengthens a chain over a list by a link for `next`.
    pub fn lengthen(chain: &mut Vec<Self>, next: Self) {
        chain.push(chain.last().map_or(next, |last| last.then(next)));
    }

    /// Its bytes, for being part of another identity.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// What a hasher that was fed piece by piece stands at.
    pub fn finish(hasher: &blake3::Hasher) -> Self {
        Self::cut(hasher.finalize())
    }

    fn cut(hash: blake3::Hash) -> Self {
        let mut short = [0; 16];
        short.copy_from_slice(&hash.as_bytes()[..16]);
        Self(short)
    }
}

impl Hash for Fingerprint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0[..8]);
        state.write_u64(u64::from_le_bytes(first));
    }
}

impl Hasher for Leading {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, first: u64) {
        self.0 = first;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Fingerprint {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected 32 hexadecimal digits";
        let mut bytes = [0; 16];
        if text.len() != 32 || !text.is_ascii() {
            return Err(EXPECTED);
        }
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).map_err(|_| EXPECTED)?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_between_parts_count() {
        assert_ne!(Fingerprint::of(&[b"ab", b"c"]), Fingerprint::of(&[b"a", b"bc"]));
        assert_eq!(Fingerprint::of(&[b"ab", b"c"]), Fingerprint::of(&[b"ab", b"c"]));
    }

    #[test]
    fn a_text_is_the_same_in_one_piece_and_in_many() {
        for length in [0, 1, SHORT - 9, SHORT - 8, SHORT - 7, 3 * SHORT] {
            let text = vec![7; length];
            let mut hasher = blake3::Hasher::new();
            hasher.update(&(length as u64).to_le_bytes());
            for byte in &text {
                hasher.update(&[*byte]);
            }
            assert_eq!(Fingerprint::of(&[&text]), Fingerprint::finish(&hasher), "{length}");
        }
    }

    #[test]
    fn is_read_back_as_it_was_written() {
        let print = Fingerprint::of(&[b"x"]);
        assert_eq!(print.to_string().parse(), Ok(print));
        assert!("zz".parse::<Fingerprint>().is_err());
    }
}

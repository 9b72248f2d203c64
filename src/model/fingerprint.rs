use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A content identity: 128 bits of BLAKE3. Its input comes from clients, so it must be one that nobody can craft
/// collisions for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// The identity of a sequence of byte strings. Each is counted in with its length, so that moving a border
    /// between two of them gives another identity.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self::finish(&hasher)
    }

    /// The identity of this one followed by `next`: the link of a chain over a list.
    pub fn then(self, next: Self) -> Self {
        let mut both = [0; 32];
        both[..16].copy_from_slice(&self.0);
        both[16..].copy_from_slice(&next.0);
        let mut short = [0; 16];
        short.copy_from_slice(&blake3::hash(&both).as_bytes()[..16]);
        Self(short)
    }

    /// Its bytes, for being part of another identity.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// What a hasher that was fed piece by piece stands at.
    pub fn finish(hasher: &blake3::Hasher) -> Self {
        let mut short = [0; 16];
        short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(short)
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
    fn is_read_back_as_it_was_written() {
        let print = Fingerprint::of(&[b"x"]);
        assert_eq!(print.to_string().parse(), Ok(print));
        assert!("zz".parse::<Fingerprint>().is_err());
    }
}

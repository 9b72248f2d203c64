//! Content codings: what a body was packed with, and undoing it, whole or piece by piece. Owns no HTTP: the field's
//! value comes from the caller.

mod inflate;
mod whole;

use std::io;

pub use inflate::Inflater;
pub use whole::decode_all;

/// How many codings one body may have been packed with, one over the other.
const LONGEST_CHAIN: usize = 4;

/// A content coding (RFC 9110, section 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// `gzip`.
    Gzip,
    /// `deflate`: with the zlib frame that it should have, or without.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
}

/// Why a content coding could not be undone.
#[derive(Debug, thiserror::Error)]
pub enum CodingError {
    /// Not one we know.
    #[error("unknown content coding")]
    Unknown,
    /// More of them than anyone needs.
    #[error("more than {LONGEST_CHAIN} content codings")]
    TooMany,
    /// The bytes are not what the coding makes.
    #[error("the body is no valid {}", coding.as_str())]
    Damaged {
        /// The coding it should have been.
        coding: Coding,
        /// What the decoder says.
        #[source]
        source: io::Error,
    },
    /// It decodes to more than is allowed.
    #[error("the decoded body is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

impl Coding {
    /// The codings of a `Content-Encoding` field, in the order they were applied; empty for none or identity.
    ///
    /// # Errors
    /// When one of them is unknown, or there are more than four.
    pub fn of(field: Option<&str>) -> Result<Vec<Self>, CodingError> {
        let names = field.unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty());
        let mut codings = Vec::new();
        for name in names {
            codings.push(match name.to_ascii_lowercase().as_str() {
                "identity" => continue,
                "gzip" | "x-gzip" => Self::Gzip,
                "deflate" => Self::Deflate,
                "br" => Self::Brotli,
                "zstd" => Self::Zstd,
                _ => return Err(CodingError::Unknown),
            });
        }
        if codings.len() > LONGEST_CHAIN { Err(CodingError::TooMany) } else { Ok(codings) }
    }

    /// Its name in `Content-Encoding`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// Whether deflated data stands in the zlib frame, told from its first two bytes.
fn has_zlib_frame(first: u8, second: u8) -> bool {
    first & 0x0f == 8 && first >> 4 <= 7 && u16::from_be_bytes([first, second]).is_multiple_of(31)
}

#[cfg(test)]
mod tests;

use std::io::{self, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{DEFAULT_MAX_WINDOW_SIZE, StreamingDecoder};

use super::{Coding, CodingError, has_zlib_frame};

const BUFFER: usize = 16 << 10;

/// Undoes content codings of a whole body.
///
/// # Errors
/// When the bytes are damaged or cut off, or decode to more than `limit` bytes at any step.
pub fn decode_all(codings: &[Coding], body: &[u8], limit: usize) -> Result<Vec<u8>, CodingError> {
    let mut decoded = None;
    for coding in codings.iter().rev() {
        decoded = Some(undo(*coding, decoded.as_deref().unwrap_or(body), limit)?);
    }
    match decoded {
        Some(decoded) => Ok(decoded),
        None if body.len() > limit => Err(CodingError::TooLarge { limit }),
        None => Ok(body.to_vec()),
    }
}

fn undo(coding: Coding, body: &[u8], limit: usize) -> Result<Vec<u8>, CodingError> {
    let mut decoded = Vec::new();
    let read = match coding {
        Coding::Gzip => read_up_to(limit, MultiGzDecoder::new(body), &mut decoded),
        Coding::Deflate => match body {
            [first, second, ..] if has_zlib_frame(*first, *second) => {
                read_up_to(limit, ZlibDecoder::new(body), &mut decoded)
            }
            _ => read_up_to(limit, DeflateDecoder::new(body), &mut decoded),
        },
        Coding::Brotli => {
            read_up_to(limit, brotli_decompressor::Decompressor::new(body, BUFFER), &mut decoded)
        }
        Coding::Zstd => frames(body, DEFAULT_MAX_WINDOW_SIZE, |frame| read_up_to(limit, frame, &mut decoded)),
    };
    read.map_err(|source| CodingError::Damaged { coding, source })?;
    if decoded.len() > limit { Err(CodingError::TooLarge { limit }) } else { Ok(decoded) }
}

/// Reads on until `decoded` is one byte over the limit.
fn read_up_to(limit: usize, reader: impl Read, decoded: &mut Vec<u8>) -> io::Result<()> {
    let room = limit.saturating_add(1).saturating_sub(decoded.len());
    reader.take(room as u64).read_to_end(decoded).map(|_| ())
}

/// Hands out the zstd frames of a body, one after the other. Skippable ones are skipped.
pub(super) fn frames(
    mut body: &[u8],
    max_window: u64,
    mut read: impl FnMut(&mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    while !body.is_empty() {
        match StreamingDecoder::new_with_max_window_size(&mut body, max_window) {
            Ok(mut frame) => {
                read(&mut frame)?;
                if frame.decoder.can_collect() > 0 || !frame.decoder.is_finished() {
                    return Ok(());
                }
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                body = body.get(length as usize..).ok_or(io::ErrorKind::UnexpectedEof)?;
            }
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    Ok(())
}

use std::fmt;
use std::io::{self, Read, Write};
use std::mem::take;

use brotli_decompressor::DecompressorWriter;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::whole::frames;
use super::{Coding, has_zlib_frame};

/// Input is taken in pieces of this size, so that what one piece makes stays small.
const PIECE: usize = 4 << 10;
/// What one piece may decode to.
const LARGEST_OUTPUT: usize = 16 << 20;
/// What is kept of zstd data: its decoder yields next to nothing before the end of a frame.
const LARGEST_ZSTD: usize = 8 << 20;
/// What a web client accepts (RFC 9659).
const ZSTD_WINDOW: u64 = 8 << 20;
/// What zstd data may decode to.
const LARGEST_ZSTD_OUTPUT: usize = 256 << 20;

/// Undoes content codings piece by piece, of answers that pass by. It never fails loudly: after damage, or where a
/// bound is passed, it goes silent.
pub struct Inflater {
    /// The last coding applied comes first. Empty once silent.
    stages: Vec<Stage>,
}

enum Stage {
    Gzip(Box<MultiGzDecoder<Output>>),
    /// The first byte, while it is not known which kind of deflate it is.
    Deflate(Option<u8>),
    Zlib(ZlibDecoder<Output>),
    RawDeflate(DeflateDecoder<Output>),
    Brotli(Box<DecompressorWriter<Output>>),
    Zstd(Vec<u8>),
}

/// What a decoder has written.
#[derive(Debug, Default)]
struct Output(Vec<u8>);

impl Inflater {
    /// For the codings that a body was packed with, in the order they were applied.
    pub fn new(codings: &[Coding]) -> Self {
        Self { stages: codings.iter().rev().map(|coding| Stage::new(*coding)).collect() }
    }

    /// Takes the next bytes and hands on what they decode to, in any number of pieces.
    pub fn push(&mut self, bytes: &[u8], mut on_plain: impl FnMut(&[u8])) {
        if !self.stages.is_empty() && run(&mut self.stages, bytes, &mut on_plain).is_err() {
            self.stages.clear();
        }
    }

    /// Hands on what only the end of the input lets decode.
    pub fn finish(&mut self, mut on_plain: impl FnMut(&[u8])) {
        let mut stages = take(&mut self.stages);
        let mut rest = &mut stages[..];
        while let Some((first, behind)) = rest.split_first_mut() {
            if first.finish(|plain| run(behind, plain, &mut on_plain)).is_err() {
                return;
            }
            rest = behind;
        }
    }
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflater").field("stages", &self.stages.len()).finish()
    }
}

/// Sends bytes through the stages. They are as many as there are codings, so this does not go deep.
fn run(stages: &mut [Stage], bytes: &[u8], on_plain: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let Some((first, behind)) = stages.split_first_mut() else {
        on_plain(bytes);
        return Ok(());
    };
    for piece in bytes.chunks(PIECE) {
        let outcome = first.push(piece);
        run(behind, &first.take_output(), on_plain)?;
        outcome?;
    }
    Ok(())
}

impl Stage {
    fn new(coding: Coding) -> Self {
        match coding {
            Coding::Gzip => Self::Gzip(Box::new(MultiGzDecoder::new(Output::default()))),
            Coding::Deflate => Self::Deflate(None),
            Coding::Brotli => Self::Brotli(Box::new(DecompressorWriter::new(Output::default(), PIECE))),
            Coding::Zstd => Self::Zstd(Vec::new()),
        }
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Gzip(decoder) => write(decoder, bytes),
            Self::Zlib(decoder) => write(decoder, bytes),
            Self::RawDeflate(decoder) => write(decoder, bytes),
            Self::Brotli(decoder) => write(decoder, bytes),
            Self::Deflate(first) => {
                let start: Vec<u8> = first.iter().chain(bytes).copied().collect();
                match *start {
                    [] => return Ok(()),
                    [byte] => {
                        *first = Some(byte);
                        return Ok(());
                    }
                    [first, second, ..] if has_zlib_frame(first, second) => {
                        *self = Self::Zlib(ZlibDecoder::new(Output::default()));
                    }
                    _ => *self = Self::RawDeflate(DeflateDecoder::new(Output::default())),
                }
                self.push(&start)
            }
            Self::Zstd(packed) if packed.len() + bytes.len() <= LARGEST_ZSTD => {
                packed.extend_from_slice(bytes);
                Ok(())
            }
            Self::Zstd(_) => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }

    fn take_output(&mut self) -> Vec<u8> {
        match self {
            Self::Gzip(decoder) => take(&mut decoder.get_mut().0),
            Self::Zlib(decoder) => take(&mut decoder.get_mut().0),
            Self::RawDeflate(decoder) => take(&mut decoder.get_mut().0),
            Self::Brotli(decoder) => take(&mut decoder.get_mut().0),
            Self::Deflate(_) | Self::Zstd(_) => Vec::new(),
        }
    }

    fn finish(&mut self, mut on_plain: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let Self::Zstd(packed) = self else { return Ok(()) };
        let packed = take(packed);
        let mut buffer = vec![0; 4 * PIECE];
        let mut total = 0;
        frames(&packed, ZSTD_WINDOW, |frame: &mut dyn Read| {
            loop {
                let read = frame.read(&mut buffer)?;
                total += read;
                if total > LARGEST_ZSTD_OUTPUT {
                    return Err(io::ErrorKind::FileTooLarge.into());
                }
                if read == 0 {
                    return Ok(());
                }
                on_plain(&buffer[..read])?;
            }
        })
    }
}

/// Writes, and makes the decoder give out all that it can.
fn write(decoder: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    decoder.write_all(bytes)?;
    decoder.flush()
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LARGEST_OUTPUT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

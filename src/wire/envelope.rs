use std::borrow::Cow;

use bytes::Bytes;

use crate::model::Span;

/// Where the messages stand in the original bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Envelope {
    /// The span of each wire message.
    pub messages: Vec<Span>,
}

/// What comes in place of a range of the original bytes.
pub(super) type Piece = (Span, Cow<'static, [u8]>);

impl Envelope {
    /// `source` with each piece in place of its span. The pieces may come in any order, but must not overlap; one
    /// that begins inside another is left out. Without pieces, the original buffer.
    pub(super) fn splice(source: &Bytes, mut pieces: Vec<Piece>) -> Bytes {
        if pieces.is_empty() {
            return source.clone();
        }
        pieces.sort_by_key(|(span, _)| span.start);
        let added: usize = pieces.iter().map(|(_, bytes)| bytes.len()).sum();
        let removed: usize = pieces.iter().map(|(span, _)| span.len()).sum();
        let mut spliced = Vec::with_capacity((source.len() + added).saturating_sub(removed));
        let mut at = 0;
        for (span, bytes) in &pieces {
            if span.start >= at {
                spliced.extend_from_slice(&source[at..span.start]);
                spliced.extend_from_slice(bytes);
                at = span.end;
            }
        }
        spliced.extend_from_slice(&source[at..]);
        spliced.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(start: usize, end: usize, text: &'static str) -> Piece {
        (Span { start, end }, Cow::Borrowed(text.as_bytes()))
    }

    #[test]
    fn pieces_stand_in_place_of_their_spans() {
        let source = Bytes::from_static(b"0123456789");
        let spliced =
            Envelope::splice(&source, vec![piece(7, 8, "seven"), piece(0, 2, ""), piece(10, 10, "!")]);
        assert_eq!(spliced, "23456seven89!");
    }

    #[test]
    fn without_pieces_the_buffer_is_the_same() {
        let source = Bytes::from_static(b"abc");
        assert_eq!(Envelope::splice(&source, Vec::new()).as_ptr(), source.as_ptr());
    }
}

use std::mem::take;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Cuts an event stream into events, wherever its chunks begin and end. It only looks on: what is forwarded is not
/// its business.
#[derive(Debug)]
pub struct EventReader {
    limit: usize,
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// The data of the event so far.
    data: Vec<u8>,
    /// How many lines it has.
    data_lines: usize,
    started: bool,
    /// The last byte was a CR, so that a LF now belongs to it.
    after_cr: bool,
    /// The event is too large: nothing of it is kept.
    skipping: bool,
}

impl EventReader {
    /// A reader that skips events of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            data: Vec::new(),
            data_lines: 0,
            started: false,
            after_cr: false,
            skipping: false,
        }
    }

    /// Takes the next bytes, and hands out the data of each event that they complete. Events without data (names,
    /// ids, comments alone) are not handed out.
    pub fn push(&mut self, mut bytes: &[u8], mut on_event: impl FnMut(&[u8])) {
        while !bytes.is_empty() {
            if take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\r', b'\n', bytes) else {
                self.keep(bytes);
                return;
            };
            self.after_cr = bytes[end] == b'\r';
            if self.line.is_empty() {
                self.end_line(&bytes[..end], &mut on_event);
            } else {
                self.keep(&bytes[..end]);
                let line = take(&mut self.line);
                self.end_line(&line, &mut on_event);
                self.line = line;
                self.line.clear();
            }
            bytes = &bytes[end + 1..];
        }
    }

    /// Hands out what stands at the end of a stream that was not closed by an empty line.
    pub fn finish(&mut self, mut on_event: impl FnMut(&[u8])) {
        let line = take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line, &mut on_event);
        }
        self.end_event(&mut on_event);
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.line.len() + self.data.len() + bytes.len() > self.limit {
            self.skipping = true;
        }
        if self.skipping {
            // One byte stands for the line, which must not look like the empty one.
            self.line.clear();
            self.line.push(b':');
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end_line(&mut self, line: &[u8], on_event: &mut impl FnMut(&[u8])) {
        let first = !std::mem::replace(&mut self.started, true);
        let line = if first { line.strip_prefix(BOM).unwrap_or(line) } else { line };
        if line.is_empty() {
            self.end_event(on_event);
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        if field != b"data" || self.skipping {
            return;
        }
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if self.data.len() + value.len() > self.limit {
            self.skipping = true;
            return;
        }
        if self.data_lines > 0 {
            self.data.push(b'\n');
        }
        self.data_lines += 1;
        self.data.extend_from_slice(value);
    }

    fn end_event(&mut self, on_event: &mut impl FnMut(&[u8])) {
        if take(&mut self.data_lines) > 0 && !self.skipping {
            on_event(&self.data);
        }
        self.skipping = false;
        self.data.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn events(chunks: &[&[u8]], limit: usize) -> Vec<String> {
        let mut reader = EventReader::new(limit);
        let mut events = Vec::new();
        for chunk in chunks {
            reader.push(chunk, |data| events.push(String::from_utf8_lossy(data).into_owned()));
        }
        reader.finish(|data| events.push(String::from_utf8_lossy(data).into_owned()));
        events
    }

    #[test]
    fn all_line_endings_and_fields_are_known() {
        let stream = "\u{feff}data: one\r\n: comment\r\n\r\ndata:two\rdata\rdata:  three\r\revent: x\n\nid: 1\ndata: four\n\ndata: last";
        assert_eq!(events(&[stream.as_bytes()], 99), ["one", "two\n\n three", "four", "last"]);
    }

    #[test]
    fn an_event_beyond_the_limit_is_skipped_and_the_next_is_read() {
        let long = "x".repeat(50);
        let stream = format!("data: {long}\n\ndata: a\n\ndata: {long}\ndata: {long}\n\ndata: b\n\n");
        assert_eq!(events(&[stream.as_bytes()], 40), ["a", "b"]);
        let bytes: Vec<&[u8]> = stream.as_bytes().chunks(3).collect();
        assert_eq!(events(&bytes, 40), ["a", "b"]);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut reader = EventReader::new(1_000);
        for _ in 0..10_000 {
            reader.push(b"data: and on it goes without an end", |_| panic!("no event"));
        }
        assert!(reader.line.capacity() + reader.data.capacity() < 4_000);
    }

    proptest! {
        #[test]
        fn chunk_borders_do_not_matter(
            lines in vec(("(data:|data: |: |event: |)[a-zé😀{}\":]{0,9}", "(\r\n|\r|\n)"), 0..12),
            cuts in vec(any::<prop::sample::Index>(), 0..9),
        ) {
            let stream: String = lines.iter().flat_map(|(line, end)| [line.as_str(), end]).collect();
            let bytes = stream.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let chunks: Vec<&[u8]> = at.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            let whole = events(&[bytes], 1_000);
            prop_assert_eq!(&events(&chunks, 1_000), &whole);
            prop_assert_eq!(&events(&single, 1_000), &whole);
        }
    }
}

use std::io::Write;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Coding, CodingError, Inflater, decode_all};

const LIMIT: usize = 1 << 20;

fn pack(coding: Coding, plain: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::default();
    match coding {
        Coding::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        Coding::Deflate => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        Coding::Brotli => {
            let mut packed = Vec::new();
            brotli::BrotliCompress(&mut &*plain, &mut packed, &brotli::enc::BrotliEncoderParams::default())
                .unwrap();
            packed
        }
        Coding::Zstd => ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest),
    }
}

fn raw_deflate(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn inflated<'a>(codings: &[Coding], chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut inflater = Inflater::new(codings);
    let mut plain = Vec::new();
    for chunk in chunks {
        inflater.push(chunk, |bytes| plain.extend_from_slice(bytes));
    }
    inflater.finish(|bytes| plain.extend_from_slice(bytes));
    plain
}

fn all() -> [Coding; 4] {
    [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd]
}

#[test]
fn fields_are_read() {
    assert_eq!(Coding::of(None).unwrap(), []);
    assert_eq!(Coding::of(Some("identity")).unwrap(), []);
    assert_eq!(Coding::of(Some(" GZip , br,, identity")).unwrap(), [Coding::Gzip, Coding::Brotli]);
    assert_eq!(
        Coding::of(Some("x-gzip, deflate, zstd")).unwrap(),
        [Coding::Gzip, Coding::Deflate, Coding::Zstd]
    );
    assert!(matches!(Coding::of(Some("gzip, compress")), Err(CodingError::Unknown)));
    assert!(matches!(Coding::of(Some("br,br,br,br,br")), Err(CodingError::TooMany)));
}

#[test]
fn members_and_frames_follow_each_other() {
    for coding in [Coding::Gzip, Coding::Zstd] {
        let mut packed = pack(coding, b"one ");
        if coding == Coding::Zstd {
            packed.extend([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
        }
        packed.extend(pack(coding, b"two"));
        assert_eq!(decode_all(&[coding], &packed, LIMIT).unwrap(), b"one two", "{coding:?}");
        assert_eq!(inflated(&[coding], packed.chunks(1)), b"one two", "{coding:?}");
    }
}

#[test]
fn deflate_is_known_with_and_without_its_frame() {
    let packed = raw_deflate(b"some text, some text");
    assert_eq!(decode_all(&[Coding::Deflate], &packed, LIMIT).unwrap(), b"some text, some text");
    assert_eq!(inflated(&[Coding::Deflate], packed.chunks(1)), b"some text, some text");
}

#[test]
fn damage_is_an_error_or_silence() {
    for coding in all() {
        let packed = pack(coding, &b"some text to be packed, some text ".repeat(50));
        for cut in [1, 5, packed.len() / 2, packed.len() - 1] {
            let decoded = decode_all(&[coding], &packed[..cut], LIMIT);
            assert!(matches!(decoded, Err(CodingError::Damaged { .. })), "{coding:?} {cut}");
        }
        assert!(decode_all(&[coding], b"not packed at all", LIMIT).is_err(), "{coding:?}");
        let plain = inflated(&[coding], [b"not packed at all".as_slice(), &packed, &packed]);
        assert!(plain.len() < 100, "{coding:?}");
    }
}

#[test]
fn what_decodes_to_too_much_is_refused() {
    for coding in all() {
        let packed = pack(coding, &vec![b'x'; LIMIT + 1]);
        let decoded = decode_all(&[coding], &packed, LIMIT);
        assert!(matches!(decoded, Err(CodingError::TooLarge { limit: LIMIT })), "{coding:?}");
        let chain = [coding, Coding::Gzip];
        let twice = pack(Coding::Gzip, &packed);
        assert!(matches!(decode_all(&chain, &twice, LIMIT), Err(CodingError::TooLarge { .. })), "{coding:?}");
        assert_eq!(decode_all(&chain, &twice, LIMIT + 1).unwrap().len(), LIMIT + 1, "{coding:?}");
    }
    assert!(matches!(decode_all(&[], b"abc", 2), Err(CodingError::TooLarge { limit: 2 })));
}

#[test]
fn a_stream_can_be_read_before_its_end() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(b"first event").unwrap();
    encoder.flush().unwrap();
    let mut plain = Vec::new();
    Inflater::new(&[Coding::Gzip]).push(encoder.get_ref(), |bytes| plain.extend_from_slice(bytes));
    assert_eq!(plain, b"first event");
}

proptest! {
    #[test]
    fn every_chain_is_undone(
        codings in vec(select(all().to_vec()), 0..4),
        plain in prop_oneof![vec(any::<u8>(), 0..600), "[ab]{0,600}".prop_map(String::into_bytes)],
        piece in 1_usize..40,
    ) {
        let packed = codings.iter().fold(plain.clone(), |bytes, coding| pack(*coding, &bytes));
        prop_assert_eq!(&decode_all(&codings, &packed, LIMIT).unwrap(), &plain);
        if !codings.is_empty() {
            prop_assert_eq!(&inflated(&codings, packed.chunks(piece)), &plain);
        }
    }

    #[test]
    fn any_bytes_are_survived(coding in select(all().to_vec()), bytes: Vec<u8>, piece in 1_usize..40) {
        drop(decode_all(&[coding], &bytes, LIMIT));
        drop(inflated(&[coding], bytes.chunks(piece)));
    }
}

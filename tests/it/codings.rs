//! Packed request bodies: unread bytes and label go together, edited ones go plain and without a label.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::json;

use crate::support::{Conversation, Reply, Scene, changed_contents, lines};

fn packed(label: &str, plain: &[u8]) -> Vec<u8> {
    let level = Compression::default();
    match label {
        "gzip" => {
            let mut packing = GzEncoder::new(Vec::new(), level);
            packing.write_all(plain).unwrap();
            packing.finish().unwrap()
        }
        "deflate" => {
            let mut packing = ZlibEncoder::new(Vec::new(), level);
            packing.write_all(plain).unwrap();
            packing.finish().unwrap()
        }
        "br" => {
            let mut packed = Vec::new();
            let parameters = brotli::enc::BrotliEncoderParams::default();
            brotli::BrotliCompress(&mut &*plain, &mut packed, &parameters).unwrap();
            packed
        }
        "zstd" => compress_to_vec(plain, CompressionLevel::Fastest),
        "deflate, gzip" => packed("gzip", &packed("deflate", plain)),
        _ => plain.to_vec(),
    }
}

#[tokio::test]
async fn a_packed_body_goes_on_packed_until_it_is_edited() {
    for label in ["gzip", "deflate", "br", "zstd", "deflate, gzip", "identity"] {
        let scene = Scene::clearing(2).await;
        let agent = scene.agent("packed").header("Content-Encoding", label);
        let talk =
            Conversation::new().user("Count.").step("call_a", "count", json!({"n": 1}), lines("sheep", 80));
        let body = packed(label, &talk.body());
        let turn = agent.posts(body.clone()).await;
        turn.assert_untouched();
        assert_eq!(turn.sent().value("content-encoding"), Some(label));
        assert_eq!(turn.sent().value("content-length"), Some(body.len().to_string().as_str()));
        scene.has_settled(1).await;
        assert_eq!(scene.session("packed").await["input_tokens"], 60_000, "{label} is read");

        let talk = talk.step("call_b", "count", json!({"n": 2}), lines("goat", 80));
        let turn = agent.posts(packed(label, &talk.body())).await;
        let sent = turn.sent();
        assert_eq!(changed_contents(&talk.body(), &sent.body), [2], "{label}");
        assert_eq!(sent.value("content-encoding"), None);
        assert_eq!(sent.value("content-length"), Some(sent.body.len().to_string().as_str()));
    }
}

#[tokio::test]
async fn a_packed_body_that_is_too_large_is_sent_again_plain() {
    let scene = Scene::clearing(2).await;
    let talk = Conversation::new()
        .user("Count.")
        .step("call_a", "count", json!({"n": 1}), lines("sheep", 4_000))
        .step("call_b", "count", json!({"n": 2}), lines("goat", 80));
    scene.provider.will(Reply::overflow(28_000, 8_000));
    let body = packed("zstd", &talk.body());
    let turn = scene.agent("packed").header("Content-Encoding", "zstd").posts(body.clone()).await;
    let [first, second] = &turn.tries[..] else { panic!("{} tries", turn.tries.len()) };
    assert_eq!((&first.body, first.value("content-encoding")), (&body, Some("zstd")));
    assert_eq!(changed_contents(&talk.body(), &second.body), [2]);
    assert_eq!(second.value("content-encoding"), None);
    assert_eq!(turn.answer.status(), 200);
}

#[tokio::test]
async fn what_cannot_be_unpacked_passes_as_it_is() {
    let scene = Scene::clearing(2).await;
    let body = Conversation::new().user("Count.").body();
    let mut cut = packed("gzip", &body);
    cut.truncate(cut.len() / 2);
    for (label, body) in [
        ("lzma", body.clone()),
        ("gzip", body.clone()),
        ("gzip", cut),
        ("zstd", packed("br", &body)),
        ("gzip, gzip", packed("gzip", &body)),
    ] {
        let turn = scene.agent("odd").header("Content-Encoding", label).posts(body).await;
        turn.assert_untouched();
        assert_eq!(turn.sent().value("content-encoding"), Some(label));
        assert_eq!((turn.answer.status(), turn.outcome()), (200, "bypassed; reason=content_coding"));
    }
}

#[tokio::test]
async fn a_body_that_unpacks_without_end_passes_packed() {
    let scene = Scene::clearing(2).await;
    let mut packing = GzEncoder::new(Vec::new(), Compression::fast());
    let block = vec![b' '; 1 << 20];
    for _ in 0..300 {
        packing.write_all(&block).unwrap();
    }
    let bomb = packing.finish().unwrap();
    let turn = scene.agent("bomb").header("Content-Encoding", "gzip").posts(bomb).await;
    turn.assert_untouched();
    assert_eq!(turn.outcome(), "bypassed; reason=content_coding");
}

//! Plays every fixture folder through the codec of its format, and compares what was read with the snapshot beside
//! it. A new format gets these tests by its folder.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::{Codec, Codecs, ReplyKind, UsageReader};
use crate::model::{EditSet, Item, ItemKind, Transcript};

fn folders(of: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<_> = fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

fn item(transcript: &Transcript, index: usize, item: &Item) -> String {
    let kind = match &item.kind {
        ItemKind::Message { role } => format!("{role:?}"),
        ItemKind::Reasoning => "Reasoning".to_owned(),
        ItemKind::ToolCall(call) => format!("ToolCall {:?} {}", call.id, call.name),
        ItemKind::ToolResult(result) => format!("ToolResult {:?} of {:?}", result.id, result.call),
        ItemKind::Opaque => "Opaque".to_owned(),
    };
    let parts = item.parts.iter().map(|part| {
        let more = if part.carries_more { "+" } else { "" };
        format!("{:?}{more} {}", part.kind, String::from_utf8_lossy(part.span.slice(&transcript.source)))
    });
    let parts = parts.collect::<Vec<_>>().join("\n       ");
    format!("{index:3} m{} {kind} {}\n       {parts}\n", item.message, item.fingerprint)
}

fn read_request(codec: &Arc<dyn Codec>, body: &Bytes) -> String {
    let decoded = codec.decode(body.clone()).unwrap();
    let sent = codec.render(&decoded, &EditSet::default());
    assert_eq!((sent.as_ptr(), sent.len()), (body.as_ptr(), body.len()));
    let transcript = &decoded.transcript;
    let mut text = format!(
        "model {:?} output_limit {:?} definition_bytes {} session {:?}\nopening {:?}\n",
        transcript.model,
        transcript.output_limit,
        transcript.definition_bytes,
        transcript.session_id,
        transcript.opening,
    );
    for (index, read) in transcript.items.iter().enumerate() {
        text.push_str(&item(transcript, index, read));
    }
    text
}

fn read_reply(codec: &Arc<dyn Codec>, kind: ReplyKind, reply: &[u8]) -> String {
    let usage = |size: usize| {
        let mut reader = UsageReader::new(&**codec, kind, None);
        reply.chunks(size).for_each(|chunk| reader.push(chunk));
        reader.finish()
    };
    assert_eq!(usage(1), usage(reply.len()));
    format!("{:?}", usage(7))
}

#[test]
fn fixtures_are_read_as_their_snapshots_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for codec in Codecs::builtin().all() {
        for case in folders(&root.join(codec.format().as_str())) {
            let body = Bytes::from(fs::read(case.join("request.json")).unwrap());
            let mut text = read_request(codec, &body);
            for (name, kind) in [("reply.json", ReplyKind::Json), ("reply.sse", ReplyKind::Sse)] {
                if let Ok(reply) = fs::read(case.join(name)) {
                    writeln!(text, "{}", read_reply(codec, kind, &reply)).unwrap();
                }
            }
            insta::with_settings!({
                snapshot_path => case,
                prepend_module_to_snapshot => false,
                omit_expression => true,
            }, {
                insta::assert_snapshot!("read", text);
            });
        }
    }
}

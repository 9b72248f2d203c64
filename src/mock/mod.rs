//! A mock upstream, to try the proxy with and to test it against: it answers without a model, but holds requests to
//! the API's rules, counts them as a provider would, and can be told to fail. Owns: the mock's routes, rules,
//! figures and scripts, and the generator of agent conversations ([`agent`]). Does not own: how the proxy reads any
//! of this (`wire`), or how large a text is (`tokens`).
//!
//! To add an API: a folder beside `chat` that reads its requests into an `exchange::Measured` and writes a
//! `reply::Reply` in its shape, and a line in each function of `api`.
//!
//! # Figures
//! A request is worth the tokens of what is said in it (`o200k_base`) plus 4 for each message or item, plus those of its
//! tool definitions. With chat completions and responses the part of it that is "cached" is the longest run of whole
//! messages in front that the same credential sent to the same model before: from 1,024 tokens on, rounded down to a
//! multiple of 128. With messages, that is so block by block and only up to the blocks with `cache_control`, from each
//! of which it is looked up to 20 blocks back; without such marks nothing is cached.
//!
//! # Thinking
//! The mock signs what it thinks (messages) and encrypts it (responses). Told to `bind_thinking`, it refuses a request of
//! the Messages API in which thinking of its own does not stand behind the very instructions and messages that it stood
//! behind when it was thought. Marks for the cache and other thinking do not count there, so that thinking may be left
//! out. Signatures of others are taken as they are, and so is their encrypted reasoning.
//!
//! # Scripts
//! One JSON object a line; empty lines and lines that start with `#` are left out. Each is a step: it says which
//! requests it is for, and what becomes of them. The first step that fits a request decides; a request that none
//! fits is answered with a short text.
//!
//! ```text
//! # the second request is turned away, the fifth needs more room than there is
//! {"request": 2, "status": 429, "retry_after": 1}
//! {"request": 5, "window": 4000}
//! # from the tenth on the model reads a file each time, slowly
//! {"from": 10, "to": 20, "delay_ms": 500, "tool_calls": [{"name": "read_file", "arguments": {"path": "src/a.rs"}}]}
//! # a stream that breaks off
//! {"contains": "summarise", "times": 1, "cut_after_chunks": 3, "chunk_delay_ms": 50}
//! # all other answers begin with thinking, which is bound to what stands in front of it
//! {"thinking": true, "bind_thinking": true}
//! ```
//!
//! Which requests (all that are given must hold): `request` (number, from 1), `from` and `to` (numbers, both
//! included), `model` (exact name), `contains` (a piece of the body as sent), `times` (at most so often).
//! Requests for answers are numbered over all APIs; those that only count tokens have no number and no step.
//! What becomes of them: `status` with `message` and `retry_after` (seconds), `window` (tokens; a larger request is an
//! overflow), `text`, `tool_calls` (each `name` and `arguments`), `thinking` (`true`: the answer begins with signed thinking or a
//! reasoning item), `bind_thinking` (whether thinking is checked as said above), `delay_ms` (before the answer's head),
//! `chunk_delay_ms` (between the chunks of a stream), `cut_after_chunks` (then the connection breaks off),
//! `usage` (`false`: the answer tells no figures).

pub mod agent;
mod api;
mod chat;
mod error;
mod exchange;
mod memo;
mod messages;
mod meter;
mod models;
mod options;
mod reply;
mod request;
mod responses;
mod router;
mod script;
mod serve;
#[cfg(test)]
mod testing;

pub use options::MockOptions;
pub use router::router;
pub use script::{Script, ScriptError};
pub use serve::{serve, spawn};

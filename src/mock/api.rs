use axum::response::Response;

use super::error::Refusal;
use super::exchange::Measured;
use super::reply::{Pace, Reply};
use super::router::{Mock, Question};
use super::{chat, messages, responses};

/// What a client speaks with the mock upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    Chat,
    Messages,
    Responses,
}

/// What a path is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// An answer of a model.
    Answer(Api),
    /// How many tokens a request has.
    Count,
    /// The list of models.
    Models,
}

impl Route {
    /// By how a path ends, so that any base path will do.
    pub(super) fn of(path: &str) -> Option<Self> {
        [
            ("/chat/completions", Self::Answer(Api::Chat)),
            ("/messages", Self::Answer(Api::Messages)),
            ("/messages/count_tokens", Self::Count),
            ("/responses", Self::Answer(Api::Responses)),
            ("/models", Self::Models),
        ]
        .into_iter()
        .find_map(|(ending, route)| path.ends_with(ending).then_some(route))
    }

    /// The API in whose shape errors are told.
    pub(super) fn api(self) -> Api {
        match self {
            Self::Answer(api) => api,
            Self::Count => Api::Messages,
            Self::Models => Api::Chat,
        }
    }
}

impl Api {
    /// Holds a request to the rules, and measures it.
    pub(super) fn read(self, mock: &Mock, question: &Question) -> Result<Measured, Refusal> {
        match self {
            Self::Chat => chat::read(mock, question),
            Self::Messages => messages::read(mock, question, true),
            Self::Responses => responses::read(mock, question),
        }
    }

    /// Whether a request of so many tokens, the answer it may have, and the window go together.
    pub(super) fn fits(self, input: u64, output_limit: u64, window: u64) -> Result<(), Refusal> {
        let asked = input + output_limit;
        match self {
            Self::Messages => messages::fits(input, output_limit, window),
            _ if asked <= window => Ok(()),
            Self::Chat => Err(Refusal::overflow("messages", asked, window)),
            Self::Responses => Err(Refusal::overflow("input", asked, window)),
        }
    }

    /// The answer in this API's shape. `created` is in seconds since the Unix epoch.
    pub(super) fn respond(self, reply: &Reply, measured: &Measured, pace: Pace, created: u64) -> Response {
        let model = &measured.model;
        match self {
            Self::Chat => {
                let shape = chat::Shape { reply, model, created };
                if measured.stream { shape.stream(pace, measured.include_usage) } else { shape.json(pace) }
            }
            Self::Messages => {
                let shape = messages::Shape { reply, model, prefix: measured.prefix };
                if measured.stream { shape.stream(pace) } else { shape.json(pace) }
            }
            Self::Responses => {
                let shape = responses::Shape { reply, model, created };
                if measured.stream { shape.stream(pace) } else { shape.json(pace) }
            }
        }
    }
}

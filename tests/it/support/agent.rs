use super::{Conversation, Message, Scene, Wire, changed_contents};

/// A client that sends its whole history every turn.
#[derive(Clone)]
pub(crate) struct Agent<'a> {
    scene: &'a Scene,
    headers: Vec<(String, String)>,
}

/// One request of an agent, and what became of it.
#[derive(Debug)]
pub(crate) struct Turn {
    /// The body that the agent sent.
    pub(crate) asked: Vec<u8>,
    /// What it got.
    pub(crate) answer: Message,
    /// What the provider got for it, each time.
    pub(crate) tries: Vec<Message>,
}

impl<'a> Agent<'a> {
    pub(crate) fn new(scene: &'a Scene) -> Self {
        Self { scene, headers: Vec::new() }.header("Content-Type", "application/json")
    }

    /// Sends this header with every request.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The request with this body, as it goes over the wire.
    pub(crate) fn request(&self, body: &[u8]) -> Vec<u8> {
        let mut head = "POST /v1/chat/completions HTTP/1.1\r\nHost: p\r\n".to_owned();
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.extend(["Content-Length: ", &body.len().to_string(), "\r\n\r\n"]);
        [head.as_bytes(), body].concat()
    }

    /// Sends a conversation, and waits until its session has taken the answer in.
    pub(crate) async fn asks(&self, conversation: &Conversation) -> Turn {
        let settled = self.scene.settled().await;
        let turn = self.posts(conversation.body()).await;
        self.scene.has_settled(settled + 1).await;
        turn
    }

    /// Sends any body.
    pub(crate) async fn posts(&self, body: impl Into<Vec<u8>>) -> Turn {
        let (asked, before) = (body.into(), self.scene.provider.received().len());
        let mut wire = self.begins(&asked).await;
        let answer = wire.message().await;
        let tries = self.scene.provider.received().split_off(before);
        Turn { asked, answer, tries }
    }

    /// Sends any body, and leaves the answer to be read.
    pub(crate) async fn begins(&self, body: &[u8]) -> Wire {
        let mut wire = self.scene.proxy.client().await;
        wire.send(self.request(body)).await;
        wire
    }
}

impl Turn {
    /// What the provider got, once.
    pub(crate) fn sent(&self) -> &Message {
        assert_eq!(self.tries.len(), 1, "the provider was asked once");
        &self.tries[0]
    }

    /// Places of the messages whose content the provider got changed. Nothing else may have changed.
    pub(crate) fn changed(&self) -> Vec<usize> {
        changed_contents(&self.asked, &self.sent().body)
    }

    /// Checks that the provider got the agent's own bytes.
    pub(crate) fn assert_untouched(&self) {
        let (asked, sent) = (&self.asked, &self.sent().body);
        assert!(asked == sent, "{} became {}", show(asked), show(sent));
    }

    /// What was done, as the answer tells.
    pub(crate) fn outcome(&self) -> &str {
        self.answer.value("x-secateur-outcome").expect("every answer tells")
    }
}

fn show(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(2_000).collect()
}

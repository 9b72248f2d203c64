use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The members of a JSON object in their order, with their values as they are spelt.
#[derive(Debug)]
pub(crate) struct Members(pub(crate) Vec<(String, Box<RawValue>)>);

impl Members {
    pub(crate) fn of(json: &[u8]) -> Self {
        serde_json::from_slice(json).expect("a JSON object")
    }

    /// A member's value as it is spelt.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.get())
    }

    /// All members but one, spelt out.
    fn without(&self, name: &str) -> Vec<(&str, &str)> {
        let others = self.0.iter().filter(|(own, _)| own != name);
        others.map(|(name, value)| (name.as_str(), value.get())).collect()
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Compares a chat request with what became of it: the places of the messages whose content differs. Fails when
/// anything else differs, be it the spelling of a number.
pub(crate) fn changed_contents(asked: &[u8], sent: &[u8]) -> Vec<usize> {
    let (asked, sent) = (Members::of(asked), Members::of(sent));
    assert_eq!(asked.without("messages"), sent.without("messages"));
    let messages = |request: &Members| -> Vec<Box<RawValue>> {
        serde_json::from_str(request.get("messages").expect("messages")).expect("a list")
    };
    let (asked, sent) = (messages(&asked), messages(&sent));
    assert_eq!(asked.len(), sent.len(), "messages were taken away or added");
    let differs = |(before, after): (&RawValue, &RawValue)| {
        if before.get() == after.get() {
            return false;
        }
        let (before, after) = (Members::of(before.get().as_bytes()), Members::of(after.get().as_bytes()));
        assert_eq!(before.without("content"), after.without("content"));
        assert_ne!(before.get("content"), after.get("content"), "white space was changed");
        true
    };
    let pairs = asked.iter().map(AsRef::as_ref).zip(sent.iter().map(AsRef::as_ref)).enumerate();
    pairs.filter(|(_, pair)| differs(*pair)).map(|(place, _)| place).collect()
}

/// Checks that every call is answered once, at once, and that nothing is answered that was not called.
pub(crate) fn assert_chain_holds(request: &Value) {
    let messages = request["messages"].as_array().expect("messages");
    let mut open = BTreeSet::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().expect("an id");
            assert!(open.remove(id), "{id} is answered, but not open");
            continue;
        }
        assert!(open.is_empty(), "{open:?} were never answered");
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open.extend(calls.map(|call| call["id"].as_str().expect("an id").to_owned()));
    }
    assert!(open.is_empty(), "{open:?} were never answered");
}

//! Steps that are several messages, as in formats where each call, result and thought is an entry of its own.

use super::{Bench, Quarter};
use crate::model::testing::Script;
use crate::model::{EditSet, Transcript};
use crate::prune::{Demand, Plan, Protection, Rules, Settings, Sizes};
use crate::tokens::Cached;

/// A window at risk, in which only folding helps: results are short, arguments long.
fn folded(transcript: &Transcript, limit: u64) -> Plan {
    let settings = Settings { keep_recent_messages: 2, keep_recent_tokens: 1, ..Settings::default() };
    Bench::new(settings).plan(transcript, EditSet::default(), Demand::AtRisk { goal: limit, limit })
}

#[test]
fn a_step_of_many_messages_is_folded_as_a_whole() {
    let long = "x = 1; ".repeat(400);
    let mut script = Script::default().user("go");
    for n in 0..6 {
        let id = |k: u8| format!("{n}{k}");
        script = script.thought("hm").reply("Both.").call(&id(1), "a", &long).call(&id(2), "b", &long);
        script = script.result(&id(2), "2").result(&id(1), "1");
    }
    let transcript = script.reply("done").transcript();
    let whole = Bench::new(Settings::default()).size(&transcript, &EditSet::default());
    for steps in 1..6 {
        let plan = folded(&transcript, whole * (12 - 2 * steps + 1) / 12);
        let [fold] = plan.edits.folds() else { panic!("{plan:?}") };
        assert_eq!(fold.items, 1..1 + 6 * steps as usize);
        assert!(fold.fold.text.starts_with(&format!("[{steps} earlier steps")));
    }
}

#[test]
fn what_is_not_understood_keeps_its_step() {
    let long = "x = 1; ".repeat(400);
    let transcript = Script::default()
        .user("go")
        .step("1", "a", &long, "1")
        .thought("look it up")
        .opaque("search")
        .thought("and then")
        .step("2", "b", &long, "2")
        .step("3", "c", &long, "3")
        .step("4", "d", "{}", "4")
        .transcript();
    let plan = folded(&transcript, 100);
    let folds: Vec<_> = plan.edits.folds().iter().map(|fold| fold.items.clone()).collect();
    assert_eq!(folds, [1..3, 8..10]);
}

#[test]
fn the_newest_group_is_all_results_since_the_model_spoke() {
    let group = |script: Script| {
        let transcript = script.transcript();
        let settings = Settings { keep_recent_messages: 0, keep_recent_tokens: 0, ..Settings::default() };
        let sizes = Sizes::count(&transcript, &Cached::new(Quarter, 9), 1);
        let all = Protection::of_all(&transcript, &sizes, &Rules::new(&settings).unwrap(), &settings);
        let newest = |(index, protection)| (protection == Some(Protection::NewestGroup)).then_some(index);
        all.into_iter().enumerate().filter_map(newest).collect::<Vec<usize>>()
    };
    let calls = || Script::default().step("0", "f", "{}", "0").call("1", "f", "{}").call("2", "g", "{}");
    assert_eq!(group(calls().result("1", "1").result("2", "2")), [4, 5]);
    assert_eq!(group(calls().result("1", "1").user("an image of it").result("2", "2").user("go on")), [4, 6]);
    assert_eq!(group(calls().result("1", "1").reply("?").result("2", "2")), [6]);
}

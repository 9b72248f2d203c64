//! What plans must keep, whatever the stage: written once for all of them.

mod steps;

use proptest::prelude::*;

use super::*;
use crate::model::testing::Script;
use crate::model::{EditSet, Item, ItemKind, Ledger, Role, Transcript};
use crate::tokens::{Cached, TokenCounter};

/// Counts a token for every four bytes: quick, and easy to reckon with.
struct Quarter;

impl TokenCounter for Quarter {
    fn count(&self, text: &str) -> u32 {
        text.len().div_ceil(4) as u32
    }
}

struct Bench {
    settings: Settings,
    counter: Cached,
}

impl Bench {
    fn new(settings: Settings) -> Self {
        Self { settings, counter: Cached::new(Quarter, 10_000) }
    }

    /// The plan for a demand, with `replayed` edits, at one real token per estimated one.
    fn plan(&self, transcript: &Transcript, replayed: EditSet, demand: Demand) -> Plan {
        let sizes = Sizes::count(transcript, &self.counter, 1_000);
        let size = Planner::estimate(&sizes, &replayed);
        let rules = Rules::new(&self.settings).unwrap();
        let planner = Planner { settings: &self.settings, rules: &rules, counter: &self.counter, frozen: 0 };
        planner.plan(transcript, &sizes, replayed, Aim { demand, size, ratio: 1.0 })
    }

    fn size(&self, transcript: &Transcript, edits: &EditSet) -> u64 {
        Planner::estimate(&Sizes::count(transcript, &self.counter, 1_000), edits)
    }
}

/// Everything unprotected in the zone of one stage.
fn forced(soft: f64, hard: f64, detail: f64) -> Settings {
    Settings {
        soft_threshold: soft,
        hard_threshold: hard,
        detail_threshold: detail,
        keep_recent_tokens: 1,
        keep_recent_messages: 2,
        hard_clear_placeholder: "[gone]".into(),
        trigger_every_n_tokens: 0,
        ..Settings::default()
    }
}

const OFF: f64 = 1e9;

fn lines(word: &str, n: usize) -> String {
    (0..n).map(|i| format!("{word} {i}\n")).collect()
}

fn garden() -> Script {
    Script::default()
        .system("You keep a garden.")
        .user("Look at the beds.")
        .step("1", "read", r#"{"path":"beds/north.txt"}"#, &lines("north", 300))
        .step("2", "read", r#"{"path":"beds/south.txt"}"#, &lines("south", 300))
        .reply("Both are dry.")
        .user("And the pond?")
        .step("3", "read", r#"{"path":"pond.txt"}"#, &lines("pond", 300))
}

fn edited(plan: &Plan) -> Vec<(usize, String)> {
    plan.edits.edits().map(|(index, edit)| (index, edit.text.to_string())).collect()
}

#[test]
fn only_old_tool_output_is_cleared() {
    let plan = Bench::new(forced(0.0, 0.0, OFF)).plan(
        &garden().transcript(),
        EditSet::default(),
        Demand::Prune { goal: 0 },
    );
    assert_eq!(edited(&plan), [(3, "[gone]".into()), (5, "[gone]".into())]);
}

#[test]
fn zones_take_the_oldest_hardest_and_the_other_origin_the_newest() {
    let settings = forced(0.2, 0.7, OFF);
    let kinds = |zone_origin| {
        let settings = Settings { zone_origin, ..settings.clone() };
        let goal = u64::MAX;
        let plan =
            Bench::new(settings).plan(&garden().transcript(), EditSet::default(), Demand::Prune { goal });
        plan.edits.edits().map(|(index, edit)| (index, edit.strength.as_str())).collect::<Vec<_>>()
    };
    // The outputs' middles lie at 1/6 and 1/2 of the list; neither is over `max_chars`, so soft leaves them.
    assert_eq!(kinds(ZoneOrigin::Newest), [(3, "hard")]);
    assert_eq!(kinds(ZoneOrigin::Oldest), []);
}

#[test]
fn widening_goes_only_as_far_as_needed_and_takes_large_outputs_first() {
    let transcript = Script::default()
        .user("go")
        .step("1", "a", "{}", &lines("small", 60))
        .step("2", "b", "{}", &lines("large one", 900))
        .step("3", "c", "{}", &lines("small too", 60))
        .step("4", "d", "{}", "ok")
        .transcript();
    let bench =
        Bench::new(Settings { keep_recent_tokens: 1, keep_recent_messages: 2, ..Settings::default() });
    let goal = bench.size(&transcript, &EditSet::default()) / 2;
    let plan = bench.plan(&transcript, EditSet::default(), Demand::Prune { goal });
    assert!(plan.edits.get(4).is_some(), "{plan:?}");
    assert!(plan.edits.get(6).is_none(), "{plan:?}");
    assert!(bench.size(&transcript, &plan.edits) <= goal);
}

#[test]
fn a_prune_that_saves_next_to_nothing_is_not_made() {
    let settings = Settings { trigger_every_n_tokens: 1_000, ..forced(0.0, 0.0, OFF) };
    let bench = Bench::new(settings);
    let steps = |lines_each| {
        let transcript = Script::default()
            .user("go")
            .step("1", "a", "{}", &lines("word", lines_each))
            .step("2", "b", "{}", "ok")
            .transcript();
        bench.plan(&transcript, EditSet::default(), Demand::Prune { goal: 0 }).steps.len()
    };
    // A line takes some two tokens here; a sixteenth of 1,000 is the least.
    assert_eq!((steps(30), steps(90)), (0, 1));
}

#[test]
fn a_stage_that_is_switched_off_never_runs() {
    let text = lines("row", 2_000);
    let transcript = Script::default()
        .user("go")
        .step("1", "a", "{}", &text)
        .step("2", "b", "{}", "ok")
        .user("on")
        .transcript();
    let plan =
        Bench::new(forced(0.0, OFF, OFF)).plan(&transcript, EditSet::default(), Demand::Prune { goal: 0 });
    let [(2, trimmed)] = &edited(&plan)[..] else { panic!("{plan:?}") };
    assert!(trimmed.starts_with("row 0\n") && trimmed.ends_with("row 1999\n") && trimmed.len() <= 4_100);
}

#[test]
fn what_was_overtaken_goes_first() {
    let page = lines("line", 300);
    let transcript = Script::default()
        .user("go")
        .step("1", "read_file", r#"{"path":"a.rs"}"#, &page)
        .step("2", "edit_file", r#"{"path":"a.rs","new":"x"}"#, "done")
        .step("3", "read_file", r#"{"path":"b.rs"}"#, &lines("other", 300))
        .step("4", "status", "{}", &lines("first look", 90))
        .step("5", "status", "{}", &lines("second look", 90))
        .step("6", "end", "{}", "ok")
        .transcript();
    let settings = Settings { soft_threshold: 0.0, ..forced(0.0, OFF, OFF) };
    let plan = Bench::new(settings).plan(&transcript, EditSet::default(), Demand::Prune { goal: 0 });
    assert_eq!(edited(&plan), [(2, "[gone]".into()), (8, "[gone]".into())]);
    assert!(plan.steps.iter().all(|step| step.stage == "superseded" && step.rung == 1));
}

#[test]
fn protected_tools_and_texts_stay() {
    let settings = Settings {
        protect_tools: vec!["read*".into()],
        protect_patterns: vec!["(?m)^south 7$".into()],
        ..forced(0.0, 0.0, OFF)
    };
    let other = Script::default()
        .user("go")
        .step("1", "read", "{}", &lines("north", 300))
        .step("2", "scan", "{}", &lines("south", 300))
        .step("3", "scan", r#"{"n":1}"#, &lines("west", 300))
        .step("4", "scan", r#"{"n":2}"#, "ok")
        .transcript();
    let plan = Bench::new(settings).plan(&other, EditSet::default(), Demand::Prune { goal: 0 });
    assert_eq!(edited(&plan), [(6, "[gone]".into())]);
}

#[test]
fn observations_of_text_agents_are_output() {
    let settings = Settings { observation_patterns: vec!["^Observation:".into()], ..forced(0.0, 0.0, OFF) };
    let transcript = Script::default()
        .user("Observe the birds.")
        .reply("Action: look")
        .user(&format!("Observation: {}", lines("bird", 200)))
        .reply("Action: wait")
        .user("Observation: none")
        .transcript();
    let plan = Bench::new(settings).plan(&transcript, EditSet::default(), Demand::Prune { goal: 0 });
    assert_eq!(edited(&plan), [(2, "[gone]".into())]);
}

#[test]
fn detail_keeps_conclusions_or_the_last_reply() {
    let transcript = Script::default()
        .user("go")
        .reply(&"I will run the tests now. ".repeat(10))
        .step("1", "run", "{}", &format!("{}3 passed, 1 failed\nbye", lines("case", 300)))
        .reply("One fails.")
        .user("fix it")
        .step("2", "run", r#"{"again":true}"#, "ok")
        .transcript();
    let at = |mode| Settings { detail_pruning_mode: mode, ..forced(0.0, 0.0, 0.0) };
    let plan = |mode| Bench::new(at(mode)).plan(&transcript, EditSet::default(), Demand::Prune { goal: 0 });
    let default = edited(&plan(DetailMode::Default));
    assert_eq!(default.len(), 1);
    assert!(default[0].1.starts_with("[old run output") && default[0].1.ends_with("3 passed, 1 failed"));
    let last = edited(&plan(DetailMode::KeepLastReply));
    assert_eq!(last.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn a_window_at_risk_reaches_the_newest_output_and_then_folds() {
    let mut script = Script::default().system("s").user("go");
    for n in 0..40 {
        let arguments = format!(r#"{{"code":"{}"}}"#, "let x = 1; ".repeat(60));
        script = script.step(&n.to_string(), "run", &arguments, &lines("out", 40));
    }
    let transcript = script.step("last", "dump", "{}", &lines("row of the dump", 4_000)).transcript();
    let bench = Bench::new(Settings::default());
    let limit = 4_000;
    let plan = bench.plan(&transcript, EditSet::default(), Demand::AtRisk { goal: limit, limit });
    assert!(bench.size(&transcript, &plan.edits) <= limit, "{:?}", plan.by_stage());
    let newest = transcript.items.len() - 1;
    assert!(plan.edits.get(newest).is_some(), "the newest output is larger than the window");
    assert_eq!(plan.edits.folds().len(), 1);
    assert!(plan.edits.folds()[0].fold.text.starts_with('['));
}

#[test]
fn a_step_goes_as_a_whole_or_not_at_all() {
    let step = |script: Script, id: &str| {
        let arguments = format!(r#"{{"code":"{}"}}"#, "let x = 1; ".repeat(200));
        script.reply("Next.").call(id, "run", &arguments).joined().result(id, &lines("out", 40))
    };
    let mut script = Script::default().user("go");
    for id in ["a", "b"] {
        script = step(script, id);
    }
    script = step(script, "with words").user("Wait.").joined();
    script = step(script, "c");
    script = script.call("d1", "run", "{}").call("d2", "run", "{}").joined().result("d1", &lines("out", 40));
    script = script.user("no answer to the second").reply("Well.");
    script = step(script, "e").step("last", "dump", "{}", &lines("row", 40));
    let transcript = script.transcript();
    let bench =
        Bench::new(Settings { keep_recent_messages: 1, keep_recent_tokens: 1, ..Settings::default() });
    let plan = bench.plan(&transcript, EditSet::default(), Demand::AtRisk { goal: 0, limit: 0 });
    let folded: Vec<_> = plan.edits.folds().iter().map(|fold| fold.messages.clone()).collect();
    assert_eq!(folded, [1..5, 7..9, 12..15]);
}

#[test]
fn what_is_left_out_weighs_nothing_and_stays_out() {
    let script =
        Script::default().user("go").thinking("one two three").thinking("four five six").reply("Done.");
    let transcript = script.transcript();
    let bench = Bench::new(Settings::default());
    let mut edits = EditSet::default();
    assert_eq!(edits.leave_out_reasoning(&transcript, 1), 1);
    assert!(bench.size(&transcript, &edits) < bench.size(&transcript, &EditSet::default()));
    let mut ledger = Ledger::default();
    ledger.remember(&edits, &transcript);
    assert_eq!(ledger.replay(&transcript).left_out().collect::<Vec<_>>(), [2]);
    let stored = serde_json::to_string(&ledger).unwrap();
    assert_eq!(serde_json::from_str::<Ledger>(&stored).unwrap(), ledger);
    assert_eq!(serde_json::from_str::<Ledger>(r#"{"edits":{},"folds":[]}"#).unwrap(), Ledger::default());
}

/// Random conversations of an agent.
fn conversations() -> impl Strategy<Value = Transcript> {
    let output = prop_oneof![
        Just(String::new()),
        "[a-z/._0-9 \n]{0,80}",
        (0_usize..400).prop_map(|n| lines("word", n))
    ];
    let step = (0_usize..8, 0_usize..4, output);
    proptest::collection::vec(step, 0..25).prop_map(|steps| {
        let mut script = Script::default().system("You help.").user("Begin.");
        for (kind, id, text) in steps {
            script = match kind {
                0 => script.user(&text),
                1 => script.reply(&text),
                2 => script.result("lone", &text),
                3 => script.thought(&text),
                4 => script
                    .call(&format!("a{id}"), "tool", &lines("word", 90))
                    .call(&format!("b{id}"), "tool", &text)
                    .result(&format!("b{id}"), &text)
                    .result(&format!("a{id}"), &text),
                6 => script.user(&text).joined(),
                7 => script.call(&id.to_string(), "tool", "{}").joined(),
                _ => script.step(&id.to_string(), "tool", &format!(r#"{{"path":"f{id}"}}"#), &text),
            };
        }
        script.transcript()
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let start = || prop_oneof![Just(0.0), 0.0..1.0_f64, Just(500.0), Just(OFF)];
    let mode = prop_oneof![Just(DetailMode::Default), Just(DetailMode::KeepLastReply)];
    let origin = prop_oneof![Just(ZoneOrigin::Newest), Just(ZoneOrigin::Oldest)];
    (start(), start(), start(), mode, origin, 0_usize..8, 0_u64..600).prop_map(
        |(soft, hard, detail, mode, zone_origin, keep_recent_messages, keep_recent_tokens)| Settings {
            soft_threshold: soft,
            hard_threshold: hard,
            detail_threshold: detail,
            detail_pruning_mode: mode,
            zone_origin,
            keep_recent_messages,
            keep_recent_tokens,
            soft_trim: SoftTrim { max_chars: 400, head_chars: 100, tail_chars: 100 },
            trigger_every_n_tokens: 0,
            ..Settings::default()
        },
    )
}

fn demands() -> impl Strategy<Value = Demand> {
    prop_oneof![
        (0_u64..3_000).prop_map(|goal| Demand::Prune { goal }),
        (0_u64..3_000).prop_map(|goal| Demand::AtRisk { goal, limit: goal }),
    ]
}

proptest! {
    #[test]
    fn a_plan_touches_only_what_it_may_and_shrinks_it(transcript in conversations(), settings in settings(), demand in demands()) {
        let bench = Bench::new(settings);
        let plan = bench.plan(&transcript, EditSet::default(), demand);
        for (index, edit) in plan.edits.edits() {
            let kind = &transcript.items[index].kind;
            let reply = ItemKind::Message { role: Role::Assistant };
            prop_assert!(transcript.items[index].is_tool_result() || *kind == reply, "{kind:?}");
            prop_assert!(edit.text.len() < transcript.text(index).len() && !edit.text.is_empty());
            prop_assert!(edit.tokens_after < edit.tokens_before);
        }
        for fold in plan.edits.folds() {
            for index in fold.items.clone() {
                if let ItemKind::ToolResult(result) = &transcript.items[index].kind {
                    prop_assert!(fold.items.contains(&result.call.unwrap()));
                }
                let user = ItemKind::Message { role: Role::User };
                prop_assert!(transcript.items[index].kind != user);
            }
            let is_thought = |index: usize| transcript.items[index].kind == ItemKind::Reasoning;
            let next = transcript.items.get(fold.items.end);
            prop_assert!(fold.items.start == 0 || !is_thought(fold.items.start - 1));
            prop_assert!(!is_thought(fold.items.end - 1) || next.is_none_or(Item::is_asked));
        }
        prop_assert!(bench.size(&transcript, &plan.edits) <= bench.size(&transcript, &EditSet::default()));
    }

    #[test]
    fn planning_twice_changes_nothing(transcript in conversations(), settings in settings(), demand in demands()) {
        let bench = Bench::new(settings);
        let first = bench.plan(&transcript, EditSet::default(), demand);
        let mut ledger = Ledger::default();
        ledger.remember(&first.edits, &transcript);
        let replayed = ledger.replay(&transcript);
        prop_assert_eq!(edited(&first), edited(&Plan::replay(replayed.clone())));
        prop_assert_eq!(first.edits.folds().len(), replayed.folds().len());
        // A goal that was reached asks for nothing more.
        let goal = bench.size(&transcript, &replayed);
        if let Demand::Prune { .. } = demand {
            let again = bench.plan(&transcript, replayed, Demand::Prune { goal });
            let stronger = again.steps.iter().filter(|s| s.rung >= 3).count();
            prop_assert_eq!(stronger, 0, "{:?}", again.steps);
        }
    }

    #[test]
    fn replaying_is_idempotent(transcript in conversations(), settings in settings(), demand in demands()) {
        let plan = Bench::new(settings).plan(&transcript, EditSet::default(), demand);
        let mut once = Ledger::default();
        once.remember(&plan.edits, &transcript);
        let mut twice = once.clone();
        twice.remember(&once.replay(&transcript), &transcript);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn the_same_input_gives_the_same_plan(transcript in conversations(), settings in settings(), demand in demands()) {
        let plan = || edited(&Bench::new(settings.clone()).plan(&transcript, EditSet::default(), demand));
        prop_assert_eq!(plan(), plan());
    }
}

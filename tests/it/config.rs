//! Settings: the shipped files, precedence, and what is printed.

use std::path::Path;

use proptest::prelude::*;
use secateur::config::{Config, Flag, Loaded, Sources, load};
use toml::{Table, Value};

fn shipped(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config").join(name);
    std::fs::read_to_string(path).expect("the file is part of the project")
}

fn load_text(text: &str) -> Loaded {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let file = folder.path().join("secateur.toml");
    std::fs::write(&file, text).expect("the folder is new");
    load(&Sources { file: Some(file), ..Sources::default() }).unwrap_or_else(|error| panic!("{error}"))
}

/// The dotted paths of all values below `table`.
fn leaves(table: &Table, above: &str) -> Vec<String> {
    table
        .iter()
        .flat_map(|(name, value)| match value {
            Value::Table(below) => leaves(below, &format!("{above}{name}.")),
            _ => vec![format!("{above}{name}")],
        })
        .collect()
}

#[test]
fn the_default_file_is_the_defaults() {
    assert_eq!(load_text(&shipped("default.toml")).config, Config::default());
}

#[test]
fn the_default_file_names_every_key() {
    let written: Table = shipped("default.toml").parse().unwrap();
    let written = leaves(&written, "");
    for key in leaves(&Table::try_from(Config::default()).unwrap(), "") {
        assert!(written.contains(&key), "config/default.toml lacks {key}");
    }
    for chosen in ["[upstreams.local]", "[models.\"gpt-4o*\"]", "context_window", "# url ="] {
        assert!(shipped("default.toml").contains(chosen), "config/default.toml lacks {chosen}");
    }
}

#[test]
fn what_the_default_file_shows_in_comments_is_valid() {
    let text = shipped("default.toml")
        .replace("# [upstreams.local]\n# ", "[upstreams.local]\n")
        .replace("# [models.\"gpt-4o*\"]\n# ", "[models.\"gpt-4o*\"]\n")
        .replace("# pruning_threshold = 0.75", "pruning_threshold = 0.75")
        .replace("# soft_trim = {", "soft_trim = {");
    let loaded = load_text(&text);
    assert_eq!(loaded.config.upstreams["local"].url, "http://127.0.0.1:11434");
    let pipeline = loaded.config.pipeline();
    let (pattern, policy) = &pipeline.models[0];
    assert_eq!((pattern.as_str(), policy.context_window), ("gpt-4o*", Some(128_000)));
    assert_eq!((policy.pruning.pruning_threshold, policy.pruning.soft_trim.max_chars), (0.75, 2_000));
}

#[test]
fn the_ready_examples_load_without_a_word() {
    for name in ["anthropic.toml", "openrouter.toml", "openai.toml", "local-llm.toml"] {
        let loaded = load_text(&shipped(name));
        assert!(loaded.warnings.is_empty(), "{name}: {:?}", loaded.warnings);
        loaded.ready_to_serve().unwrap();
    }
}

#[test]
fn a_models_settings_lie_over_the_general_ones_in_the_order_of_the_file() {
    let loaded = load_text(
        r#"
        [pruning]
        prune_to = 0.5
        soft_trim = { max_chars = 9000 }
        [models."z*"]
        keep_recent_messages = 3
        [models."a*"]
        soft_trim_head_chars = 100
        context_window = 32000
        [models."none*"]
        "#,
    );
    let pipeline = loaded.config.pipeline();
    let names: Vec<&str> = pipeline.models.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["z*", "a*", "none*"]);
    let [z, a, none] = [0, 1, 2].map(|n| &pipeline.models[n].1);
    assert_eq!((z.pruning.keep_recent_messages, z.pruning.prune_to, z.context_window), (3, 0.5, None));
    assert_eq!((a.pruning.soft_trim.max_chars, a.pruning.soft_trim.head_chars), (9_000, 100));
    assert_eq!(a.context_window, Some(32_000));
    assert_eq!(*none, pipeline.default);
}

#[test]
fn the_printed_configuration_is_the_configuration() {
    for name in ["default.toml", "anthropic.toml", "openrouter.toml", "openai.toml", "local-llm.toml"] {
        let loaded = load_text(&shipped(name));
        assert_eq!(load_text(&loaded.to_toml()).config, loaded.config, "{name}");
    }
}

#[test]
fn the_printed_configuration_says_where_values_come_from_and_hides_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secateur.toml");
    std::fs::write(&file, "[pruning]\ndetail_placeholder = \"see https://me:sesame@host.example/v1\"\n")
        .unwrap();
    let loaded = load(&Sources {
        file: Some(file),
        variables: vec![("SECATEUR_PRUNE_TO".to_owned(), "0.5".to_owned())],
        flags: vec![Flag { name: "--mode", key: "mode", value: "observe".to_owned() }],
    })
    .unwrap();
    let printed = loaded.to_toml();
    assert!(!printed.contains("sesame"), "{printed}");
    for (line, origin) in [
        (r#"detail_placeholder = "see https://***@host.example/v1""#, "secateur.toml:2"),
        ("prune_to = 0.5", "# SECATEUR_PRUNE_TO"),
        (r#"mode = "observe""#, "# --mode"),
    ] {
        let shown =
            printed.lines().find(|shown| shown.starts_with(line)).unwrap_or_else(|| panic!("{printed}"));
        assert!(shown.ends_with(origin), "{shown}");
    }
    assert!(printed.contains("\nkeep_recent_messages = 10\n"), "a default has no origin:\n{printed}");
}

/// A key that can be set in every way, with the values that each way gives it.
fn settings() -> impl Strategy<Value = (&'static str, &'static str, &'static str, [Option<String>; 3])> {
    let numbers =
        proptest::array::uniform3(proptest::option::of((200u64..5_000).prop_map(|n| n.to_string())));
    let words = |words: &'static [&'static str]| {
        proptest::array::uniform3(proptest::option::of(
            proptest::sample::select(words).prop_map(str::to_owned),
        ))
    };
    prop_oneof![
        numbers.clone().prop_map(|v| ("upstream", "idle_timeout_ms", "SECATEUR_UPSTREAM_IDLE_TIMEOUT_MS", v)),
        numbers.prop_map(|v| ("pruning", "keep_recent_tokens", "SECATEUR_KEEP_RECENT_TOKENS", v)),
        words(&["prune", "observe", "off"]).prop_map(|v| ("", "mode", "SECATEUR_MODE", v)),
        words(&["newest", "oldest"]).prop_map(|v| (
            "pruning",
            "zone_origin",
            "SECATEUR_PRUNING_ZONE_ORIGIN",
            v
        )),
        words(&["a", "b", "c"]).prop_map(|v| ("upstream", "url", "SECATEUR_UPSTREAM_URL", v)).prop_map(
            |(t, k, e, v)| (t, k, e, v.map(|host| host.map(|host| format!("http://{host}.example"))))
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flags_are_above_the_environment_above_the_file_above_the_defaults(
        (table, key, variable, values) in settings(),
    ) {
        let dotted = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
        let [in_file, in_environment, in_flags] = values;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secateur.toml");
        let text = in_file.as_ref().map_or_else(String::new, |value| {
            let value = value.parse::<u64>().map_or_else(|_| format!("{value:?}"), |n| n.to_string());
            let header = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
            format!("{header}{key} = {value}\n")
        });
        std::fs::write(&file, text).unwrap();
        let leaked: &'static str = Box::leak(dotted.clone().into_boxed_str());
        let sources = Sources {
            file: Some(file),
            variables: in_environment.iter().map(|v| (variable.to_owned(), v.clone())).collect(),
            flags: in_flags.iter().map(|v| Flag { name: "--it", key: leaked, value: v.clone() }).collect(),
        };
        let loaded = load(&sources).unwrap_or_else(|error| panic!("{error}"));
        let shown = |config: &Config| {
            let config = Value::try_from(config).unwrap();
            let value = dotted.split('.').try_fold(&config, |value, name| value.get(name));
            value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        let expected = in_flags.or(in_environment).or(in_file);
        prop_assert_eq!(shown(&loaded.config), expected.or_else(|| shown(&Config::default())));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[ -~\n\\[\\]=\"{}é]{0,200}", json in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secateur.toml");
        std::fs::write(&file, if json { format!("{{{text}") } else { text }).unwrap();
        if let Err(error) = load(&Sources { file: Some(file), ..Sources::default() }) {
            prop_assert!(!error.problems.is_empty());
            prop_assert!(error.to_string().len() > 20);
        }
    }
}

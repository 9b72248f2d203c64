//! What is said about mistakes in a configuration. These texts are part of the product.

use secateur::config::{Flag, Loaded, Sources, load};

fn load_file(name: &str, text: &str, sources: Sources) -> Result<Loaded, String> {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let file = folder.path().join(name);
    std::fs::write(&file, text).expect("the folder is new");
    let shorter = |text: String| text.replace(&file.display().to_string(), name);
    load(&Sources { file: Some(file.clone()), ..sources }).map_err(|error| shorter(error.to_string()))
}

fn mistakes(text: &str) -> String {
    load_file("secateur.toml", text, Sources::default()).expect_err("there is a mistake")
}

fn variable(name: &str, value: &str) -> String {
    let variables = vec![(name.to_owned(), value.to_owned())];
    load(&Sources { variables, ..Sources::default() }).expect_err("there is a mistake").to_string()
}

fn warnings(loaded: &Loaded) -> String {
    let shown: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let text = shown.join("\n\n");
    // The folder of the file is another one each time.
    text.lines()
        .map(|line| match line.split_once("--> ") {
            Some((front, place)) => format!("{front}--> {}", place.rsplit('/').next().unwrap_or(place)),
            None => line.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn misspelt_key() {
    insta::assert_snapshot!(mistakes("[pruning]\nprunning_threshold = 50000\n"));
}

#[test]
fn misspelt_table() {
    insta::assert_snapshot!(mistakes("[prunning]\npruning_threshold = 50000\n"));
}

#[test]
fn key_in_the_wrong_table() {
    insta::assert_snapshot!(mistakes("keep_recent_tokens = 10\n[upstream]\nlisten = \"127.0.0.1:1\"\n"));
}

#[test]
fn wrong_types() {
    insta::assert_snapshot!(mistakes(
        r#"listen = 8790
mode = "pruning"
[pruning]
pruning_threshold = "80000"
keep_recent_messages = -1
protect_tools = "read_file"
prune_to = 60
skip_tools_with_images = 1
soft_trim = 4000
protect_patterns = ["a", 1]
"#
    ));
}

#[test]
fn several_at_once() {
    insta::assert_snapshot!(mistakes(
        r#"listen = ":8790"
[upstream]
url = "openrouter.ai/api/v1"
api_key = "sk-never-shown"
[pruning]
keep_recent_message = 4
soft_threshold = 0.9
protect_patterns = ["ok", "(unclosed"]
protect_tools = ["[a"]
[pruning.soft_trim]
max_chars = 2000
[models."gpt-4o*"]
context_windw = 128000
prune_to = 1.5
"#
    ));
}

#[test]
fn not_toml() {
    insta::assert_snapshot!(mistakes("listen = \"127.0.0.1:1\nmode = prune\n"));
}

#[test]
fn addresses_that_collide() {
    insta::assert_snapshot!(mistakes("listen = \"0.0.0.0:80\"\nadmin_listen = \"127.0.0.1:80\"\n"));
}

#[test]
fn an_upstream_that_is_the_proxy_itself() {
    insta::assert_snapshot!(mistakes("[upstream]\nurl = \"http://localhost:8790/v1\"\n"));
}

#[test]
fn a_secret_in_a_wrong_url_is_hidden() {
    let text = mistakes("[upstream]\nurl = \"ftp://me:sesame@host.example\"\n");
    assert!(!text.contains("sesame"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn unknown_variable() {
    insta::assert_snapshot!(variable("SECATEUR_PRUNING_TRESHOLD", "1"));
}

#[test]
fn wrong_variable() {
    insta::assert_snapshot!(variable("SECATEUR_KEEP_RECENT_TOKENS", "ten thousand"));
}

#[test]
fn wrong_flag() {
    let flags = vec![Flag { name: "--log-level", key: "log.level", value: "verbose".to_owned() }];
    let error = load(&Sources { flags, ..Sources::default() }).expect_err("there is a mistake");
    insta::assert_snapshot!(error.to_string());
}

#[test]
fn missing_file() {
    let variables = vec![("SECATEUR_CONFIG".to_owned(), "/no/such/file.toml".to_owned())];
    let error = load(&Sources { variables, ..Sources::default() }).expect_err("there is a mistake");
    insta::assert_snapshot!(error.to_string());
}

#[test]
fn no_upstream() {
    let loaded = load(&Sources::default()).unwrap();
    insta::assert_snapshot!(loaded.ready_to_serve().expect_err("no upstream is set").to_string());
}

const OPENCLAW: &str = r#"// the user's own file
{
  gateway: { port: 18789, },
  plugins: {
    entries: {
      'other': { enabled: true },
      "easy-pruning": {
        "enabled": true,
        "config": {
          "pruning_threshold": 120000,
          "trigger_every_n_tokens": 6e3,
          "keep_recent_tokens": 24000.5, // rounded down there
          "keep_rencent_message": 12,
          "soft_threshold": 0.8, "hard_threshold": 0.5, "detail_threshold": 0.9,
          "soft_trim": { "max_chars": 2000, },
          "hard_clear_placeholder": "",
          "detail_pruning_mode": "model_summary",
          "detail_summary_model": "vendor/small:free",
          "detail_summary_timeout_ms": 12000,
          "detail_batch_enabled": true,
          "compaction_threshold_hint": 150000,
          "debug_preview_chars": 240,
          "debug_log_file": null,
        }
      }
    }
  }
}
"#;

#[test]
fn a_block_of_the_ancestor_is_taken_as_it_is() {
    let loaded = load_file("openclaw.json", OPENCLAW, Sources::default()).unwrap();
    let pruning = &loaded.config.pruning;
    assert_eq!((pruning.pruning_threshold, pruning.trigger_every_n_tokens), (120_000.0, 6_000));
    assert_eq!((pruning.keep_recent_tokens, pruning.keep_recent_messages), (24_000, 12));
    assert_eq!((pruning.soft_threshold, pruning.hard_threshold, pruning.detail_threshold), (0.8, 0.8, 0.9));
    assert_eq!((pruning.soft_trim.head_chars, pruning.soft_trim.tail_chars), (1_000, 1_000));
    assert_eq!((pruning.summary.model.as_str(), pruning.summary.timeout_ms), ("vendor/small:free", 12_000));
    assert_eq!(loaded.config.debug_preview_chars, 240);
    assert_eq!(pruning.hard_clear_placeholder, secateur::prune::HARD_PLACEHOLDER);
    insta::assert_snapshot!(warnings(&loaded));
}

#[test]
fn the_block_alone_is_taken_too() {
    let block =
        r#"{"pruning_threshold": 1, "soft_threshold": 0, "hard_threshold": 0, "detail_threshold": 0}"#;
    let loaded = load_file("block.json", block, Sources::default()).unwrap();
    let pruning = &loaded.config.pruning;
    assert_eq!((pruning.pruning_threshold, pruning.detail_threshold), (1.0, 0.0));
}

#[test]
fn a_switched_off_plugin_switches_pruning_off() {
    let entry = r#"{"enabled": false, "config": {"pruning_threshold": 50000}}"#;
    let loaded = load_file("entry.json", entry, Sources::default()).unwrap();
    assert_eq!(loaded.config.mode, secateur::pipeline::Mode::Off);
    insta::assert_snapshot!(warnings(&loaded));
}

#[test]
fn mistakes_in_a_block() {
    let block = r#"{
  "pruning_threshold": "many",
  "keep_recent_tokns": 10,
  "detail_pruning_mode": "summary",
  "soft_trim": {"max_char": 1}
}"#;
    insta::assert_snapshot!(load_file("block.json", block, Sources::default()).expect_err("it has mistakes"));
}

#[test]
fn openclaw_without_the_plugin() {
    let text = r#"{"plugins": {"entries": {"other": {}}}}"#;
    insta::assert_snapshot!(
        load_file("openclaw.json", text, Sources::default()).expect_err("it has no block")
    );
}

#[test]
fn broken_json() {
    insta::assert_snapshot!(
        load_file("block.json", "{\n  \"pruning_threshold\" 1\n}", Sources::default()).expect_err("not JSON")
    );
}

#[test]
fn the_extremes_that_switch_single_stages_on_and_off_are_valid() {
    for (soft, hard, detail) in [("0", "1000000000", "1000000000"), ("0", "0", "1000000000"), ("0", "0", "0")]
    {
        let text = format!(
            "[pruning]\nkeep_recent_tokens = 1\nsoft_threshold = {soft}\nhard_threshold = {hard}\n\
             detail_threshold = {detail}\npruning_threshold = 600\n"
        );
        let loaded = load_file("secateur.toml", &text, Sources::default()).unwrap();
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    }
}

#[test]
fn a_mistake_in_a_models_settings_points_there_and_an_inherited_one_is_reported_once() {
    let text = mistakes(
        "[pruning]\nsoft_threshold = 0.9\n[models.\"a\"]\nprune_to = 0.5\n[models.\"b\"]\nhard_threshold = 0.1\n",
    );
    insta::assert_snapshot!(text);
}

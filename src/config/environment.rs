use toml::Value;

use super::entry::{Entry, Path, Said, dotted, mistake};
use super::load::Flag;
use super::shape::{Shape, closest};
use super::{Place, Problem};

/// What every variable of ours begins with.
const PREFIX: &str = "SECATEUR_";
/// The variable that names the file.
pub(super) const FILE: &str = "SECATEUR_CONFIG";

/// The `SECATEUR_*` variables of this process, by name.
pub(super) fn of_process() -> Vec<(String, String)> {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let mut ours: Vec<(String, String)> = std::env::vars_os()
        .map(|(name, value)| (text(name), text(value)))
        .filter(|(name, _)| name.starts_with(PREFIX))
        .collect();
    ours.sort();
    ours
}

/// Reads `SECATEUR_*` variables; other variables are left out.
pub(super) fn read(variables: &[(String, String)]) -> Said {
    let names = names();
    let mut said = Said::default();
    for (variable, text) in variables {
        let Some(name) = variable.strip_prefix(PREFIX) else { continue };
        if variable == FILE || is_service_link(name) {
            continue;
        }
        let place = Place::Named(variable.clone());
        let known = names.iter().find(|(known, _)| known == name).map(|(_, path)| path.clone());
        if let Some(path) = known.or_else(|| chosen(name)) {
            add(&mut said, path, text, place);
        } else {
            said.problems
                .push(Problem::new(place, format!("unknown variable {variable}")).note(meant(name, &names)));
        }
    }
    said
}

/// What the user meant by an unknown name.
fn meant(name: &str, names: &[(String, Path)]) -> String {
    if let Some(meant) = closest(name, names.iter().map(|(known, _)| known.as_str())) {
        format!("did you mean {PREFIX}{meant}?")
    } else if name.starts_with("MODELS") {
        "[models] can only be set in the file".to_owned()
    } else {
        "variables are named after the keys, tables in front: \
         SECATEUR_LISTEN, SECATEUR_UPSTREAM_URL, SECATEUR_PRUNING_PRUNE_TO"
            .to_owned()
    }
}

/// Reads what the command line says.
pub(super) fn flags(flags: &[Flag]) -> Said {
    let mut said = Said::default();
    for flag in flags {
        let path = flag.key.split('.').map(str::to_owned).collect();
        add(&mut said, path, &flag.value, Place::Named(flag.name.to_owned()));
    }
    said
}

fn add(said: &mut Said, path: Path, text: &str, place: Place) {
    let shape = Shape::config().at(&path).expect("only paths of the shape are looked up");
    let value = parse(text, shape);
    if let Some((what, _)) = mistake(&path, &value, shape) {
        // Advice about quotes is for files; a list is the one kind that needs an explanation here.
        let remedy = match shape {
            Shape::List => r#"separate the entries by commas, or write a JSON list: ["a", "b"]"#.to_owned(),
            Shape::Text => mistake(&path, &value, shape).map(|(_, remedy)| remedy).unwrap_or_default(),
            _ => String::new(),
        };
        said.problems.push(Problem::new(place, what).note(remedy));
        said.wrong.push(path);
        return;
    }
    if let Some(other) = said.entries.iter().find(|entry| entry.path == path) {
        if other.value != value {
            let first = other.place.brief().unwrap_or_default();
            said.problems.push(
                Problem::new(place, format!("`{}` is given twice, with different values", dotted(&path)))
                    .note(format!("the other is {first}; keep one of them")),
            );
        }
        return;
    }
    said.entries.push(Entry { path, value, place });
}

/// A text as the kind of value that belongs to `shape`; a text where it is none.
fn parse(text: &str, shape: &Shape) -> Value {
    let trimmed = text.trim();
    let as_text = || Value::String(text.to_owned());
    match shape {
        Shape::Flag => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Value::Boolean(true),
            "false" | "0" | "no" | "off" => Value::Boolean(false),
            _ => as_text(),
        },
        Shape::Whole => trimmed.replace('_', "").parse().map_or_else(|_| as_text(), Value::Integer),
        Shape::Number => trimmed.replace('_', "").parse().map_or_else(|_| as_text(), Value::Float),
        Shape::List if trimmed.starts_with('[') => match serde_json::from_str::<Vec<String>>(trimmed) {
            Ok(list) => Value::Array(list.into_iter().map(Value::String).collect()),
            Err(_) => as_text(),
        },
        Shape::List => Value::Array(
            trimmed.split(',').map(str::trim).filter(|one| !one.is_empty()).map(Value::from).collect(),
        ),
        Shape::Text | Shape::Table(_) | Shape::Chosen(_) => as_text(),
    }
}

/// Every fixed name behind the prefix. Keys of `[pruning]` may leave the table's name out where no other key has
/// that name.
fn names() -> Vec<(String, Path)> {
    let variable = |path: &[String]| path.join("_").to_uppercase();
    let mut names: Vec<(String, Path)> =
        Shape::config().leaves().into_iter().map(|path| (variable(&path), path)).collect();
    let pruning: Vec<Path> =
        names.iter().map(|(_, path)| path.clone()).filter(|path| path[0] == "pruning").collect();
    let mut also: Vec<(String, Path)> =
        pruning.iter().map(|path| (variable(&path[1..]), path.clone())).collect();
    for path in &pruning {
        if path[1] == "summary" {
            let ancestors = format!("DETAIL_{}", variable(&path[1..]));
            also.push((format!("PRUNING_{ancestors}"), path.clone()));
            also.push((ancestors, path.clone()));
        }
    }
    for (name, path) in also {
        if !names.iter().any(|(known, _)| *known == name) {
            names.push((name, path));
        }
    }
    names
}

/// `UPSTREAMS_NAME_URL`: a named upstream; the name in lower case.
fn chosen(name: &str) -> Option<Path> {
    let name = name.strip_prefix("UPSTREAMS_")?.strip_suffix("_URL")?;
    (!name.is_empty()).then(|| vec!["upstreams".to_owned(), name.to_lowercase(), "url".to_owned()])
}

/// Kubernetes describes every service of a namespace in variables of this form to all its containers, so also a
/// service that is called `secateur`; they were not meant for us.
fn is_service_link(name: &str) -> bool {
    let parts: Vec<&str> = name.split('_').collect();
    let port = |rest: &[&str]| {
        matches!(
            rest,
            [] | [_, "TCP" | "UDP" | "SCTP"] | [_, "TCP" | "UDP" | "SCTP", "ADDR" | "PORT" | "PROTO"]
        ) && rest.first().is_none_or(|number| number.parse::<u16>().is_ok())
    };
    (0..parts.len()).any(|n| match &parts[n..] {
        ["SERVICE", "HOST"] | ["SERVICE", "PORT", ..] => true,
        ["PORT", rest @ ..] => port(rest),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(name: &str, text: &str) -> Said {
        read(&[(name.to_owned(), text.to_owned())])
    }

    #[test]
    fn names_mirror_the_keys() {
        let paths = [
            ("SECATEUR_STATE_DIR", "state_dir"),
            ("SECATEUR_UPSTREAM_URL", "upstream.url"),
            ("SECATEUR_PRUNING_PRUNING_THRESHOLD", "pruning.pruning_threshold"),
            ("SECATEUR_PRUNING_THRESHOLD", "pruning.pruning_threshold"),
            ("SECATEUR_PRUNING_SOFT_TRIM_MAX_CHARS", "pruning.soft_trim.max_chars"),
            ("SECATEUR_SOFT_TRIM_MAX_CHARS", "pruning.soft_trim.max_chars"),
            ("SECATEUR_DETAIL_SUMMARY_TIMEOUT_MS", "pruning.summary.timeout_ms"),
            ("SECATEUR_UPSTREAMS_LOCAL_URL", "upstreams.local.url"),
        ];
        for (variable, path) in paths {
            let said = read_one(variable, "7");
            assert!(said.problems.is_empty(), "{:?}", said.problems);
            assert_eq!(dotted(&said.entries[0].path), path, "{variable}");
        }
    }

    #[test]
    fn no_short_name_means_two_keys() {
        let names = names();
        for (name, _) in &names {
            assert_eq!(names.iter().filter(|(other, _)| other == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn lists_are_json_or_separated_by_commas() {
        let list = |text| read_one("SECATEUR_PROTECT_TOOLS", text).entries.remove(0).value;
        assert_eq!(list("read, grep"), Value::from(vec!["read", "grep"]));
        assert_eq!(list(r#"["a,b", "c"]"#), Value::from(vec!["a,b", "c"]));
        assert_eq!(list(""), Value::Array(Vec::new()));
    }

    #[test]
    fn variables_that_kubernetes_makes_for_a_service_are_not_ours() {
        for name in [
            "SECATEUR_SERVICE_HOST",
            "SECATEUR_SERVICE_PORT",
            "SECATEUR_SERVICE_PORT_HTTP",
            "SECATEUR_PORT",
            "SECATEUR_PORT_8790_TCP",
            "SECATEUR_PORT_8790_TCP_ADDR",
            "SECATEUR_PROXY_SERVICE_HOST",
        ] {
            let said = read_one(name, "10.0.0.1");
            assert!(said.problems.is_empty() && said.entries.is_empty(), "{name}");
        }
        assert_eq!(read_one("SECATEUR_PORTS", "1").problems.len(), 1);
    }
}

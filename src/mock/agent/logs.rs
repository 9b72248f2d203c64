use super::output::{Kind, Output};
use super::project::Project;
use super::random::{HEX, Random};
use super::words::{name, noun};

/// A test run: many that pass, a few that fail, with their places.
pub(super) fn tests(out: &mut Output, project: &Project, random: &mut Random) {
    let failures = if out.left() < 400 { 0 } else { random.below(5) };
    let mut failed: Vec<String> = Vec::new();
    let mut passed = 0;
    out.line(&format!("collected {} tests", random.between(40, 900)));
    // Each failure takes some 350 bytes at the end.
    while out.left() > 60 + failures * 350 {
        let test = test_name(project, random);
        if failed.len() < failures && random.chance(0.1) {
            out.line(&format!("FAIL {test} ({} ms)", random.between(1, 4000)));
            failed.push(test);
        } else {
            out.line(&format!("ok   {test} ({} ms)", random.between(1, 900)));
            passed += 1;
        }
    }
    for test in &failed {
        let file = project.any(random);
        let line = random.between(10, 200);
        let vocabulary = &project.vocabulary;
        out.line("");
        out.line(&format!("---- {test} ----"));
        out.line(&format!("{}:{line}: assertion failed: {}", file.path, vocabulary.fill("{s}", random)));
        out.line(&vocabulary.fill("  left:  {T} { {n}: {D}, {a}: true, {n}: \"{h}\" }", random));
        out.line(&vocabulary.fill("  right: {T} { {n}: {D}, {a}: false, {n}: \"{h}\" }", random));
        out.line(&format!("  at {}:{}", project.any(random).path, random.between(10, 200)));
        out.mention(Kind::Path, &file.path, line);
        out.mention(Kind::Test, test, 0);
    }
    out.line(&format!("{passed} passed, {} failed", failed.len()));
}

fn test_name(project: &Project, random: &mut Random) -> String {
    let file = project.any(random);
    let stem = file.path.rsplit('/').next().and_then(|last| last.split('.').next()).unwrap_or_default();
    format!("{stem}::{}", project.vocabulary.fill("{G}_when_{n}_is_{a}", random))
}

/// A build: units, warnings with their places, perhaps an error.
pub(super) fn build(out: &mut Output, project: &Project, random: &mut Random) {
    let vocabulary = &project.vocabulary;
    while !out.is_full() {
        if !random.chance(0.12) {
            let (version, seconds) = (random.between(0, 40), random.between(1, 300));
            let unit = name(&[noun(random), noun(random)], false);
            out.line(&format!(
                "[{seconds:>4}.{}s] compiled {unit} v{version}.{}",
                random.below(10),
                random.below(20)
            ));
            continue;
        }
        let file = project.any(random);
        let line = random.between(3, 200);
        let level = random.pick(&["warning", "warning", "warning", "error"]);
        out.line(&vocabulary.fill(&format!("{level}[W{{d}}]: unused {{a}} {{n}} `{{V}}`: {{s}}"), random));
        out.line(&format!("  --> {}:{line}:{}", file.path, random.between(1, 80)));
        out.line(&vocabulary.fill("   |  let {V} = {F}({V});", random));
        out.mention(Kind::Path, &file.path, line);
    }
    out.line(&format!("build finished in {}.{} s", random.between(1, 200), random.below(10)));
}

/// Lines of a service's log.
pub(super) fn service(out: &mut Output, trace: Option<&str>, project: &Project, random: &mut Random) {
    let mut seconds = random.between(0, 40_000);
    while !out.is_full() {
        seconds += random.below(30);
        let (hour, minute, second) = (8 + seconds / 3600 % 12, seconds / 60 % 60, seconds % 60);
        let own = random.string(HEX, 24);
        let shown = trace.filter(|_| random.chance(0.4)).unwrap_or(&own);
        let level = random.pick(&["INFO ", "INFO ", "INFO ", "DEBUG", "WARN ", "ERROR"]);
        let text = project.vocabulary.fill("{n}.{v} {s} {n}={D} {n}_ms={d}", random);
        out.line(&format!("2026-03-14T{hour:02}:{minute:02}:{second:02}Z {level} trace={shown} {text}"));
        out.mention(Kind::Trace, &own, 0);
        if shown != own {
            out.mentions.pop();
        }
    }
}

use super::random::Random;
use super::words::Vocabulary;

/// How a language is written: templates for [`Vocabulary::fill`].
#[derive(Debug)]
pub(super) struct Language {
    pub(super) extension: &'static str,
    pub(super) camel: bool,
    comment: &'static str,
    header: &'static [&'static str],
    open: &'static [&'static str],
    body: &'static [&'static str],
    close: &'static str,
    indent: &'static str,
}

/// The languages that projects are written in.
pub(super) const LANGUAGES: &[&Language] = &[&RUST, &PYTHON, &TYPESCRIPT, &GO, &YAML];

const RUST: Language = Language {
    extension: "rs",
    camel: false,
    comment: "//",
    header: &["use std::collections::HashMap;", "use crate::{n}::{{T}, {T}};", "const {K}: usize = {D};"],
    open: &[
        "/// Tells whether {s}.\npub fn {G}(&self, {V}: &{T}, {V}: u64) -> Result<{T}, {T}Error> {",
        "fn {G}({V}: &[{T}], limit: usize) -> Option<{T}> {",
        "pub(crate) async fn {G}(&mut self, {V}: {T}) -> Result<(), {T}Error> {",
        "#[test]\nfn {G}() {",
    ],
    body: &[
        "let {V} = self.{F}(&{V})?;",
        "let mut {V} = Vec::with_capacity({d});",
        "if {V}.is_empty() {\n    return Err({T}Error::Missing(\"{s}\"));\n}",
        "for {V} in {V}.iter().filter(|{n}| {n}.{n}_id > {D}) {\n    self.{F}({V}.clone());\n}",
        "match {V}.{F}() {\n    Some({n}) if {n}.is_{a}() => {F}({n}),\n    Some(_) => {}\n    None => return Ok({T}::default()),\n}",
        "self.{V}.entry({V}.key()).or_insert_with({T}::new).push({V});",
        "tracing::debug!({V} = %{V}, \"{s}\");",
        "// {s}, so that {s}",
        "let {V} = {V}.checked_sub({d}).ok_or({T}Error::{T} { {n}: {D} })?;",
        "assert_eq!({V}.{F}(), {d}, \"{s}\");",
    ],
    close: "}",
    indent: "    ",
};

const PYTHON: Language = Language {
    extension: "py",
    camel: false,
    comment: "#",
    header: &[
        "from __future__ import annotations",
        "import logging",
        "from {n}.{n} import {T}, {T}",
        "{K} = {D}",
    ],
    open: &[
        "def {G}(self, {V}: {T}, {V}: int = {d}) -> {T} | None:\n    \"\"\"Return the {n}; {s}.\"\"\"",
        "async def {G}({V}: list[{T}], *, strict: bool = False) -> dict[str, {T}]:",
        "@pytest.mark.parametrize(\"{n}\", [{d}, {d}, {D}])\ndef test_{G}({n}, {n}_factory):",
        "def _{G}({V}, {V}):",
    ],
    body: &[
        "{V} = self.{F}({V}, limit={d})",
        "if not {V}:\n    raise {T}Error(f\"{s}: {{V}!r}\")",
        "for {V} in sorted({V}, key=lambda row: row[\"{n}_id\"]):\n    {V}.append({F}({V}))",
        "with self.{V}.lock(timeout={d}):\n    await self.{F}({V})",
        "try:\n    {V} = {F}({V})\nexcept {T}Error as error:\n    logger.warning(\"{s}: %s\", error)\n    return None",
        "# {s}",
        "{V} = {{n}.{n}_id: {n} for {n} in {V} if {n}.is_{a}}",
        "assert {F}({V}) == {D}, \"{s}\"",
        "self._{V}[{V}] = {T}({n}={V}, {n}={d}, {a}=True)",
        "return [{F}({n}) for {n} in {V}[:{d}]]",
    ],
    close: "",
    indent: "    ",
};

const TYPESCRIPT: Language = Language {
    extension: "ts",
    camel: true,
    comment: "//",
    header: &[
        "import { {T}, {T} } from \"../{n}/{n}\";",
        "import { {F} } from \"./{n}\";",
        "export const {K} = {D};",
    ],
    open: &[
        "/** Whether {s}. */\nexport async function {G}({V}: {T}, {V}: string): Promise<{T}> {",
        "export const {G} = ({V}: readonly {T}[], limit = {d}): {T} | undefined => {",
        "it(\"{s}\", async () => {",
        "function {G}({V}: Map<string, {T}>): void {",
    ],
    body: &[
        "const {V} = await {F}({V}, { {n}: {d}, {a}: true });",
        "if (!{V}?.length) {\n  throw new {T}Error(`{s}: ${{V}}`);\n}",
        "for (const {n} of {V}.values()) {\n  {V}.push({F}({n}.{n}Id));\n}",
        "return {V}.filter(({n}) => {n}.{a}).map(({n}) => ({ ...{n}, {n}Id: {D} }));",
        "const { {n}, {n}Id } = {V} ?? {};",
        "// {s}",
        "logger.info({ {V} }, \"{s}\");",
        "expect({F}({V})).toEqual({ {n}: \"{a}\", total: {D} });",
        "switch ({V}.kind) {\n  case \"{a}\":\n    return {F}({V});\n  default:\n    break;\n}",
        "this.{V}.set({V}.key, new {T}({V}));",
    ],
    close: "}",
    indent: "  ",
};

const GO: Language = Language {
    extension: "go",
    camel: true,
    comment: "//",
    header: &["package {n}", "import (\n\t\"context\"\n\t\"fmt\"\n)", "const {n}Limit = {D}"],
    open: &[
        "// {s}.\nfunc (s *{T}) {G}(ctx context.Context, {V} string) (*{T}, error) {",
        "func {G}({V} []{T}, limit int) map[string]{T} {",
        "func Test{T}(t *testing.T) {",
    ],
    body: &[
        "{V}, err := s.{F}(ctx, {V})\nif err != nil {\n\treturn nil, fmt.Errorf(\"{s}: %w\", err)\n}",
        "for _, {n} := range {V} {\n\tif {n}.{T} == nil || {n}.Count > {d} {\n\t\tcontinue\n\t}\n\t{V} = append({V}, {n})\n}",
        "{V} := make(map[string]*{T}, {d})",
        "// {s}",
        "defer s.{V}.Unlock()",
        "s.log.Info(\"{s}\", \"{n}\", {V}, \"{n}\", {D})",
        "if got, want := {F}({V}), {D}; got != want {\n\tt.Fatalf(\"{s}: got %d, want %d\", got, want)\n}",
        "select {\ncase <-ctx.Done():\n\treturn nil, ctx.Err()\ncase s.{V} <- {V}:\n}",
        "{V}[{V}.ID] = &{T}{Name: {V}, Total: {d}}",
    ],
    close: "}",
    indent: "\t",
};

const YAML: Language = Language {
    extension: "yaml",
    camel: false,
    comment: "#",
    header: &["version: {d}", "{n}: &{n}"],
    open: &["{a}_{n}:", "# {s}\n{n}_{n}:"],
    body: &[
        "{n}: {D}",
        "{n}: \"{s}\"",
        "{a}_{n}:\n  - {n}\n  - {n}-{h}",
        "{v}:\n  after: {d}s\n  {a}: true",
        "image: registry.internal.example/{n}/{n}:{d}.{d}.{d}",
    ],
    close: "",
    indent: "  ",
};

impl Language {
    /// The lines of a file of about `length` lines.
    pub(super) fn file(&self, length: usize, random: &mut Random) -> Vec<String> {
        let vocabulary = Vocabulary::new(random, self.camel);
        let mut lines = vec![format!("{} {}", self.comment, vocabulary.fill("{s}", random))];
        for template in self.header {
            push(&mut lines, "", &vocabulary.fill(template, random));
        }
        while lines.len() < length {
            lines.push(String::new());
            self.function(&mut lines, &vocabulary, random);
        }
        lines
    }

    /// About `length` lines from the inside of a function.
    pub(super) fn statements(&self, length: usize, random: &mut Random) -> Vec<String> {
        let vocabulary = Vocabulary::new(random, self.camel);
        let mut lines = Vec::new();
        while lines.len() < length {
            push(&mut lines, self.indent, &vocabulary.fill(random.pick(self.body), random));
        }
        lines
    }

    fn function(&self, lines: &mut Vec<String>, vocabulary: &Vocabulary, random: &mut Random) {
        push(lines, "", &vocabulary.fill(random.pick(self.open), random));
        for _ in 0..random.between(3, 14) {
            push(lines, self.indent, &vocabulary.fill(random.pick(self.body), random));
        }
        if !self.close.is_empty() {
            lines.push(self.close.to_owned());
        }
    }
}

fn push(lines: &mut Vec<String>, indent: &str, text: &str) {
    lines.extend(text.split('\n').map(|line| format!("{indent}{line}")));
}

use crate::prune::Draft;

/// The text that stands for the output at `index`. Only the default template has its names filled in: a text that
/// somebody configured is used exactly as it is.
pub(super) fn fill(draft: &Draft<'_>, index: usize, template: &str, default: &str) -> String {
    if template != default {
        return template.to_owned();
    }
    let lines = draft.transcript.text(index).lines().count();
    let tool = draft.transcript.call_of(index).map_or("tool", |call| &call.name);
    template
        .replace("{tokens}", &draft.sizes.of(index).to_string())
        .replace("{lines}", &lines.to_string())
        .replace("{tool}", tool)
}

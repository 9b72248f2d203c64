use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::DebugSettings;
use crate::model::Transcript;
use crate::prune::Plan;

/// Shows what prunes changed, when the user switched that on: previews of texts before and after.
pub(super) struct DebugSink {
    settings: DebugSettings,
    file: Mutex<Option<File>>,
    complained: AtomicBool,
}

impl DebugSink {
    pub(super) fn new(settings: DebugSettings) -> Self {
        Self { settings, file: Mutex::new(None), complained: AtomicBool::new(false) }
    }

    /// Shows the new steps of a plan.
    pub(super) fn show_plan(&self, session: &str, transcript: &Transcript, plan: &Plan) {
        if !self.settings.debug_pruning_io {
            return;
        }
        for step in &plan.steps {
            let before = transcript.text(step.index);
            let folded = plan.edits.folds().iter().find(|range| range.items.contains(&step.index));
            let after = match (plan.edits.get(step.index), folded) {
                (Some(edit), _) => &*edit.text,
                (None, Some(range)) => &*range.fold.text,
                (None, None) => "",
            };
            let tool = transcript.call_of(step.index).map_or("", |call| &call.name);
            self.write(&json!({
                "event": "prune_io",
                "session": session,
                "message": transcript.items[step.index].message,
                "tool": tool,
                "stage": step.stage,
                "rung": step.rung,
                "tokens_before": step.before,
                "tokens_after": step.after,
                "before": self.preview(&before),
                "after": self.preview(after),
            }));
        }
    }

    fn preview(&self, text: &str) -> String {
        let limit = self.settings.debug_preview_chars;
        let shown: String = text.chars().take(limit).collect();
        let rest = text.chars().count().saturating_sub(limit);
        if rest == 0 { shown } else { format!("{shown}… ({rest} more characters)") }
    }

    fn write(&self, line: &serde_json::Value) {
        if self.settings.debug_log_file.is_empty() {
            tracing::info!(target: "secateur::pruning_io", "{line}");
            return;
        }
        if let Err(error) = self.append(&line.to_string())
            && !self.complained.swap(true, Ordering::Relaxed)
        {
            let file = &self.settings.debug_log_file;
            tracing::warn!(%error, file, "cannot write the debug file; its lines are lost until it can be written");
        }
    }

    fn append(&self, line: &str) -> std::io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let result = match &mut *file {
            Some(open) => writeln!(open, "{line}"),
            none => {
                let path = &self.settings.debug_log_file;
                let open = none.insert(OpenOptions::new().create(true).append(true).open(path)?);
                writeln!(open, "{line}")
            }
        };
        if result.is_err() {
            // A full disk or a removed file: the next line opens it anew.
            *file = None;
        } else {
            self.complained.store(false, Ordering::Relaxed);
        }
        result
    }
}

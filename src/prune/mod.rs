//! Which edits. Owns: the gate, ages and zones, the stages that propose, the guard that disposes, the ladder and its
//! budget. Pure: no I/O, no clock but the one given. Does not own: sizes of texts (`tokens`), what was said before
//! (`model::Ledger`, handed in), or how an edit is written (`wire`).

mod settings;

pub use settings::{
    DETAIL_PLACEHOLDER, DetailMode, HARD_PLACEHOLDER, ModelPolicy, Settings, SoftTrim, SummarySettings,
    ZoneOrigin,
};

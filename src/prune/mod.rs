//! Which edits. Owns: the gate, ages and zones, the stages that propose, the guard that disposes, the ladder and its
//! budget. Pure: no I/O, no clock but the one given. Does not own: sizes of texts (`tokens`), what was said before
//! (`model::Ledger`, handed in), or how an edit is written (`wire`).
//!
//! One plan: the ledger is replayed into a [`Draft`]; the [`Gate`] says whether new pruning is due; the [`Planner`]
//! climbs the ladder, rung by rung, asking stages for [`Proposal`]s, which the guard admits or refuses.

mod budget;
mod draft;
mod gate;
mod guard;
mod ladder;
mod plan;
mod planner;
mod protect;
mod references;
mod rules;
mod settings;
mod sizes;
mod stage;
pub mod stages;
#[cfg(test)]
mod tests;

pub use budget::Budget;
pub use draft::Draft;
pub use gate::{Demand, Figures, Gate};
pub use plan::{Plan, Step};
pub use planner::{Aim, Planner};
pub use protect::Protection;
pub use rules::{RuleError, Rules};
pub use settings::{
    DETAIL_PLACEHOLDER, DetailMode, HARD_PLACEHOLDER, ModelPolicy, Settings, SoftTrim, SummarySettings,
    ZoneOrigin,
};
pub use sizes::{Known, Sizes};
pub use stage::{Proposal, Stage};

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use toml::{Table, Value};

use crate::prune::{ModelPolicy, Settings};

/// The one key of `[models."PATTERN"]` that `[pruning]` does not have.
pub(super) const CONTEXT_WINDOW: &str = "context_window";

/// `[models."PATTERN"]`: for each pattern any key of `[pruning]`, and `context_window` in tokens. In the order of
/// the file.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct Models(Table);

impl Models {
    /// Each pattern with what is set for it.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Table)> {
        self.0.iter().filter_map(|(pattern, own)| Some((pattern.as_str(), own.as_table()?)))
    }

    /// Each pattern with `base` and its own settings laid over it.
    pub fn policies(&self, base: &Settings) -> Vec<(String, ModelPolicy)> {
        self.iter()
            .map(|(pattern, own)| {
                let policy = overlay(base, own).expect("the types were checked when this was read");
                (pattern.to_owned(), policy)
            })
            .collect()
    }
}

impl<'de> Deserialize<'de> for Models {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let models = Table::deserialize(deserializer)?;
        for (pattern, own) in &models {
            let own = own.as_table().ok_or_else(|| {
                D::Error::custom(format!("invalid type: expected a table of settings for `{pattern}`"))
            })?;
            overlay(&Settings::default(), own).map_err(|e| D::Error::custom(e.message()))?;
        }
        Ok(Self(models))
    }
}

/// `base` with `own` laid over it. Whether this fails depends on the types in `own` alone.
fn overlay(base: &Settings, own: &Table) -> Result<ModelPolicy, toml::de::Error> {
    let mut own = own.clone();
    let context_window = own.remove(CONTEXT_WINDOW).map(Value::try_into).transpose()?;
    let mut table = Table::try_from(base).expect("settings are plain tables, texts and numbers");
    lay_over(&mut table, own);
    Ok(ModelPolicy { pruning: table.try_into()?, context_window })
}

fn lay_over(base: &mut Table, own: Table) {
    for (key, value) in own {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => lay_over(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

use std::cell::Cell;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::Builder;

use super::Scene;

/// Checks `cases` cases of a strategy in one scene, each under a number of its own, and makes a failing one smaller.
pub(crate) fn check_cases<S: Strategy>(
    cases: u32,
    scene: impl Future<Output = Scene>,
    strategy: &S,
    check: &impl AsyncFn(&Scene, u32, S::Value),
) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let scene = runtime.block_on(scene);
    let number = Cell::new(0);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let checked = TestRunner::new(config).run(strategy, |case| {
        number.set(number.get() + 1);
        runtime.block_on(check(&scene, number.get(), case));
        Ok(())
    });
    if let Err(failure) = checked {
        panic!("{failure}");
    }
}

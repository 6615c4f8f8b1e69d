//! Flags of a load that changes over time.

use clap::Args;
use languages::LoadListError;
use model::{
    LevelSpan, LevelSteps, ShapePreset, StageFault, StageList, StageListError, parse_level_span,
    parse_level_steps, parse_stages,
};
use units::Nanos;

use crate::argument_error::ArgumentError;
use crate::exit::Failure;

/// Shapes of the load, of which a run has one at most. Each is one load point, whose stages are judged one by one.
#[derive(Debug, Clone, Args)]
#[group(
    id = "shape",
    multiple = false,
    conflicts_with_all = ["load", "rate", "max_load", "find_max", "ramp_up", "settle", "ramp_down"]
)]
pub(crate) struct ShapeArguments {
    /// Stages of one load point, each judged by itself: `30s:0..100,2m:100,10s:100..0` lets users come in 30 s, stay for two
    /// minutes, and leave; with `/s`, `1m:10..2000/s`, levels are operations per second of an open loop
    #[arg(long, value_name = "STAGES", value_parser = stages, conflicts_with = "duration")]
    pub stages: Option<StageList>,
    /// Let the load rise (or fall) from one level to another: `10..2000` users, or `10/s..2000/s` of an open loop; in 2 min
    /// unless `--duration` is given, which is the length of the whole in all these shapes
    #[arg(long, value_name = "FROM..TO", value_parser = span)]
    pub ramp: Option<LevelSpan>,
    /// Load by the first level for a third of the time, by the second for a sixth, and by the first again: `20..200`, in 1 min
    #[arg(long, value_name = "USUAL..PEAK", value_parser = span)]
    pub spike: Option<LevelSpan>,
    /// Keep one level for long, in six stages of equal length that show what drifts: `100` or `250/s`, for 30 min
    #[arg(long, value_name = "LEVEL", value_parser = single)]
    pub soak: Option<LevelSpan>,
    /// One level after another without a pause: `100..500/100`, `10,50,100/s`, 10 s for each
    #[arg(long, value_name = "LIST", value_parser = steps)]
    pub stairs: Option<LevelSteps>,
    /// A day between the lowest and the highest level, in a stage for each hour: `20..200`, in 2 min
    #[arg(long, value_name = "LOW..HIGH", value_parser = span)]
    pub daily: Option<LevelSpan>,
}

impl ShapeArguments {
    /// Returns whether a flag of a shape is given.
    pub(crate) fn is_given(&self) -> bool {
        let ShapeArguments { stages, ramp, spike, soak, stairs, daily } = self;
        let spans = [ramp, spike, soak, daily];
        stages.is_some() || stairs.is_some() || spans.into_iter().any(Option::is_some)
    }

    /// Returns the stages that a flag asks for, which take this long in all; `None` without a flag.
    ///
    /// # Errors
    /// The length does not suit the stages, or one has no load.
    pub(crate) fn stages(&self, length: Option<Nanos>) -> Result<Option<StageList>, Failure> {
        if let Some(stages) = &self.stages {
            return Ok(Some(stages.clone()));
        }
        let presets = [
            ("--ramp", self.ramp.map(ShapePreset::Ramp)),
            ("--spike", self.spike.map(ShapePreset::Spike)),
            ("--soak", self.soak.map(ShapePreset::Soak)),
            ("--stairs", self.stairs.clone().map(ShapePreset::Stairs)),
            ("--daily", self.daily.map(ShapePreset::Daily)),
        ];
        let Some((flag, preset)) = presets.into_iter().find_map(|(flag, preset)| Some((flag, preset?)))
        else {
            return Ok(None);
        };
        let failure = |fault: StageFault| {
            let hint = match fault {
                StageFault::Length(_) => {
                    "`--duration` is the length of all stages: make it longer, in whole seconds"
                }
                fault => fault.hint(),
            };
            Failure::usage(format!("`{flag}`: {fault}")).hint(hint)
        };
        preset.stages(length).map(Some).map_err(failure)
    }
}

fn mistake(text: &str) -> impl FnOnce(StageListError) -> ArgumentError {
    let of_list = ArgumentError::of_list(text);
    move |StageListError { message, span, hint }| of_list(LoadListError { message, span, hint })
}

fn stages(text: &str) -> Result<StageList, ArgumentError> {
    parse_stages(text).map_err(mistake(text))
}

fn span(text: &str) -> Result<LevelSpan, ArgumentError> {
    let span = parse_level_span(text).map_err(mistake(text))?;
    if span.from == span.to {
        return Err(ArgumentError::expected("two levels, such as `10..2000`; `--soak 100` keeps one"));
    }
    Ok(span)
}

fn single(text: &str) -> Result<LevelSpan, ArgumentError> {
    let span = parse_level_span(text).map_err(mistake(text))?;
    if text.contains("..") || span.to == 0.0 {
        return Err(ArgumentError::expected(
            "one level above zero, such as `100`; `--ramp 10..2000` moves between two",
        ));
    }
    Ok(span)
}

fn steps(text: &str) -> Result<LevelSteps, ArgumentError> {
    parse_level_steps(text).map_err(mistake(text))
}

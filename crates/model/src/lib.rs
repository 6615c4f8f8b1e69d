//! The nouns of a run: benchmark, workload, load plan, records; plans and how they are partitioned.
//!
//! Everything here is a value or a pure function: no input, no output, no clock.

mod address;
mod agent;
mod agent_figure;
mod catalog;
mod check;
mod content;
mod counter;
mod definition;
mod disk_share;
mod family;
mod field;
mod generated_text;
mod headline;
mod limit;
mod load;
mod make_plan;
mod merge;
mod notes;
mod notice;
mod operation;
mod overrides;
mod partition;
mod phase;
mod plan;
mod price_list;
mod record;
mod redactions;
mod resource;
mod schedule;
mod secret;
mod secrets;
mod setting;
mod shape;
mod testbed;
mod user;
mod with_serde;
mod words;
mod workload;

pub use address::{AddressKind, ForbiddenObserver, check_observer};
pub use agent::{AGENT_THREADS_MAX, AGENTS_MAX, AgentFault, AgentPlan, check_agents};
pub use agent_figure::{AgentFigure, agent_of_title, agent_title};
pub use catalog::{
    Catalog, CatalogFault, CodeName, ExpectedMeasure, InputBand, InputCount, MEASURES_MAX, Measure,
    MeasureUnit, OperationKind, PauseKind, PauseStart, RateTime, Score, SizingRule, ThinkTime, export_key,
};
pub use check::{CONNECTIONS_LOST, CheckMoment, ConsistencyCheck, NamedCount, REPLIES_OF, STREAMS_REFUSED};
pub use content::{CHUNK_BYTES, Content};
pub use counter::{Counter, CounterKind, CounterUnit};
pub use definition::{
    DEFINITION_FORMAT, DataDefinition, DataFormat, Definition, FileDefinition, FilelistSource, Levels,
    LoadDefinition, OpenLoopDefinition, QuickDefinition, ShapeDefinition, SqlDefinition, WebDefinition,
    WorkloadDefinition, WorkloadSource, definition_schema, header_name_fault,
};
pub use disk_share::{DiskShare, DiskShareError};
pub use family::Family;
pub use field::{Field, Privacy};
pub use generated_text::{GENERATED_MARKUP, GeneratedText};
pub use headline::Headline;
pub use limit::{
    Limit, LimitComparison, LimitError, LimitFault, LimitMetric, LimitUnit, PercentileRank, limits_text,
    parse_limits,
};
pub use load::{Arrivals, Load, LoadPoint, LoadUnit, POISSON_LANES};
pub use make_plan::{Problem, make_plan};
pub use merge::{MergeError, MergeFault};
pub use notes::{NOTES_FORMAT, Notes, notes_schema};
pub use notice::{NoticeKind, NoticeTotals, UserNotice};
pub use operation::{CODES_MAX, HasKind, MeasuredValues, Outcome, Reply, SLOTS_MAX};
pub use overrides::{DEFAULT_SEED, OPERATIONS_STEADY_MAX, Overrides, STEADY_OF_TOTAL_MIN, TotalTime};
pub use partition::{Assignment, partition};
pub use phase::{Phase, Phases};
pub use plan::web::{AcceleratorPlan, Gateway, GatewayKind, WebSut};
pub use plan::{
    BenchmarkId, CertificateCheck, CpuQuota, LimitInForce, Modification, PLAN_FORMAT, Plan, Refinement,
    Rules, Search, ServerLimit, SutPlan,
};
pub use price_list::{
    Discount, Maintenance, PRICE_LIST_FORMAT, Price, PriceItem, PriceKind, PriceList, Term, TermUnit,
    price_list_schema,
};
pub use record::{
    DetailRecord, Example, FailureCodes, Flow, Health, IntervalRecord, KindHistograms, KindTotals,
    RecordSource, RunEnding, SutUse, UnitTotals,
};
pub use resource::{MachineRole, MonitoredSource, Reading, ResourceRecord, Series};
pub use schedule::{POISSON_USERS_MAX, Schedule, SliceSchedule};
pub use secret::{PlacedSecret, Secret, SecretLocation, SecretSource};
pub use secrets::{MissingSecret, Secrets};
pub use setting::{
    ChosenSetting, Configuration, DefinitionKey, Setting, SettingChoice, SettingError, SettingKind,
    SettingValue, SettingValueError,
};
pub use shape::{
    LevelSpan, LevelSteps, STAGES_MAX, Shape, ShapePreset, Stage, StageFault, StageList, StageListError,
    parse_level_span, parse_level_steps, parse_stage_texts, parse_stages,
};
pub use testbed::{Fact, FactSection, FactState, LOAD_MACHINE, RUN_VALUES, Testbed};
pub use user::{Mix, Step, User, UserReply};
pub use words::{Noun, Words, capitalized};
pub use workload::*;

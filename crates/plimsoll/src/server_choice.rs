//! The server of a plan as the laboratory takes it: a target, or a server to start.

use drivers::Trust;
use fleet::ServerChoice;
use model::{Family, Plan};
use testbed::{Acceleration, SutServer};

use crate::candidate::{Candidate, ChosenServer};
use crate::exit::Failure;
use crate::family::command_line;
use crate::settings::filelist;

impl Candidate {
    /// Returns the server to use for a plan of a benchmark; `trust` is the set of certificates accepted from a running
    /// server.
    ///
    /// # Errors
    /// A directory of its data cannot be made.
    pub(crate) fn server(
        &self,
        benchmark: &str,
        plan: &Plan,
        trust: &Trust,
    ) -> Result<ServerChoice, Failure> {
        Ok(match &self.server {
            ChosenServer::External(server) => {
                let trusting = command_line(plan.workload.family()).trusting;
                ServerChoice::External(trusting(server, plan, trust))
            }
            ChosenServer::Recipe(recipe) => {
                ServerChoice::Start(SutServer::Recipe(recipe.clone()), self.acceleration(plan))
            }
            ChosenServer::BuiltIn => {
                let server = built_in(benchmark, filelist(&self.settings), plan)?;
                ServerChoice::Start(server, self.acceleration(plan))
            }
            ChosenServer::Embedded(own) => ServerChoice::Embedded((own.data_dir)()?),
        })
    }

    fn acceleration(&self, plan: &Plan) -> Option<Acceleration> {
        let (chosen, planned) = self.accelerator.as_ref().zip(plan.sut.accelerator())?;
        Some(Acceleration { recipe: chosen.recipe.clone(), cache_bytes: planned.cache_bytes })
    }
}

/// Returns the built-in server of a plan's family.
///
/// # Errors
/// The family has none, or a directory of its data cannot be made.
pub(crate) fn built_in(benchmark: &str, filelist: Option<&str>, plan: &Plan) -> Result<SutServer, Failure> {
    let family = plan.workload.family();
    let started = command_line(family).started.as_ref();
    let own = started.and_then(|started| started.built_in.as_ref()).ok_or_else(|| none_started(family))?;
    let mut args = vec!["serve".to_owned()];
    args.extend((own.arguments)(benchmark, filelist, plan)?);
    // Behind an accelerator, this is not the primary address.
    args.extend(["--listen", "{address}:{port}"].map(str::to_owned));
    if let Some(share) = plan.sut.quota {
        args.extend(["--cpu-allowance".to_owned(), share.to_string()]);
    }
    let environment = own.environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Ok(SutServer::BuiltIn {
        family,
        status: own.status,
        program: std::env::current_exe()?,
        args,
        environment: environment.collect(),
    })
}

/// Returns the failure of a family of which Plimsoll starts no server.
pub(crate) fn none_started(family: Family) -> Failure {
    let error = format!("this benchmark loads {family} servers, but Plimsoll starts none");
    let form = command_line(family).target_form;
    Failure::usage(error).hint(format!("name a running server: `--target {form}`"))
}

//! Mail servers: the built-in one, and running ones with a file of accounts.

use std::path::Path;

use drivers::Trust;
use fleet::{AccountList, ExternalServer, MailHost};
use languages::without_credentials;
use model::{Family, MailSecurity, Plan, Setting, Workload};

use super::command_line::{
    BuiltInServer, FamilyCommandLine, OMIT_SUT, OTHER_SERVER, START_OR_OMIT, StartedServers, other_family,
};
use crate::candidate::Candidate;
use crate::exit::Failure;
use crate::files;

/// The remedy where mailboxes cannot be filled.
pub(super) const DATA_HINT: &str =
    "check the accounts and their passwords, the ports of submission and LMTP, and that mailboxes have room";

/// Mail servers on the command line.
pub(super) static COMMAND_LINE: FamilyCommandLine = FamilyCommandLine {
    article: "a",
    target_form: "imap://HOST:PORT?submission=PORT&accounts=FILE",
    own_schemes: &["imap", "imaps"],
    read_target: |target, _| read_target(target),
    take_secrets: |_, _| Ok(()),
    is_encrypted: |_, plan| plan.workload.is_encrypted(),
    accepts_any_certificate: |_| false,
    trusting,
    own_flag: |_| None,
    started: Some(StartedServers {
        sut_hint: OMIT_SUT,
        check_recipe: |_, _| Ok(()),
        built_in: Some(BuiltInServer {
            status: None,
            environment: &[("PLIMSOLL_PASSWORD", "{password}")],
            arguments: |_, _, plan| arguments(plan),
        }),
    }),
    embedded: None,
    settle: |candidate, _| settle_encryption(candidate),
    target_setting: |_, _| None,
    check_plan,
    think_time: None,
    calibration: &[],
    calibrated: |_| None,
    unreachable_hint: START_OR_OMIT,
    wrong_hint: "check the accounts and their passwords, the port of submission, and the encryption (`--set tls=starttls`)",
    own_wrong_hint: OTHER_SERVER,
};

fn mail_host(server: &ExternalServer) -> Option<&MailHost> {
    if let ExternalServer::Mail(server) = server { Some(server) } else { None }
}

/// Reads a target, and the accounts in the file that it names.
fn read_target(target: &str) -> Result<ExternalServer, Failure> {
    let mut server: MailHost = target.parse().map_err(Failure::usage)?;
    let text = files::read(Path::new(&server.accounts_file))?;
    let list = AccountList::parse(&text).map_err(|error| {
        Failure::usage(format!("`{}`: {error}", server.accounts_file))
            .hint("write a line `NAME@DOMAIN:PASSWORD` for each user")
    })?;
    server.accounts = Some(list);
    Ok(ExternalServer::Mail(server))
}

fn trusting(server: &ExternalServer, plan: &Plan, trust: &Trust) -> ExternalServer {
    match mail_host(server) {
        Some(server) if plan.workload.is_encrypted() => {
            ExternalServer::Mail(MailHost { trust: Some(trust.clone()), ..server.clone() })
        }
        _ => server.clone(),
    }
}

/// Gives a candidate the encryption that follows from its server as a setting: that of a target by its scheme, none of a
/// server that is started. Without TLS from the first byte a target can have STARTTLS: the definition says, unless the run does.
///
/// # Errors
/// The setting is there with another value.
fn settle_encryption(one: &mut Candidate) -> Result<(), Failure> {
    let possible: &[&str] = match one.external().and_then(mail_host) {
        Some(MailHost { is_secure: true, .. }) => &["on"],
        Some(_) if one.setting(Setting::MAIL_TLS).is_none() => return Ok(()),
        Some(_) => &["off", "starttls"],
        None => &["off"],
    };
    one.settle(Family::Mail, Setting::MAIL_TLS, possible)
}

/// Checks that a target has the encryption of a plan, and an account for each of its users.
fn check_plan(one: &Candidate, plan: &Plan) -> Result<(), Failure> {
    let (Some(server), Workload::Mail(workload)) = (one.external().and_then(mail_host), &plan.workload)
    else {
        return Ok(());
    };
    if workload.security == MailSecurity::On && !server.is_secure {
        let id = &plan.benchmark.id;
        let error = format!(
            "`tls = \"on\"` in `[protocol]` of the benchmark `{id}` is TLS from the first byte, but `{}` is a target without",
            without_credentials(&server.to_string())
        );
        return Err(Failure::usage(error).hint("name an `imaps://` target, or add `--set tls=starttls`"));
    }
    check_accounts(server, plan.users_max())
}

fn check_accounts(server: &MailHost, n_users: u32) -> Result<(), Failure> {
    let n_accounts = server.accounts.as_ref().map_or(0, AccountList::n_accounts);
    if n_users as usize <= n_accounts {
        return Ok(());
    }
    let accounts = if n_accounts == 1 { "account" } else { "accounts" };
    let error =
        format!("`{}` has {n_accounts} {accounts}, and the plan has {n_users} users", server.accounts_file);
    Err(Failure::usage(error).hint(format!("add accounts, or use fewer users: `--load {n_accounts}`")))
}

/// Returns the arguments of the built-in mail server, with an account for each user of a plan.
fn arguments(plan: &Plan) -> Result<Vec<String>, Failure> {
    if !matches!(plan.workload, Workload::Mail(_)) {
        return Err(other_family(plan.workload.family()));
    }
    let arguments = [
        "mail",
        "--users",
        &plan.users_max().to_string(),
        "--submission",
        "{address}:{smtp_port}",
        "--lmtp",
        "{address}:{lmtp_port}",
    ];
    Ok(arguments.map(str::to_owned).into())
}

//! Commands that concern messages: their flags, copies, removal, and searches.

use std::sync::Arc;

use super::command::Messages;
use super::mailbox_commands::no_mailbox;
use super::search::{Candidate, SearchContext, SearchRequest, SearchReturn, write_ranges};
use super::session::{Completion, ImapSession};
use super::view::{MailboxView, NoSuchMessage};
use crate::mail::connection::ConnectionEnd;
use crate::mail::store::{
    FlagChange, MailFlags, MailboxEntry, MailboxState, NewEntry, SYSTEM_FLAGS, SharedMailbox, write_flags,
};

/// Messages whose flags are changed at a time.
const BATCH: usize = 256;

impl ImapSession {
    pub(super) fn expunge(&mut self, only: Option<Messages>) -> Completion {
        let Some(view) = &self.view else { return no_mailbox() };
        if view.is_read_only() {
            return read_only();
        }
        let uids = match only.map(|only| chosen_uids(view, &only)).transpose() {
            Ok(uids) => uids,
            Err(missing) => return missing.into(),
        };
        let is_chosen = |uid: u32| uids.as_ref().is_none_or(|uids| uids.binary_search(&uid).is_ok());
        view.mailbox().expunge(|entry| entry.flags.has(MailFlags::DELETED) && is_chosen(entry.uid));
        Completion::ok("done")
    }

    pub(super) fn search(&mut self, tag: &str, request: &SearchRequest) -> Completion {
        let Some(view) = &self.view else { return no_mailbox() };
        // Reading fields takes a while, and nobody waits for it.
        let (entries, keywords): (Vec<MailboxEntry>, Vec<Box<str>>) = {
            let state = view.mailbox().lock();
            (state.entries().to_vec(), state.keywords().to_vec())
        };
        let context = SearchContext {
            keywords: &keywords,
            last_number: view.uids().len() as u32,
            last_uid: view.uids().last().copied().unwrap_or(0),
            messages: self.store().messages(),
        };
        let candidates = entries.iter().filter_map(|entry| {
            Some(Candidate::new(view.number(entry.uid)?, entry, view.is_recent(entry.uid)))
        });
        let found = candidates.filter(|candidate| request.finds(candidate, &context));
        let numbers: Vec<u32> =
            found.map(|one| if request.is_uid { one.entry.uid } else { one.number }).collect();
        let line = match &request.returns {
            None => numbers.iter().fold("* SEARCH".to_owned(), |line, number| format!("{line} {number}")),
            Some(returns) => extended_search_line(tag, request.is_uid, returns, &numbers),
        };
        self.connection.put_line(&line);
        Completion::ok("done")
    }

    pub(super) async fn change_flags(
        &mut self,
        messages: &Messages,
        change: FlagChange,
        is_silent: bool,
        names: &[String],
    ) -> Result<Completion, ConnectionEnd> {
        let Some(view) = &mut self.view else { return Ok(no_mailbox()) };
        if view.is_read_only() {
            return Ok(read_only());
        }
        let uids = match chosen_uids(view, messages) {
            Ok(uids) => uids,
            Err(missing) => return Ok(missing.into()),
        };
        let mailbox = Arc::clone(view.mailbox());
        let Some(flags) = flags_named(&mut mailbox.lock(), names) else {
            return Ok(Completion::no("[LIMIT] there are too many keywords, or one is too long"));
        };
        view.sync(false, self.connection.output());
        for batch in uids.chunks(BATCH) {
            let changed = mailbox.change_flags(batch.iter().copied(), change, flags);
            view.notice(changed.before, changed.after);
            let keywords = mailbox.lock().keywords().to_vec();
            for entry in changed.entries.iter().filter(|_| !is_silent) {
                let Some(number) = view.number(entry.uid) else { continue };
                let flags = write_flags(entry.flags, &keywords, view.is_recent(entry.uid));
                let uid = if messages.is_uid { format!("UID {} ", entry.uid) } else { String::new() };
                self.connection.put_line(&format!("* {number} FETCH ({uid}FLAGS ({flags}))"));
            }
            self.connection.flush_some().await?;
        }
        Ok(Completion::ok("done"))
    }

    pub(super) fn copy(&mut self, messages: &Messages, name: &str, is_move: bool) -> Completion {
        let Some(view) = &self.view else { return no_mailbox() };
        if is_move && view.is_read_only() {
            return read_only();
        }
        let uids = match chosen_uids(view, messages) {
            Ok(uids) => uids,
            Err(missing) => return missing.into(),
        };
        let Some(target) = self.mailbox(name) else {
            return Completion::no("[TRYCREATE] there is no such mailbox");
        };
        let copied = match copy_all(view.mailbox(), &target, &uids) {
            Ok(copied) => copied,
            Err(refused) => return refused,
        };
        if copied.is_empty() {
            return Completion::ok("there is nothing left to do");
        }
        let (from, to): (Vec<u32>, Vec<u32>) = copied.into_iter().unzip();
        let code = format!("[COPYUID {} {} {}]", target.validity(), write_ranges(&from), write_ranges(&to));
        if !is_move {
            return Completion::Ok(format!("{code} copied"));
        }
        view.mailbox().expunge(|entry| from.binary_search(&entry.uid).is_ok());
        self.connection.put_line(&format!("* OK {code} moved"));
        Completion::ok("done")
    }
}

fn read_only() -> Completion {
    Completion::no("[READ-ONLY] the mailbox was only examined")
}

/// Returns the flags of these names, and makes keywords of those that are new; `None` where it cannot. Flags of the
/// protocol that nobody knows or may set are left out.
pub(super) fn flags_named(state: &mut MailboxState, names: &[String]) -> Option<MailFlags> {
    let mut flags = MailFlags::default();
    for name in names {
        let system = SYSTEM_FLAGS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
        flags = match system {
            Some((_, flag)) => flags.with(*flag),
            None if name.starts_with('\\') => flags,
            None => flags.with(state.keyword(name)?),
        };
    }
    Some(flags)
}

/// Returns the UIDs of the messages of a command, ascending.
pub(super) fn chosen_uids(view: &MailboxView, messages: &Messages) -> Result<Vec<u32>, NoSuchMessage> {
    let numbers = view.numbers(messages)?;
    Ok(numbers.into_iter().map(|number| view.uids()[number as usize - 1]).collect())
}

/// Copies messages, all or none of them; returns the UID of each that is still there, and that of its copy.
fn copy_all(
    source: &SharedMailbox,
    target: &SharedMailbox,
    uids: &[u32],
) -> Result<Vec<(u32, u32)>, Completion> {
    let (entries, names): (Vec<MailboxEntry>, Vec<Vec<String>>) = {
        let state = source.lock();
        let entries: Vec<MailboxEntry> = uids.iter().filter_map(|uid| state.entry(*uid).cloned()).collect();
        let names = |entry: &MailboxEntry| flag_names(entry.flags, state.keywords());
        let names = entries.iter().map(names).collect();
        (entries, names)
    };
    let charge: u64 = entries.iter().map(|entry| entry.message.charge()).sum();
    if !target.room().reserve(charge) {
        return Err(full());
    }
    let mut copied: Vec<(u32, u32)> = Vec::with_capacity(entries.len());
    for (entry, names) in entries.into_iter().zip(names) {
        let flags = flags_named(&mut target.lock(), &names).unwrap_or_default();
        let uid = entry.uid;
        let new = NewEntry { flags, date: entry.date, message: entry.message };
        if let Ok(copy) = target.add_reserved(new) {
            copied.push((uid, copy));
        }
    }
    Ok(copied)
}

pub(super) fn full() -> Completion {
    Completion::no("[OVERQUOTA] the mailbox is full")
}

/// Returns the names of flags, as keywords have other places in each mailbox.
fn flag_names(flags: MailFlags, keywords: &[Box<str>]) -> Vec<String> {
    write_flags(flags, keywords, false).split_ascii_whitespace().map(str::to_owned).collect()
}

/// Returns the answer to an extended search (RFC 4731).
fn extended_search_line(tag: &str, is_uid: bool, returns: &[SearchReturn], numbers: &[u32]) -> String {
    let mut line = format!("* ESEARCH (TAG \"{tag}\")");
    if is_uid {
        line.push_str(" UID");
    }
    for wanted in returns {
        let result = match wanted {
            SearchReturn::Least => numbers.first().map(|number| format!(" MIN {number}")),
            SearchReturn::Greatest => numbers.last().map(|number| format!(" MAX {number}")),
            SearchReturn::All => (!numbers.is_empty()).then(|| format!(" ALL {}", write_ranges(numbers))),
            SearchReturn::Number => Some(format!(" COUNT {}", numbers.len())),
        };
        line.push_str(&result.unwrap_or_default());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_searches_leave_out_what_is_not_there() {
        use SearchReturn::{All, Greatest, Least, Number};
        let all = [Least, Greatest, All, Number];
        let line = |numbers: &[u32]| extended_search_line("a1", true, &all, numbers);
        assert_eq!(line(&[2, 3, 7]), "* ESEARCH (TAG \"a1\") UID MIN 2 MAX 7 ALL 2:3,7 COUNT 3");
        assert_eq!(line(&[]), "* ESEARCH (TAG \"a1\") UID COUNT 0");
    }
}

//! The counted items: the kinds of operations, each with its weight in the score.

/// An item that is counted, with a weight.
///
/// Those of a user's own mailbox come first, in the order of the mail loop, then those of the shared mailbox, then those
/// that only other scripts have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CountedItem {
    /// The mailbox is opened.
    OpenMailbox,
    /// The view of the mailbox is opened, with the collection of its entries.
    OpenView,
    /// The first page of the view is read.
    ReadPage,
    /// A document is read.
    ReadDocument,
    /// A document gets a category.
    UpdateDocument,
    /// A memo is sent: look-ups of its recipients, the submission, and a copy that is kept.
    SendMemo,
    /// An appointment is made.
    MakeAppointment,
    /// Users are invited to a meeting.
    Invite,
    /// An invitation is answered.
    Respond,
    /// A document is added.
    AddDocument,
    /// A document is deleted.
    DeleteDocument,
    /// The view is scrolled by a page.
    Scroll,
    /// View and mailbox are closed.
    CloseMailbox,
    /// The shared mailbox is opened.
    OpenShared,
    /// Its view is opened.
    OpenSharedView,
    /// A page of its view is read.
    ReadSharedPage,
    /// Documents of it are marked unread.
    MarkUnread,
    /// The next unread document of it is read.
    ReadUnread,
    /// A document is added to it.
    AddShared,
    /// An old document of it is deleted.
    DeleteShared,
    /// It is closed.
    CloseShared,
    /// The mailboxes of a user are listed.
    ListMailboxes,
    /// A message is sent to one recipient.
    SendNote,
    /// A message is answered.
    Answer,
    /// A document is moved to another mailbox.
    MoveDocument,
    /// All messages of a mailbox are fetched and deleted.
    Drain,
    /// The mailbox is checked for new mail.
    CheckMail,
}

impl CountedItem {
    /// The number of items.
    pub const COUNT: usize = CountedItem::ALL.len();

    /// All items, each with its name and weight. Those of the mail loop have 20 in sum per loop, those of the shared mailbox
    /// 16 more.
    const ROWS: [(CountedItem, &'static str, u32); 27] = [
        (CountedItem::OpenMailbox, "open mailbox", 3),
        (CountedItem::OpenView, "open view", 1),
        (CountedItem::ReadPage, "read page", 1),
        (CountedItem::ReadDocument, "read document", 1),
        (CountedItem::UpdateDocument, "update document", 1),
        (CountedItem::SendMemo, "send memo", 6),
        (CountedItem::MakeAppointment, "make appointment", 2),
        (CountedItem::Invite, "invite", 2),
        (CountedItem::Respond, "respond", 2),
        (CountedItem::AddDocument, "add document", 1),
        (CountedItem::DeleteDocument, "delete document", 1),
        (CountedItem::Scroll, "scroll", 1),
        (CountedItem::CloseMailbox, "close mailbox", 1),
        (CountedItem::OpenShared, "open shared mailbox", 3),
        (CountedItem::OpenSharedView, "open shared view", 1),
        (CountedItem::ReadSharedPage, "read shared page", 1),
        (CountedItem::MarkUnread, "mark unread", 1),
        (CountedItem::ReadUnread, "read shared document", 1),
        (CountedItem::AddShared, "add shared document", 1),
        (CountedItem::DeleteShared, "delete shared document", 1),
        (CountedItem::CloseShared, "close shared mailbox", 1),
        (CountedItem::ListMailboxes, "list mailboxes", 1),
        (CountedItem::SendNote, "send note", 2),
        (CountedItem::Answer, "answer", 2),
        (CountedItem::MoveDocument, "move document", 1),
        (CountedItem::Drain, "drain mailbox", 1),
        (CountedItem::CheckMail, "check mail", 1),
    ];

    /// All items, in the order of their declaration.
    pub const ALL: [CountedItem; 27] = {
        let mut all = [CountedItem::OpenMailbox; 27];
        let mut index = 0;
        while index < all.len() {
            all[index] = CountedItem::ROWS[index].0;
            index += 1;
        }
        all
    };

    /// Returns its index in [`CountedItem::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        CountedItem::ROWS[self.index()].1
    }

    /// Returns its weight: the number of transactions for which it stands.
    pub fn weight(self) -> u32 {
        CountedItem::ROWS[self.index()].2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_in_the_order_of_their_indexes_and_have_names_of_their_own() {
        let indexes: Vec<usize> = CountedItem::ALL.into_iter().map(CountedItem::index).collect();
        assert_eq!(indexes, (0..CountedItem::COUNT).collect::<Vec<_>>());
        let names: std::collections::BTreeSet<&str> =
            CountedItem::ALL.into_iter().map(CountedItem::name).collect();
        assert_eq!(names.len(), CountedItem::COUNT);
        assert!(CountedItem::ALL.into_iter().all(|item| 0 < item.weight()));
    }
}

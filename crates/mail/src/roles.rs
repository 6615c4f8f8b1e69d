//! The parts that users have in a test.

/// The part of a user.
///
/// In the original, machines have these parts: a source driver that starts the test and times it, child drivers with the
/// users, and destination servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailRole {
    /// A single user whose response times are told apart, beside those who make the load.
    Source,
    /// A user who makes the load.
    Child,
    /// A user who only gets mail.
    Destination,
}

/// The users of a directory by their parts: children first, then the source, if there is one, then destinations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailRoles {
    /// The users who make the load.
    pub n_children: u32,
    /// Whether there is a source.
    pub has_source: bool,
}

impl MailRoles {
    /// Returns the number of users who act: children and source.
    pub fn n_active(&self) -> u32 {
        self.n_children.saturating_add(u32::from(self.has_source))
    }

    /// Returns the part of a user.
    pub fn role(&self, user: u32) -> MailRole {
        if user < self.n_children {
            MailRole::Child
        } else if user < self.n_active() {
            MailRole::Source
        } else {
            MailRole::Destination
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_follows_the_children() {
        let roles = MailRoles { n_children: 2, has_source: true };
        let parts = [0, 1, 2, 3].map(|user| roles.role(user));
        assert_eq!(parts, [MailRole::Child, MailRole::Child, MailRole::Source, MailRole::Destination]);
        assert_eq!(
            (roles.n_active(), MailRoles { has_source: false, ..roles }.role(2)),
            (3, MailRole::Destination)
        );
        assert_eq!(MailRoles { n_children: u32::MAX, has_source: true }.n_active(), u32::MAX);
    }
}

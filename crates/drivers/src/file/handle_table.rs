//! Open files by their handles.

use files::{FilePath, Handle};

/// A file or folder that is open.
#[derive(Debug)]
pub(crate) struct OpenFile<F> {
    /// Its path now.
    pub(crate) path: FilePath,
    /// The handle of the server or of the kernel.
    pub(crate) file: F,
}

/// A client's table of open files: the same that its user keeps. `F` is the handle of the server or of the kernel.
#[derive(Debug)]
pub(crate) struct HandleTable<F> {
    slots: Vec<Option<OpenFile<F>>>,
}

impl<F> HandleTable<F> {
    /// Makes a table of no open files.
    pub(crate) fn new() -> HandleTable<F> {
        HandleTable { slots: Vec::new() }
    }

    /// Fills a slot. Returns what was in it, which is to be closed.
    pub(crate) fn insert(&mut self, Handle(slot): Handle, open: OpenFile<F>) -> Option<OpenFile<F>> {
        let slot = usize::from(slot);
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot].replace(open)
    }

    /// Returns what is open in a slot.
    pub(crate) fn get(&self, Handle(slot): Handle) -> Option<&OpenFile<F>> {
        self.slots.get(usize::from(slot))?.as_ref()
    }

    /// Returns what is open in a slot, to be changed.
    pub(crate) fn get_mut(&mut self, Handle(slot): Handle) -> Option<&mut OpenFile<F>> {
        self.slots.get_mut(usize::from(slot))?.as_mut()
    }

    /// Returns whether nothing is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }

    /// Empties a slot, and returns what is to be closed.
    pub(crate) fn remove(&mut self, Handle(slot): Handle) -> Option<OpenFile<F>> {
        self.slots.get_mut(usize::from(slot))?.take()
    }

    /// Gives what is open at a path another path.
    pub(crate) fn renamed(&mut self, from: FilePath, to: FilePath) {
        for open in self.slots.iter_mut().flatten().filter(|open| open.path == from) {
            open.path = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use files::{Entry, Folder, Owner};

    use super::*;

    #[test]
    fn slots_are_filled_emptied_and_filled_again() {
        let path = |number| FilePath::new(Owner::Client(0), Folder::Bulk, Entry::File(number));
        let open = |number, file| OpenFile { path: path(number), file };
        let mut table = HandleTable::new();
        assert!(table.insert(Handle(9), open(0, 'a')).is_none() && table.get(Handle(8)).is_none());
        assert_eq!(table.insert(Handle(9), open(1, 'b')).map(|before| before.file), Some('a'));
        table.renamed(path(1), path(2));
        table.renamed(path(0), path(3));
        assert_eq!(table.get(Handle(9)).map(|open| (open.path, open.file)), Some((path(2), 'b')));
        assert_eq!(table.remove(Handle(9)).map(|open| open.file), Some('b'));
        assert!(table.remove(Handle(9)).is_none() && table.remove(Handle(100)).is_none());
    }
}

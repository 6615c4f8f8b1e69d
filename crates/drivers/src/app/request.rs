//! Requests: operation, argument and payload.

use frame::app::{AppOperation, DataSettings, FileIo, SEQUENTIAL_BLOCKS, fill_payload, sized_content};
use model::{AppFileIo, AppRequest, AppTransaction, AppWorkload};

use super::results::SEEDS;

/// A request, whatever the protocol.
#[derive(Debug, Clone, Copy)]
pub(super) struct AppCall {
    pub(super) operation: AppOperation,
    pub(super) argument: u64,
    pub(super) payload: RequestPayload,
}

/// The payload of a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum RequestPayload {
    /// Nothing.
    None,
    /// The data that a client needs.
    Data(DataSettings),
    /// A message: the content of a seed.
    Message { seed: u32, bytes: u32 },
    /// The rounds of a computation.
    Rounds(u32),
}

/// The positions of a client in the range of its file, as numbers of blocks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FileCursor {
    read: u64,
    write: u64,
}

impl AppCall {
    /// Makes the request of an operation without a payload.
    pub(super) fn new(operation: AppOperation, argument: u64) -> AppCall {
        AppCall { operation, argument, payload: RequestPayload::None }
    }

    /// Returns it with the data that a client of a workload needs, if it needs any.
    pub(super) fn with_data(self, workload: &AppWorkload) -> AppCall {
        if workload.needs_files() {
            AppCall { payload: RequestPayload::Data(data_settings(workload)), ..self }
        } else {
            self
        }
    }

    /// Makes the request of a transaction. Sequential ones advance the cursor.
    pub(super) fn of(request: &AppRequest, workload: &AppWorkload, cursor: &mut FileCursor) -> AppCall {
        let blocks = data_settings(workload).range_blocks();
        let seed = content_seed(request);
        let argument = match request.transaction {
            AppTransaction::ClientServer | AppTransaction::Append => 0,
            AppTransaction::ServerClient => sized_content(request.bytes, seed),
            AppTransaction::Process => request.number % SEEDS,
            AppTransaction::RandomRead | AppTransaction::RandomWrite => request.number % blocks,
            AppTransaction::SequentialRead => advance(&mut cursor.read, blocks),
            AppTransaction::SequentialWrite => advance(&mut cursor.write, blocks),
        };
        let payload = match request.transaction {
            AppTransaction::ClientServer => RequestPayload::Message { seed, bytes: request.bytes },
            AppTransaction::Process => RequestPayload::Rounds(workload.rounds),
            _ => RequestPayload::None,
        };
        AppCall { payload, ..AppCall::new(operation(request.transaction), argument) }
    }
}

fn data_settings(workload: &AppWorkload) -> DataSettings {
    DataSettings {
        file_bytes: workload.file_bytes(),
        range_bytes: workload.range_bytes,
        io: match workload.io {
            AppFileIo::Buffered => FileIo::Buffered,
            AppFileIo::Direct => FileIo::Direct,
            AppFileIo::Durable => FileIo::Durable,
        },
        is_cold: workload.is_cold,
    }
}

/// Returns the position, and moves it to the next one, from the start again where the range ends.
fn advance(position: &mut u64, blocks: u64) -> u64 {
    let first = if blocks < *position + SEQUENTIAL_BLOCKS { 0 } else { *position };
    *position = first + SEQUENTIAL_BLOCKS;
    first
}

/// Returns the message of a transaction.
pub(super) fn message(request: &AppRequest) -> Vec<u8> {
    let mut message = vec![0; request.bytes as usize];
    fill_payload(content_seed(request).into(), &mut message);
    message
}

/// Returns the seed of a message's content.
fn content_seed(request: &AppRequest) -> u32 {
    request.number as u32
}

/// Returns whether a transaction is a computation.
pub(super) fn is_computation(transaction: AppTransaction) -> bool {
    operation(transaction) == AppOperation::Process
}

/// Returns the name of a transaction: `RREAD`.
pub(super) fn name(transaction: AppTransaction) -> &'static str {
    transaction.name()
}

fn operation(transaction: AppTransaction) -> AppOperation {
    match transaction {
        AppTransaction::ClientServer => AppOperation::ClientServer,
        AppTransaction::ServerClient => AppOperation::ServerClient,
        AppTransaction::Process => AppOperation::Process,
        AppTransaction::RandomRead => AppOperation::RandomRead,
        AppTransaction::RandomWrite => AppOperation::RandomWrite,
        AppTransaction::SequentialRead => AppOperation::SequentialRead,
        AppTransaction::SequentialWrite => AppOperation::SequentialWrite,
        AppTransaction::Append => AppOperation::Append,
    }
}

#[cfg(test)]
mod tests {
    use languages::NamedValues;

    use super::*;

    /// A range of ten blocks: the last two are too few for a transfer of four.
    #[test]
    fn the_cursor_wraps_where_a_transfer_does_not_fit() {
        let mut position = 0;
        let firsts: Vec<u64> = (0..5).map(|_| advance(&mut position, 10)).collect();
        assert_eq!(firsts, [0, 4, 0, 4, 0]);
        let mut position = 0;
        let mut firsts = Vec::new();
        firsts.extend((0..3).map(|_| advance(&mut position, 4)));
        assert_eq!(firsts, [0, 0, 0]);
    }

    #[test]
    fn operations_have_the_names_of_their_transactions() {
        for (name, transaction) in AppTransaction::NAMES {
            assert_eq!(operation(*transaction).name(), *name);
            assert_eq!(operation(*transaction).needs_data(), transaction.needs_file());
        }
    }
}

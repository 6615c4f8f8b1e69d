//! The operations of the application server, and the statuses of its replies.

/// The argument of `PHASE` by which a client has its data made ready.
pub const PREPARE: u64 = 1;

/// Number of blocks that a sequential operation reads or writes.
pub const SEQUENTIAL_BLOCKS: u64 = 4;

/// An operation of the application server, with its number on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AppOperation {
    /// Opens a session: the argument is the number of the client, the payload states its data.
    Hello = 1,
    /// Begins the next phase of a session: the client's data are made ready.
    Phase = 2,
    /// Sends a payload to the server.
    ClientServer = 3,
    /// Fetches a payload from the server.
    ServerClient = 4,
    /// Computes.
    Process = 5,
    /// Reads a block anywhere in the range of the client's file.
    RandomRead = 6,
    /// Writes such a block.
    RandomWrite = 7,
    /// Reads [`SEQUENTIAL_BLOCKS`] blocks.
    SequentialRead = 8,
    /// Writes as many.
    SequentialWrite = 9,
    /// Appends a block to a second file of the client.
    Append = 10,
    /// Ends a session.
    Bye = 11,
    /// Asks for the load of the server; without a session, and never queued.
    Stats = 12,
}

/// The status of a reply of the application server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum AppStatus {
    /// The operation succeeded.
    Ok = 0,
    /// All service threads were busy and the queue was full; nothing was done.
    Busy = 1,
    /// The operation does not exist, or not with these flags, this argument or this payload.
    BadRequest = 2,
    /// The payload has another checksum than its header says.
    WrongChecksum = 3,
    /// The operation needs `HELLO`, or data that `PHASE` makes ready, before it.
    OutOfPhase = 4,
    /// A number or size is above what the server allows.
    OverLimit = 5,
    /// A block of a data file does not have its number.
    WrongBlock = 6,
    /// The disk is full, or would be.
    StorageFull = 7,
    /// A file could not be created, read or written.
    StorageFailed = 8,
}

impl AppOperation {
    /// All operations, in the order of their numbers.
    pub const ALL: [AppOperation; 12] = [
        AppOperation::Hello,
        AppOperation::Phase,
        AppOperation::ClientServer,
        AppOperation::ServerClient,
        AppOperation::Process,
        AppOperation::RandomRead,
        AppOperation::RandomWrite,
        AppOperation::SequentialRead,
        AppOperation::SequentialWrite,
        AppOperation::Append,
        AppOperation::Bye,
        AppOperation::Stats,
    ];

    /// Returns the operation with a number; `None` if there is none.
    pub fn from_number(number: u8) -> Option<AppOperation> {
        AppOperation::ALL.into_iter().find(|one| *one as u8 == number)
    }

    /// Returns the name: `RREAD`.
    pub fn name(self) -> &'static str {
        match self {
            AppOperation::Hello => "HELLO",
            AppOperation::Phase => "PHASE",
            AppOperation::ClientServer => "CS",
            AppOperation::ServerClient => "SC",
            AppOperation::Process => "PROC",
            AppOperation::RandomRead => "RREAD",
            AppOperation::RandomWrite => "RWRITE",
            AppOperation::SequentialRead => "SREAD",
            AppOperation::SequentialWrite => "SWRITE",
            AppOperation::Append => "APPEND",
            AppOperation::Bye => "BYE",
            AppOperation::Stats => "STATS",
        }
    }

    /// Returns whether it needs the client's data file.
    pub fn needs_data(self) -> bool {
        matches!(
            self,
            AppOperation::RandomRead
                | AppOperation::RandomWrite
                | AppOperation::SequentialRead
                | AppOperation::SequentialWrite
                | AppOperation::Append
        )
    }
}

impl AppStatus {
    /// All statuses, in the order of their numbers.
    pub const ALL: [AppStatus; 9] = [
        AppStatus::Ok,
        AppStatus::Busy,
        AppStatus::BadRequest,
        AppStatus::WrongChecksum,
        AppStatus::OutOfPhase,
        AppStatus::OverLimit,
        AppStatus::WrongBlock,
        AppStatus::StorageFull,
        AppStatus::StorageFailed,
    ];

    /// Returns the status with a number; `None` if there is none.
    pub fn from_number(number: u16) -> Option<AppStatus> {
        AppStatus::ALL.get(usize::from(number)).copied()
    }

    /// Returns a clause for people.
    pub fn describe(self) -> &'static str {
        match self {
            AppStatus::Ok => "the operation succeeded",
            AppStatus::Busy => "its queue is full",
            AppStatus::BadRequest => "it does not understand the request",
            AppStatus::WrongChecksum => "the payload arrived with another checksum",
            AppStatus::OutOfPhase => "the session has not come so far",
            AppStatus::OverLimit => "a number or size is above its limits",
            AppStatus::WrongBlock => "a block of the data file has a wrong number",
            AppStatus::StorageFull => "its disk is full",
            AppStatus::StorageFailed => "a file could not be used",
        }
    }
}

/// Returns the argument of `SC`: the length of the payload to be sent, and the seed of its content.
pub fn sized_content(bytes: u32, seed: u32) -> u64 {
    u64::from(bytes) | u64::from(seed) << 32
}

/// Returns length and seed of such an argument.
pub fn split_sized_content(argument: u64) -> (u32, u32) {
    (argument as u32, (argument >> 32) as u32)
}

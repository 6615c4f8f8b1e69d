//! A load file of our own: a client makes a letter, reads and renames it, and deletes it, in 24 operations.

pub(crate) const LOAD_FILE: &str = r#"Deltree "\clients\client1" NT_STATUS_OK
Mkdir "\clients\client1" NT_STATUS_OK
NTCreateX "\clients\client1\docs" 0x41 2 10 NT_STATUS_OK
Close 10 NT_STATUS_OK
NTCreateX "\clients\client1\docs\letter.txt" 0x40 0x1 11 NT_STATUS_OBJECT_NAME_NOT_FOUND
QUERY_PATH_INFORMATION "\clients\client1\docs\letter.txt" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
NTCreateX "\clients\client1\docs\letter.txt" 0x44 0x2 12 NT_STATUS_OK
WriteX 12 81919 1 1 NT_STATUS_OK
QUERY_FILE_INFORMATION 12 258 NT_STATUS_OK
WriteX 12 0 65536 65536 NT_STATUS_OK
WriteX 12 65536 16384 16384 NT_STATUS_OK
Flush 12 NT_STATUS_OK
LockX 12 2147483538 1 NT_STATUS_OK
ReadX 12 0 4096 4096 NT_STATUS_OK
ReadX 12 4096 61440 61440 NT_STATUS_OK
UnlockX 12 2147483538 1 NT_STATUS_OK
SET_FILE_INFORMATION 12 1004 NT_STATUS_OK
Close 12 NT_STATUS_OK
QUERY_PATH_INFORMATION "\clients\client1\docs\letter.txt" 1035 NT_STATUS_OK
Rename "\clients\client1\docs\letter.txt" "\clients\client1\docs\letter.old" NT_STATUS_OK
FIND_FIRST "\clients\client1\docs\*" 260 1366 1 NT_STATUS_OK
FIND_FIRST "\clients\client1\docs\*.jnk" 260 1366 0 NT_STATUS_NO_SUCH_FILE
QUERY_FS_INFORMATION 259 NT_STATUS_OK
Unlink "\clients\client1\docs\letter.old" 0x6 NT_STATUS_OK
"#;

package faults

// The codes. Each one is documented in docs/errors.md, which a test compares
// with this list.
const (
	CodeUsage         Code = "usage"
	CodeInternal      Code = "internal"
	CodeBadImage      Code = "bad-image"       // not a usable image at all
	CodeWrongMachine  Code = "wrong-machine"   // image is for another architecture or chip
	CodeNotBootable   Code = "not-bootable"    // no image definition the boot ROM accepts
	CodeImageTooLarge Code = "image-too-large" // contents outside the memories of the chip
	CodeFileAccess    Code = "file-access"     // a file cannot be read or written
	CodeHashMismatch  Code = "hash-mismatch"   // a sealed image or partition table was changed
	CodeBadPartitions Code = "bad-partitions"  // a partition table description is not usable
	CodeBadProfile    Code = "bad-profile"     // a profile or stem-hw.toml does not parse
	CodeBoardNotFound Code = "board-not-found"
	CodeAmbiguous     Code = "ambiguous-board"
	CodeMissingTool   Code = "missing-tool"
	CodeNotSupported  Code = "not-supported" // the target lacks this capability
	CodeTargetCrashed Code = "firmware-crash"
	CodeFirmwareFail  Code = "firmware-failed"
	CodeTextPending   Code = "text-pending" // --expect-text did not appear
	CodeTimeout       Code = "timeout"
	CodeInterrupted   Code = "interrupted"
	CodeTargetFailed  Code = "target-failed"
	CodeBusy          Code = "busy"            // somebody else holds it
	CodeBadState      Code = "bad-state"       // a file in the state folder cannot be used
	CodeWriteFailed   Code = "write-failed"    // flash was not written or erased
	CodeVerify        Code = "verify-mismatch" // flash holds something else
	CodeLost          Code = "connection-lost"
	CodeRefused       Code = "refused"          // by policy or by a person
	CodeVersion       Code = "version-mismatch" // the other side is another version of stem-hw
)

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
	CodeBadWiring     Code = "bad-wiring"      // a description of what is connected is not usable
	CodeBadSnapshot   Code = "bad-snapshot"    // a snapshot does not fit
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
	CodeNoAccess      Code = "no-access"        // a device node may not be opened
	CodeNoUSB         Code = "no-usb"           // built without USB
	CodeTrouble       Code = "trouble"          // doctor found something to mend
	CodeOtherChip     Code = "other-chip"       // another chip than the one that was pinned
	CodeNoTarget      Code = "no-target"        // the probe is there, and no chip answers it
	CodeBadWires      Code = "bad-wires"        // what passes between probe and chip is spoilt
	CodeNoPower       Code = "no-power"         // the chip's debug domain gets no power
	CodeWrongChip     Code = "wrong-chip"       // the chip behind the probe is no RP2350
	CodeLocked        Code = "chip-locked"      // fuses do not allow debugging
	CodeCoreStuck     Code = "core-stuck"       // a core or its bus does not obey
	CodeNoCard        Code = "no-card"          // no series, card or task of that name
	CodeBadCard       Code = "bad-card"         // a stem.toml does not parse, or nothing can be built
	CodeUntrusted     Code = "untrusted"        // a project's own commands that nobody trusted
	CodeBuildFailed   Code = "build-failed"     // a build command failed
	CodeNoSession     Code = "no-session"       // no session of that name
	CodeSessionExists Code = "session-exists"   // it runs already
	CodeNoJob         Code = "no-job"           // no job of that id
)

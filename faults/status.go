package faults

// Status is the exit status of the stem-hw process. The values are part of
// the command-line contract: scripts build on them, so they never change.
type Status int

const (
	StatusOK          Status = 0   // success
	StatusInternal    Status = 1   // a bug in stem-hw, or an error nobody classified
	StatusUsage       Status = 2   // wrong words on the command line
	StatusNotFound    Status = 3   // board, probe or simulator not found
	StatusAmbiguous   Status = 4   // several candidates, or another chip than the one pinned
	StatusPermission  Status = 5   // the device may not be opened
	StatusBusy        Status = 6   // somebody else holds it
	StatusImage       Status = 7   // image unusable: format, architecture, family, size
	StatusWrite       Status = 8   // write or erase failed
	StatusVerify      Status = 9   // verify mismatch
	StatusTarget      Status = 10  // target or debug failure
	StatusMissingTool Status = 11  // tool or container missing
	StatusLost        Status = 12  // connection lost
	StatusRefused     Status = 13  // refused by policy or by a person
	StatusFirmware    Status = 20  // the firmware said fail
	StatusTimeout     Status = 124 // time or cycles spent with a text still pending
	StatusInterrupted Status = 130 // ctrl-c
)

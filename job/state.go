package job

import "slices"

// State is where a job stands.
type State string

// The states.
const (
	Queued           State = "queued"
	AwaitingApproval State = "awaiting_approval"
	Approved         State = "approved"
	Flashing         State = "flashing"
	Verifying        State = "verifying"
	Flashed          State = "flashed"
	FlashFailed      State = "flash_failed"
	Rejected         State = "rejected"
	Cancelled        State = "cancelled"
	Expired          State = "expired"
)

// States are all of them.
func States() []State {
	return []State{Queued, AwaitingApproval, Approved, Flashing, Verifying, Flashed, FlashFailed, Rejected, Cancelled, Expired}
}

// next are the states that may follow.
var next = map[State][]State{
	Queued:           {AwaitingApproval, Cancelled, Expired},
	AwaitingApproval: {Approved, Rejected, Cancelled, Expired},
	Approved:         {Flashing, Cancelled, Expired},
	Flashing:         {Verifying, Flashed, FlashFailed, Approved},
	Verifying:        {Flashed, FlashFailed, Approved},
}

// may says whether one state may follow another.
func may(from, to State) bool { return slices.Contains(next[from], to) }

// Live says whether something may still happen to a job in this state.
func (s State) Live() bool { return len(next[s]) > 0 }

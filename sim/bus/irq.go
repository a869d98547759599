package bus

// Reason says why a core's Run returned.
type Reason uint8

const (
	// ReasonLimit: the cycle limit was reached.
	ReasonLimit Reason = iota
	// ReasonNotReady: the next access needs the other cores to catch up.
	ReasonNotReady
	// ReasonAsleep: the core waits (wfi, wfe, h3.block) and nothing is pending.
	ReasonAsleep
	// ReasonHalted: the core is in Debug state.
	ReasonHalted
	// ReasonStopped: a stop was asked for (Stop), or a hook asked for it.
	ReasonStopped
	// ReasonLockup: the core repeats itself for ever (an exception that raises
	// itself, a jump to itself with interrupts off) unless something outside
	// changes.
	ReasonLockup
)

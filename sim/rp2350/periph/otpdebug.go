package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/otp"

// DebugAccess is what the OTP block allows of debugging (datasheet 3.5.9, 13.9).
type DebugAccess struct {
	// Core allows a core's access port and halting it, Secure doing so in Secure
	// state.
	Core, Secure [2]bool
	// Misc allows the CTI and the access port of the RISC-V Debug Module.
	Misc bool
}

// Bits of CRIT1, and of DEBUGEN by core.
const (
	critSecureDebugDisable = 1 << 1
	critDebugDisable       = 1 << 2

	debugenMisc = 1 << 8
	debugenAll  = 0x10f
)

// Debug keys are keys 5 and 6; eight rows each after keys 1 to 4, valid with
// three copies of a bit (otp_data.h).
const (
	rowDebugKey  = otp.RowKey1 + 4*8
	rowKey1Valid = 0xf79
	debugKeys    = 2
	keys         = 6
)

// debugLock is what the OTP stage read of the fuses when it was reset last.
// Fuses programmed since have no effect yet.
type debugLock struct {
	crit1 uint32
	valid uint32 // bit n for key n+1
	keys  [debugKeys][16]byte

	// The key that came over the RP-AP, which is not reset with the block.
	given   [16]byte
	isGiven bool
}

// latch reads the fuses.
func (l *debugLock) latch(a *otp.Array) {
	l.crit1, l.valid = a.AnyOf8(otp.RowCrit1), 0
	for i := range keys {
		v := a.Raw(rowKey1Valid + i)
		if v&(v>>8)&1|v>>8&(v>>16)&1|v>>16&v&1 != 0 {
			l.valid |= 1 << i
		}
	}
	for k := range l.keys {
		for i := range 8 {
			w, _ := a.Data(rowDebugKey + 8*k + i)
			l.keys[k][2*i], l.keys[k][2*i+1] = byte(w), byte(w>>8)
		}
	}
}

// has reports whether a debug key is installed, and whether it was given.
func (l *debugLock) has(k int) (valid, given bool) {
	valid = l.valid>>(keys-debugKeys+k)&1 != 0
	return valid, valid && l.isGiven && l.given == l.keys[k]
}

// GiveDebugKey takes a key that a debugger entered.
func (o *OTP) GiveDebugKey(key [16]byte) { o.lock.given, o.lock.isGiven = key, true }

// ForgetDebugKey is a reset of the RP-AP.
func (o *OTP) ForgetDebugKey() { o.lock.isGiven = false }

// DebugAccess decides from the fuses as they were at the last reset of the
// block, the key that was given, and DEBUGEN. riscvToo says that disabling
// Secure debugging disables the RISC-V Debug Module, as from revision A3 on
// (datasheet, appendix C).
func (o *OTP) DebugAccess(riscvToo bool) DebugAccess {
	secureKey, secureGiven := o.lock.has(0)
	otherKey, otherGiven := o.lock.has(1)
	off := o.lock.crit1&critDebugDisable != 0 ||
		(secureKey || otherKey) && !secureGiven && !otherGiven
	noSecure := off || o.lock.crit1&critSecureDebugDisable != 0 || secureKey && !secureGiven
	noRISCV := off || riscvToo && o.lock.crit1&critSecureDebugDisable != 0
	enable := o.get(otpDebugEn)
	var a DebugAccess
	for i := range a.Core {
		a.Core[i] = !off || enable>>(2*i)&1 != 0
		a.Secure[i] = a.Core[i] && (!noSecure || enable>>(2*i+1)&1 != 0)
	}
	a.Misc = !noRISCV || enable&debugenMisc != 0
	return a
}

// writeDebugEn writes DEBUGEN, all but its locked bits, or DEBUGEN_LOCK, whose
// bits can only be set.
func (o *OTP) writeDebugEn(offset uint32, w Write) {
	old := o.get(offset)
	v := w.Apply(old) & debugenAll
	if offset == otpDebugEnLock {
		o.set(offset, old|v)
		return
	}
	locked := o.get(otpDebugEnLock)
	o.set(offset, old&locked|v&^locked)
}

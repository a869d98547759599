package dap

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// commandNames are the words of the log.
var commandNames = map[byte]string{
	cmdInfo: "info", cmdHostStatus: "status", cmdConnect: "connect", cmdDisconnect: "disconnect",
	cmdTransferConfigure: "transfer-configure", cmdTransfer: "transfer", cmdTransferBlock: "block",
	cmdWriteAbort: "abort", cmdSWJPins: "pins", cmdSWJClock: "clock", cmdSWJSequence: "sequence",
	cmdSWDConfigure: "swd-configure", cmdSWDSequence: "swd-sequence",
}

func commandName(id byte) string {
	if n, ok := commandNames[id]; ok {
		return n
	}
	return fmt.Sprintf("%02x", id)
}

// register names an access as the debug port's documentation does.
func register(b uint8) string {
	a := b & 0xc
	if b&BitAP != 0 {
		return fmt.Sprintf("ap[%x]", a)
	}
	names := [4]string{"abort", "ctrl", "select", "targetsel"}
	if b&BitRead != 0 {
		names = [4]string{"dpidr", "ctrl", "resend", "rdbuff"}
	}
	return names[a>>2]
}

// describe is a packet as a line of the log.
func describe(p []byte) string {
	if len(p) == 0 {
		return "nothing"
	}
	var b strings.Builder
	b.WriteString(commandName(p[0]))
	switch {
	case p[0] == cmdTransfer && len(p) >= 3:
		for rest := p[3:]; len(rest) > 0; {
			bits := rest[0]
			rest = rest[1:]
			b.WriteString(" " + register(bits))
			if bits&BitRead == 0 && len(rest) >= 4 {
				fmt.Fprintf(&b, "=%08x", binary.LittleEndian.Uint32(rest))
				rest = rest[4:]
			}
		}
	case p[0] == cmdTransferBlock && len(p) >= 5:
		fmt.Fprintf(&b, " %s x%d", register(p[4]), binary.LittleEndian.Uint16(p[2:]))
		for rest := p[5:]; len(rest) >= 4; rest = rest[4:] {
			fmt.Fprintf(&b, " %08x", binary.LittleEndian.Uint32(rest))
		}
	case len(p) > 1:
		b.WriteString(" " + hex.EncodeToString(p[1:]))
	}
	return b.String()
}

// describeAnswer is an answer as a line of the log.
func describeAnswer(a []byte) string {
	if len(a) == 0 {
		return "nothing"
	}
	head := 0
	switch {
	case a[0] == cmdTransfer && len(a) >= 3:
		head = 3
	case a[0] == cmdTransferBlock && len(a) >= 4:
		head = 4
	}
	if head == 0 {
		return commandName(a[0]) + " " + hex.EncodeToString(a[1:])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s done %d ack %d", commandName(a[0]), a[1], a[head-1])
	for rest := a[head:]; len(rest) >= 4; rest = rest[4:] {
		fmt.Fprintf(&b, " %08x", binary.LittleEndian.Uint32(rest))
	}
	return b.String()
}

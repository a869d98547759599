package picoboot

import (
	"encoding/binary"
	"fmt"
)

const (
	magic       = 0x431fd10b
	commandSize = 32
	statusSize  = 16

	requestReset  = 0x41
	requestStatus = 0x42

	// Types of control requests (USB 2.0, table 9-2).
	vendorToInterface = 0x41
	toHost            = 0x80
)

// Command is the number of a command.
type Command uint8

// The commands that an RP2350 knows, OTP_WRITE left out.
const (
	ExclusiveAccess Command = 0x01
	FlashErase      Command = 0x03
	Read            Command = 0x84
	Write           Command = 0x05
	ExitXIP         Command = 0x06
	EnterXIP        Command = 0x07
	Reboot2         Command = 0x0a
	GetInfo         Command = 0x8b
	OTPRead         Command = 0x8c
)

// String is the name in the SDK.
func (c Command) String() string {
	switch c {
	case ExclusiveAccess:
		return "EXCLUSIVE_ACCESS"
	case FlashErase:
		return "FLASH_ERASE"
	case Read:
		return "READ"
	case Write:
		return "WRITE"
	case ExitXIP:
		return "EXIT_XIP"
	case EnterXIP:
		return "ENTER_CMD_XIP"
	case Reboot2:
		return "REBOOT2"
	case GetInfo:
		return "GET_INFO"
	case OTPRead:
		return "OTP_READ"
	}
	return fmt.Sprintf("command 0x%02x", uint8(c))
}

// toHost reports whether data goes to the host.
func (c Command) toHost() bool { return c&0x80 != 0 }

// Code is how a command ended, as CMD_STATUS says it.
type Code uint32

// The codes (pico-sdk, boot/picoboot_constants.h).
const (
	OK                   Code = 0
	UnknownCommand       Code = 1
	BadCommandLength     Code = 2
	BadTransferLength    Code = 3
	BadAddress           Code = 4
	BadAlignment         Code = 5
	InterleavedWrite     Code = 6
	Rebooting            Code = 7
	UnknownError         Code = 8
	InvalidState         Code = 9
	NotPermitted         Code = 10
	InvalidArgument      Code = 11
	BufferTooSmall       Code = 12
	PreconditionNotMet   Code = 13
	ModifiedData         Code = 14
	InvalidData          Code = 15
	NotFound             Code = 16
	UnsupportedOperation Code = 17
)

var codeTexts = [...]string{
	"ok", "unknown command", "wrong size of the arguments", "wrong length of the data", "no such address",
	"an address or length that is not aligned", "the drive wrote to flash in between", "the board restarts already",
	"unknown error", "wrong state", "not permitted", "invalid argument", "the buffer is too small",
	"a precondition is not met", "the data was changed meanwhile", "invalid data", "not found", "unsupported modification",
}

// String says it in words.
func (c Code) String() string {
	if int(c) < len(codeTexts) {
		return codeTexts[c]
	}
	return fmt.Sprintf("status %d", uint32(c))
}

// StatusError is a command that the boot ROM refused.
type StatusError struct {
	Command Command
	Code    Code
	// Addr and Size are what the command was about, where it is about memory.
	Addr, Size uint32
}

// Error says which command was refused, and why.
func (e *StatusError) Error() string {
	at := ""
	switch e.Command {
	case FlashErase, Read, Write:
		at = fmt.Sprintf(" of %d bytes at 0x%08x", e.Size, e.Addr)
	default:
	}
	return fmt.Sprintf("the boot ROM refused %s%s: %s", e.Command, at, e.Code)
}

// Status is the answer to CMD_STATUS.
type Status struct {
	Token      uint32
	Code       Code
	Command    Command
	InProgress bool
}

func parseStatus(b []byte) (Status, error) {
	if len(b) < statusSize {
		return Status{}, fmt.Errorf("CMD_STATUS answers with %d bytes, not %d", len(b), statusSize)
	}
	le := binary.LittleEndian
	return Status{Token: le.Uint32(b), Code: Code(le.Uint32(b[4:])), Command: Command(b[8]), InProgress: b[9] != 0}, nil
}

// packet builds a command.
func packet(token uint32, c Command, length uint32, args []byte) []byte {
	p := make([]byte, commandSize)
	le := binary.LittleEndian
	le.PutUint32(p, magic)
	le.PutUint32(p[4:], token)
	p[8], p[9] = byte(c), byte(len(args))
	le.PutUint32(p[12:], length)
	copy(p[16:], args)
	return p
}

// words are arguments.
func words(v ...uint32) []byte {
	var b []byte
	for _, w := range v {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

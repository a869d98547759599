package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"go.bug.st/serial"
	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/usb"
)

// Settings are those of a serial port.
type Settings struct {
	Baud int
	// Format is data bits, parity and stop bits: "8N1".
	Format string
	// NoDTR leaves the line DTR alone; firmware of the pico-sdk prints only while
	// it is set.
	NoDTR bool
}

// Default is 115200 8N1 with DTR set.
var Default = Settings{Baud: 115200, Format: "8N1"}

// mode turns settings into the library's.
func (s Settings) mode() (*serial.Mode, error) {
	bad := func() (*serial.Mode, error) {
		f := faults.Usage("a serial port cannot be set like this")
		f.Seen, f.Wanted = strconv.Quote(s.Format), "data bits, parity (N, E, O, M, S) and stop bits: 8N1, 7E1, 8N2"
		return nil, f
	}
	if s.Baud < 1 || s.Baud > 12_000_000 {
		f := faults.Usage("a serial port cannot be set to %d baud", s.Baud)
		f.Wanted = "115200, or another number"
		return nil, f
	}
	m := &serial.Mode{BaudRate: s.Baud}
	if s.NoDTR {
		m.InitialStatusBits = &serial.ModemOutputBits{}
	} // else the kernel sets DTR and RTS when the port is opened
	if len(s.Format) < 3 || s.Format[0] < '5' || s.Format[0] > '8' {
		return bad()
	}
	m.DataBits = int(s.Format[0] - '0')
	parity := strings.IndexByte("NOEMS", s.Format[1]&^0x20)
	if parity < 0 {
		return bad()
	}
	m.Parity = serial.Parity(parity)
	switch s.Format[2:] {
	case "1":
		m.StopBits = serial.OneStopBit
	case "1.5":
		m.StopBits = serial.OnePointFiveStopBits
	case "2":
		m.StopBits = serial.TwoStopBits
	default:
		return bad()
	}
	return m, nil
}

// Check says what is wrong with settings.
func (s Settings) Check() error {
	_, err := s.mode()
	return err
}

// Port is an open serial port.
type Port interface {
	Read(p []byte) (int, error)
	Write(p []byte) (int, error)
	Break(d time.Duration) error
	Close() error
}

// Open opens a serial port for this process alone.
func Open(node string, s Settings) (Port, error) {
	m, err := s.mode()
	if err != nil {
		return nil, err
	}
	var p serial.Port
	err = usb.WhenReady(context.Background(), "/", node, refused, func() (err error) {
		p, err = serial.Open(node, m)
		return err
	})
	switch {
	case err == nil:
		return p, nil
	case refused(err):
		return nil, &faults.Fault{
			Code: faults.CodeNoAccess, Status: faults.StatusPermission, Summary: "no permission to open the serial port", Seen: node,
			Try: []string{"stem-hw udev install", "stem-hw doctor"},
		}
	case portCode(err) == serial.PortBusy, errors.Is(err, unix.EBUSY):
		return nil, &faults.Fault{
			Code: faults.CodeBusy, Status: faults.StatusBusy, Summary: "another program has the serial port open", Seen: node,
			Try: []string{"fuser -v " + node + "      (says which one)"},
		}
	}
	return nil, fmt.Errorf("opening %s: %w", node, err)
}

func refused(err error) bool {
	return portCode(err) == serial.PermissionDenied || errors.Is(err, fs.ErrPermission)
}

// portCode is the serial package's own word for an error, -1 for others.
func portCode(err error) serial.PortErrorCode {
	var e *serial.PortError
	if errors.As(err, &e) {
		return e.Code()
	}
	return -1
}

//go:build cgo

package usb

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/gousb"
)

// TestErrorsOfClaiming: gousb says in words alone why it could not claim an
// interface.
func TestErrorsOfClaiming(t *testing.T) {
	for code, want := range map[gousb.Error]error{
		gousb.ErrorBusy: errBusy, gousb.ErrorAccess: errAccess, gousb.ErrorNoDevice: ErrGone, gousb.ErrorPipe: ErrStall,
	} {
		for _, err := range []error{code, fmt.Errorf("x: %w", code), errors.New("failed to claim interface 0 on vid=2e8a,pid=000c,bus=1,addr=2,config=1: " + code.Error())} {
			if got := gousbError(err); !errors.Is(got, want) {
				t.Errorf("%v is %v, want %v", err, got, want)
			}
		}
	}
	if err := errors.New("something else"); !errors.Is(gousbError(err), err) {
		t.Error("an error of another kind is lost")
	}
}

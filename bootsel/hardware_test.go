//go:build board

package bootsel_test

import (
	"os"
	"testing"
)

// TestBoard is the conformance suite on the board that $STEM_HW_BOARD names:
// make test-board BOARD=….
func TestBoard(t *testing.T) {
	selector := os.Getenv("STEM_HW_BOARD")
	if selector == "" {
		t.Fatal("no board is named: make test-board BOARD=serial-number, or usb:3-1.2")
	}
	onBoard(t, selector)
}

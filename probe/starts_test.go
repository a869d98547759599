package probe_test

import (
	"bytes"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
)

// starts says what the boot ROM would start from a flash: "old", "new" or
// "nothing". A mixture ends the test.
func starts(t *testing.T, flash []byte, old, im *image.Image, step int) string {
	t.Helper()
	probe, err := image.Parse("flash", flash, image.Options{Format: image.FormatBIN, Base: boot.FlashBase, HasBase: true})
	if err != nil {
		t.Fatal(err)
	}
	d := boot.FindImage(probe.Memory(), boot.Options{Chip: boot.A2, CPU: boot.RISCV})
	if d.Outcome != boot.OutcomeBoot && d.Outcome != boot.OutcomeSwitch {
		return "nothing"
	}
	holds := func(im *image.Image) bool {
		for _, s := range im.Segments {
			off := s.Addr - boot.FlashBase
			if int(off)+len(s.Data) > len(flash) || !bytes.Equal(flash[off:int(off)+len(s.Data)], s.Data) {
				return false
			}
		}
		return true
	}
	switch {
	case holds(old):
		return "old"
	case holds(im):
		return "new"
	}
	t.Fatalf("in state %d a mixture of both programs starts", step)
	return ""
}

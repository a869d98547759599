package probe_test

import (
	"context"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/target/targettest"
)

// liar is a probe that answers something else now and then: data decides which
// answer is changed and how.
type liar struct {
	dap.Transport
	data []byte
	n    int
}

// Receive implements dap.Transport.
func (l *liar) Receive(ctx context.Context) ([]byte, error) {
	a, err := l.Transport.Receive(ctx)
	if err != nil || len(l.data) < 3 {
		return a, err
	}
	if l.n++; l.n < int(l.data[0]) {
		return a, nil
	}
	how, at, with := l.data[0]>>6, int(l.data[1]), l.data[2]
	l.data, l.n = l.data[3:], 0
	switch {
	case how == 0 && len(a) > 0:
		a[at%len(a)] = with
	case how == 1:
		a = a[:at%(len(a)+1)]
	case how == 2:
		a = append(a, make([]byte, at*8)...)
	case len(a) > 2:
		a[1], a[2] = byte(at), with
	}
	return a, nil
}

// lyingTime is how long a chip behind a liar is asked, and how long it is let go:
// a hundred times what the truth takes.
const lyingTime = 300 * time.Millisecond

// FuzzLyingProbe lets a probe lie: whatever it says, nothing hangs or breaks.
func FuzzLyingProbe(f *testing.F) {
	for _, s := range []string{"", "\x01\x02\x03", "\x20\x01\xff\x20\x01\xff", "\x45\x03\x00\x10\x02\x07", "\x81\x10\x00", "\xc3\xff\xff\x05\x00\x00"} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, arm bool) {
		arch := image.ArchRISCV
		if arm {
			arch = image.ArchARM
		}
		r := probed.New(t, probed.Board{Arch: arch})
		ctx, cancel := context.WithTimeout(context.Background(), lyingTime)
		defer cancel()
		started := time.Now()
		p, err := dap.Open(ctx, &liar{Transport: r.Wire(), data: data}, dap.Options{})
		if err != nil {
			return
		}
		tg, err := probe.Open(ctx, p, probe.Options{CloseTime: lyingTime})
		if err != nil {
			return
		}
		_ = tg.Halt(ctx)
		_ = tg.Load(ctx, targettest.ProgramFor(arch, 0x20000000).Image)
		_, _ = tg.ReadRegister(ctx, 0, 1)
		_ = tg.ReadMemory(ctx, 0, 0x20000000, make([]byte, 300))
		_ = tg.WriteMemory(ctx, 1, 0x20000101, make([]byte, 77))
		_ = tg.EraseFlash(ctx, 0x10000000, 4096)
		tg.StartRTT(0, 0)
		_, _ = tg.PollRTT(ctx)
		_ = tg.Describe()
		_ = tg.Close()
		if took := time.Since(started); took > 60*time.Second {
			t.Fatalf("it took %v", took)
		}
	})
}

package virtual

import (
	"bytes"
	"testing"

	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/rp2350"
)

func newProbeAs(t *testing.T, v DAPVersion) *Gadget {
	t.Helper()
	c := rp2350.New(riscv)
	p := debugport.NewProbe(debugport.DebugProbe("1"), debugport.NewLine(debugport.NewDP(c.DebugPort())))
	g := NewProbeAs(p, "1", ProbeOptions{Version: v}, &Serial{})
	configure(t, g)
	return g
}

func TestProbeV1IsHID(t *testing.T) {
	g := newProbeAs(t, DAPv1)
	d, c := g.Descriptors()
	p := parseConfig(c)
	if d[2] != 0x10 || d[3] != 1 || len(p.interfaces) != 3 || p.interfaces[0] != [3]uint8{3, 0, 0} {
		t.Errorf("device % x, interfaces %v", d, p.interfaces)
	}
	for i, want := range []endpoint{{0x04, 0, transferInterrupt, 64}, {0x85, 0, transferInterrupt, 64}} {
		if p.endpoints[i] != want {
			t.Errorf("%+v", p.endpoints[i])
		}
	}
	if u := ctl(g, Setup{0x81, 6, 0x2200, 0, 256}, nil); !bytes.Equal(u.Data, hidReports) || int(c[9+9+7]) != len(hidReports) {
		t.Errorf("report descriptor: %+v", u)
	}
	if u := ctl(g, Setup{0x81, 6, 0x2100, 0, 9}, nil); !bytes.Equal(u.Data, c[18:27]) {
		t.Errorf("HID descriptor: %+v", u)
	}
	if u := ctl(g, Setup{0x80, 6, 0x304, 0x409, 255}, nil); !bytes.Equal(u.Data, stringDescriptor("CMSIS-DAP v1 Interface")) {
		t.Errorf("% x", u.Data)
	}
	for _, s := range []Setup{{0x80, 6, 0xf00, 0, 5}, {0xc0, 1, 0, 7, 10}, {0x81, 6, 0x2200, 1, 64}} {
		if u := ctl(g, s, nil); u.Status != StatusStall {
			t.Errorf("%+v: %d", s, u.Status)
		}
	}
	if u := ctl(g, Setup{0x21, reqSetIdle, 0, 0, 0}, nil); u.Status != StatusOK {
		t.Errorf("SET_IDLE: %d", u.Status)
	}
	request := make([]byte, 64)
	request[1] = 0xff // Info, packet size
	if a := dap(t, g, request...); len(a) != 64 || !bytes.Equal(a[:5], []byte{0, 2, 64, 0, 0}) {
		t.Errorf("% x", a)
	}
	ctl(g, Setup{0x21, reqSetReport, 0x200, 0, 64}, request)
	in := &URB{Endpoint: 5, In: true, Length: 64}
	g.Submit(in)
	if len(in.Data) != 64 || in.Data[1] != 2 {
		t.Errorf("by SET_REPORT: %+v", in)
	}
}

func TestProbeWithBothVersions(t *testing.T) {
	g := newProbeAs(t, DAPBoth)
	_, c := g.Descriptors()
	if p := parseConfig(c); len(p.interfaces) != 4 || p.interfaces[0] != [3]uint8{0xff, 0, 0} || p.interfaces[3] != [3]uint8{3, 0, 0} || int(c[4]) != 4 {
		t.Errorf("%v", p.interfaces)
	}
	if a := dap(t, g, 0, 0xff); len(a) != 4 {
		t.Errorf("v2: % x", a)
	}
	g.Submit(&URB{Endpoint: 6, Data: []byte{0, 0xff}})
	in := &URB{Endpoint: 7, In: true, Length: 64}
	g.Submit(in)
	if len(in.Data) != 64 || in.Data[2] != 64 {
		t.Errorf("v1: %+v", in)
	}
	if u := ctl(g, Setup{0x81, 6, 0x2200, 3, 256}, nil); !bytes.Equal(u.Data, hidReports) {
		t.Errorf("report descriptor: %+v", u)
	}
}

package dap

import (
	"context"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/usb"
)

// Transport is a probe that was opened. It has the methods that package
// probe/dap wants of one.
type Transport interface {
	Send(ctx context.Context, packet []byte) error
	Receive(ctx context.Context) ([]byte, error)
	Close() error
}

// packetSize is a packet of a probe at full speed.
const packetSize = 64

// Open opens the CMSIS-DAP interface of a probe that was found; bulk endpoints
// are taken before HID reports. root is where the machine's "/" is.
func Open(ctx context.Context, d usb.Device, root string) (Transport, error) {
	if i, ok := d.Find(usb.InterfaceDAP2); ok {
		c, err := usb.Open(ctx, d, i.Number)
		if err != nil {
			return nil, err
		}
		return NewBulk(ctx, c, i)
	}
	if i, ok := d.Find(usb.InterfaceDAP1); ok && len(d.HIDRaw) > 0 {
		return openHID(ctx, d, i, root)
	}
	return nil, &faults.Fault{
		Code: faults.CodeNotSupported, Status: faults.StatusTarget,
		Summary: "this device is no debug probe", Seen: d.String(), Wanted: "an interface for CMSIS-DAP",
		Try: []string{"stem-hw list"},
	}
}

// endpoints are the numbers of an interface's endpoints and the size of packets.
func endpoints(i usb.Interface, kind string) (out, in uint8, size int, err error) {
	out, in, size = i.Endpoint(false, kind), i.Endpoint(true, kind), packetSize
	for _, e := range i.Endpoints {
		if e.Address == in && e.MaxPacket > 0 {
			size = e.MaxPacket
		}
	}
	if out == 0 || in == 0 {
		return 0, 0, 0, fmt.Errorf("interface %d has no two %s endpoints", i.Number, kind)
	}
	return out, in, size, nil
}

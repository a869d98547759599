package mcp

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/stem-hw/stem-hw/gdbsync"
)

var memoryTools = []*tool{
	define("memory_read", Observe, look, "Bytes of ROM, flash or RAM. Registers of peripherals are not read: that can change something.", memoryRead),
	define("mmio_read", Assist, act, "One 32-bit register of a peripheral. Some change when they are read.", mmioRead).idempotent(),
}

type memoryArgs struct {
	Address string `json:"address" jsonschema:"a number, such as 0x20000000"`
	Length  int    `json:"length,omitempty" jsonschema:"how many bytes, 1 to 4096; 64 if not given"`
}

const maxMemory = 4096

func memoryRead(ctx context.Context, c *call, in memoryArgs) (any, error) {
	at, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	if in.Length == 0 {
		in.Length = 64
	}
	if in.Length < 1 || in.Length > maxMemory {
		return nil, badArgument("length", "1 to 4096")
	}
	if err := c.place.checkMemory(at, uint64(in.Length)); err != nil {
		return nil, err
	}
	data, err := c.place.readMemory(ctx, at, in.Length, c.place.guard())
	if err != nil {
		return nil, err
	}
	return document("mcp-memory", map[string]any{
		"address": fmt.Sprintf("%#x", at), "length": len(data), "hex": hex.EncodeToString(data), "text": printable(data), "untrusted": true,
	})
}

// readMemory reads through gdb.
func (p *Place) readMemory(ctx context.Context, at uint64, n int, g *gdbsync.Guard) ([]byte, error) {
	r, err := p.gdb(ctx, gdbsync.Call{Operation: "data-read-memory-bytes", Params: []string{fmt.Sprintf("0x%x", at), strconv.Itoa(n)}, Guard: g})
	if err != nil {
		return nil, err
	}
	var data []byte
	for _, f := range r.Results.Get("memory").Fields {
		b, err := hex.DecodeString(f.Value.Str("contents"))
		if err != nil || f.Value.Str("offset") != fmt.Sprintf("0x%08x", len(data)) && f.Value.Str("offset") != fmt.Sprintf("0x%016x", len(data)) {
			break
		}
		data = append(data, b...)
	}
	return data, nil
}

func printable(data []byte) string {
	out := make([]byte, len(data))
	for i, b := range data {
		out[i] = '.'
		if b >= 0x20 && b < 0x7f {
			out[i] = b
		}
	}
	return string(out)
}

type mmioArgs struct {
	Address string `json:"address" jsonschema:"a number divisible by four, such as 0x40028000"`
}

func mmioRead(ctx context.Context, c *call, in mmioArgs) (any, error) {
	at, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	if touchesOTP(at, 4) {
		return nil, otpRefused(at)
	}
	if c.place.native() || at%4 != 0 || !within(ioMemory, at, 4) {
		return nil, badArgument("address", "the address of a 32-bit register of a peripheral")
	}
	data, err := c.place.readMemory(ctx, at, 4, &gdbsync.Guard{Regions: []gdbsync.MemoryRegion{{Start: at, End: at + 4}}})
	if err != nil {
		return nil, err
	}
	if len(data) != 4 {
		return nil, noGdb("the register cannot be read")
	}
	v := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
	return document("mcp-register", map[string]any{"address": fmt.Sprintf("%#x", at), "value": fmt.Sprintf("0x%08x", v)})
}

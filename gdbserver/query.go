package gdbserver

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
)

// query answers the "q" and "Q" requests.
func (c *conn) query(ctx context.Context, p string) error {
	name, arg, _ := strings.Cut(p, ":")
	switch {
	case name == "qSupported":
		return c.supported(arg)
	case p == "QStartNoAckMode":
		if err := c.sendString("OK"); err != nil {
			return err
		}
		c.noAck = true
		return nil
	case p == "qC":
		return c.sendString(fmt.Sprintf("QC%x", c.threads.ofCore(c.lastStop.Core)))
	case name == "qAttached":
		return c.sendString("1")
	case p == "qfThreadInfo":
		return c.threadInfo(ctx)
	case p == "qsThreadInfo":
		return c.sendString("l")
	case strings.HasPrefix(p, "qThreadExtraInfo,"):
		id, ok := parseThread(p[len("qThreadExtraInfo,"):])
		if !ok {
			return c.sendString("E01")
		}
		return c.sendString(hex.EncodeToString([]byte(c.threads.extra(id))))
	case strings.HasPrefix(p, "qRcmd,"):
		cmd, ok := unhex(p[len("qRcmd,"):])
		if !ok {
			return c.sendString("E01")
		}
		return c.monitor(ctx, string(cmd))
	case name == "qXfer":
		return c.transfer(ctx, arg)
	case name == "qCRC":
		return c.checksum(ctx, arg)
	case name == "qSymbol":
		return c.threads.symbolReply(arg)
	case p == "qOffsets", p == "qTStatus":
		return c.sendString("")
	}
	return c.sendString("")
}

func (c *conn) supported(arg string) error {
	for _, f := range strings.Split(arg, ";") {
		switch f {
		case "swbreak+":
			c.swbreak = true
		case "hwbreak+":
			c.hwbreak = true
		}
	}
	features := fmt.Sprintf("PacketSize=%x;QStartNoAckMode+;swbreak+;hwbreak+;vContSupported+;"+
		"qXfer:features:read+;qXfer:memory-map:read+;qXfer:threads:read+;error-message+;binary-upload+", maxPacket-16)
	if len(c.s.opt.ELF) > 0 {
		features += ";qXfer:exec-file:read+"
	}
	return c.sendString(features)
}

// transfer serves qXfer:object:read:annex:offset,length.
func (c *conn) transfer(ctx context.Context, arg string) error {
	f := strings.Split(arg, ":")
	if len(f) < 4 || f[1] != "read" {
		return c.sendString("")
	}
	object, annex := f[0], strings.Join(f[2:len(f)-1], ":")
	off, n, ok := parseRange(f[len(f)-1])
	if !ok {
		return c.sendString("E01")
	}
	var doc string
	switch object {
	case "features":
		if annex != "target.xml" {
			return c.sendString("E00")
		}
		doc = describeXML(*c.describe())
	case "memory-map":
		doc = memoryMapXML(*c.describe())
	case "threads":
		doc = c.threads.xml(ctx)
	case "exec-file":
		if len(c.s.opt.ELF) == 0 {
			return c.sendString("E00")
		}
		doc = c.s.opt.ELFPath
	default:
		return c.sendString("")
	}
	n = min(n, maxPacket/2)
	if uint64(off) >= uint64(len(doc)) {
		return c.sendString("l")
	}
	end := min(uint64(off)+uint64(n), uint64(len(doc)))
	if end == uint64(len(doc)) {
		return c.sendString("l" + doc[off:end])
	}
	return c.sendString("m" + doc[off:end])
}

func (c *conn) threadInfo(ctx context.Context) error {
	ids := c.threads.list(ctx)
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = fmt.Sprintf("%x", id)
	}
	return c.sendString("m" + strings.Join(parts, ","))
}

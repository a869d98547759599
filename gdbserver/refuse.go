package gdbserver

import (
	"bufio"
	"net"
	"time"
)

// refuse tells a second client that the target is taken. gdb shows the text of
// an "E." answer only for some requests, so every one gets it, until gdb gives
// up by itself or the time is over.
func refuse(nc net.Conn, holder string) {
	_ = nc.SetDeadline(time.Now().Add(refuseTime))
	r := bufio.NewReader(nc)
	for {
		kind, _, err := readPacket(r)
		if err != nil {
			return
		}
		if kind != kindPacket {
			continue
		}
		msg := "E.another gdb is attached to this target (" + holder + "); detach it first"
		if _, err := nc.Write(appendPacket([]byte{'+'}, []byte(msg))); err != nil {
			return
		}
	}
}

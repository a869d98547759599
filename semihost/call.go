package semihost

import (
	"encoding/binary"
	"fmt"
)

// Operations (Semihosting for AArch32 and AArch64, "Semihosting operations").
const (
	sysOpen         = 0x01
	sysClose        = 0x02
	sysWriteC       = 0x03
	sysWrite0       = 0x04
	sysWrite        = 0x05
	sysRead         = 0x06
	sysReadC        = 0x07
	sysIsError      = 0x08
	sysIsTTY        = 0x09
	sysSeek         = 0x0a
	sysFLen         = 0x0c
	sysTmpNam       = 0x0d
	sysRemove       = 0x0e
	sysRename       = 0x0f
	sysClock        = 0x10
	sysTime         = 0x11
	sysSystem       = 0x12
	sysErrno        = 0x13
	sysGetCmdline   = 0x15
	sysHeapInfo     = 0x16
	sysExit         = 0x18
	sysExitExtended = 0x20
	sysElapsed      = 0x30
	sysTickFreq     = 0x31
)

// appExit is ADP_Stopped_ApplicationExit, the reason of a normal end.
const appExit = 0x20026

// tickFreq is the rate of SYS_ELAPSED: microseconds, whatever the program does
// with its clocks.
const tickFreq = 1_000_000

const (
	failed    = 0xffffffff
	maxName   = 1024
	maxString = 1 << 20
	chunk     = 64 << 10
)

// Call serves the call that c makes and sets its result.
func (h *Host) Call(c Core) Result {
	op, param := c.Args()
	switch op {
	case sysExit:
		// The parameter is the reason itself on 32-bit cores.
		code := 1
		if param == appExit {
			code = 0
		}
		return Result{Exit: true, Code: code, How: "semihosting exit"}
	case sysExitExtended:
		if w, ok := words(c, param, 2); ok {
			code := int(int32(w[1]))
			if w[0] != appExit && code == 0 {
				code = 1
			}
			return Result{Exit: true, Code: code, How: "semihosting exit"}
		}
		c.SetResult(h.fail(eFault))
	case sysRead:
		v, again := h.read(c, param)
		if again {
			return Result{Again: true}
		}
		c.SetResult(v)
	case sysReadC:
		var b [1]byte
		n, closed := h.opt.Console.Get(b[:])
		switch {
		case n == 1:
			c.SetResult(uint32(b[0]))
		case closed:
			c.SetResult(failed)
		default:
			return Result{Again: true}
		}
	case sysWriteC, sysWrite0, sysErrno:
		if v, set := h.plain(c, op, param); set {
			c.SetResult(v)
		}
	default:
		c.SetResult(h.value(c, op, param))
	}
	return Result{}
}

// plain serves the calls whose parameter is not a block.
func (h *Host) plain(c Core, op, param uint32) (v uint32, set bool) {
	switch op {
	case sysWriteC:
		var b [1]byte
		if c.Read(param, b[:]) {
			h.opt.Console.Put(b[:])
		}
	case sysWrite0:
		h.write0(c, param)
	case sysErrno:
		return uint32(h.errno), true
	}
	return 0, false
}

func (h *Host) write0(c Core, addr uint32) {
	var line []byte
	for n := 0; n < maxString; n++ {
		var b [1]byte
		if !c.Read(addr, b[:]) || b[0] == 0 {
			break
		}
		line = append(line, b[0])
		addr++
	}
	h.opt.Console.Put(line)
}

// value serves the calls that return a value and never wait.
func (h *Host) value(c Core, op, param uint32) uint32 {
	n, known := blockWords[op]
	if !known {
		h.notice(fmt.Sprintf("semihosting operation %#x does not exist", op))
		return h.fail(eNoSys)
	}
	w, ok := words(c, param, n)
	if !ok {
		return h.fail(eFault)
	}
	switch op {
	case sysOpen:
		return h.openFile(c, w[0], w[1], w[2])
	case sysClose:
		return h.closeFile(w[0])
	case sysWrite:
		return h.write(c, w[0], w[1], w[2])
	case sysIsError:
		if int32(w[0]) < 0 {
			return 1
		}
		return 0
	case sysIsTTY:
		return h.isTTY(w[0])
	case sysSeek:
		return h.seek(w[0], w[1])
	case sysFLen:
		return h.length(w[0])
	case sysTmpNam:
		return h.tmpNam(c, w[0], w[1], w[2])
	case sysRemove:
		return h.remove(c, w[0], w[1])
	case sysRename:
		return h.rename(c, w[0], w[1], w[2], w[3])
	case sysClock:
		return uint32(h.opt.Elapsed().Milliseconds() / 10)
	case sysTime:
		if h.opt.Start.IsZero() {
			return uint32(h.opt.Elapsed().Seconds())
		}
		return uint32(h.opt.Start.Add(h.opt.Elapsed()).Unix())
	case sysSystem:
		h.notice("the program asked to run a command of the host, which is never done")
		return h.fail(ePerm)
	case sysGetCmdline:
		return h.cmdline(c, param, w[0], w[1])
	case sysHeapInfo:
		var b [16]byte
		for i, v := range h.opt.Heap {
			binary.LittleEndian.PutUint32(b[4*i:], v)
		}
		if !c.Write(w[0], b[:]) {
			return h.fail(eFault)
		}
		return 0
	case sysElapsed:
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(h.opt.Elapsed().Microseconds()))
		if !c.Write(param, b[:]) {
			return h.fail(eFault)
		}
		return 0
	default: // sysTickFreq
		return tickFreq
	}
}

// blockWords is the number of words in the block of each operation.
var blockWords = map[uint32]int{
	sysOpen: 3, sysClose: 1, sysWrite: 3, sysIsError: 1, sysIsTTY: 1,
	sysSeek: 2, sysFLen: 1, sysTmpNam: 3, sysRemove: 2, sysRename: 4, sysClock: 0,
	sysTime: 0, sysSystem: 2, sysGetCmdline: 2, sysHeapInfo: 1,
	sysElapsed: 0, sysTickFreq: 0,
}

// words reads a block of n words.
func words(c Core, addr uint32, n int) (w [4]uint32, ok bool) {
	var b [16]byte
	if n > 0 && !c.Read(addr, b[:4*n]) {
		return w, false
	}
	for i := range n {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w, true
}

// name reads a name of n bytes.
func (h *Host) name(c Core, addr, n uint32) (string, bool) {
	if n == 0 || n > maxName {
		h.errno = eInval
		return "", false
	}
	p := make([]byte, n)
	if !c.Read(addr, p) {
		h.errno = eFault
		return "", false
	}
	return string(p), true
}

func (h *Host) cmdline(c Core, block, addr, size uint32) uint32 {
	line := append([]byte(h.opt.CommandLine), 0)
	if uint64(len(line)) > uint64(size) {
		return h.fail(eInval)
	}
	var n [4]byte
	binary.LittleEndian.PutUint32(n[:], uint32(len(line)-1))
	if !c.Write(addr, line) || !c.Write(block+4, n[:]) {
		return h.fail(eFault)
	}
	return 0
}

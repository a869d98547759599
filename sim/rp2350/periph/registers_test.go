package periph

import (
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"
)

// csvRegister is one line of regs/registers.csv: the datasheet's view, against
// which the blocks are held.
type csvRegister struct {
	name                                 string
	offset, reset, undefined, rw, ro     uint32
	w1c, sc, wo, readFIFO, writeOnlyFIFO uint32
}

func readRegisters(t *testing.T) map[string][]csvRegister {
	t.Helper()
	f, err := os.Open("regs/registers.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]csvRegister{}
	for _, r := range rows[1:] {
		v := make([]uint32, len(r))
		for i := 2; i < len(r); i++ {
			if r[i] != "" {
				n, err := strconv.ParseUint(r[i], 16, 32)
				if err != nil {
					t.Fatal(r, err)
				}
				v[i] = uint32(n)
			}
		}
		out[r[0]] = append(out[r[0]], csvRegister{r[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11] | v[12]})
	}
	return out
}

// registerBlock maps a block to its name in registers.csv.
func registerBlock(name string) string {
	switch {
	case strings.HasPrefix(name, "PLL_"), strings.HasPrefix(name, "OTP_DATA"):
		return strings.SplitN(name, "_", 2)[0]
	case name == "TIMER0", name == "TIMER1", name == "UART0", name == "UART1", name == "SPI0", name == "SPI1",
		name == "I2C0", name == "I2C1", name == "PIO0", name == "PIO1", name == "PIO2":
		return name[:len(name)-1]
	}
	return name
}

// resetExceptions are registers that read otherwise right after reset, and why.
var resetExceptions = map[string]string{
	"SYSINFO.CHIP_ID":            "the identity of the chip",
	"SYSINFO.PACKAGE_SEL":        "the package",
	"SYSINFO.GITREF_RP2350":      "the identity of the chip",
	"BUSCTRL.BUS_PRIORITY_ACK":   "priorities are acknowledged at once",
	"CLOCKS.ENABLED0":            "clocks are enabled as WAKE_EN0 says",
	"CLOCKS.ENABLED1":            "clocks are enabled as WAKE_EN1 says",
	"RESETS.RESET":               "the test releases all blocks",
	"RESETS.RESET_DONE":          "the test releases all blocks",
	"PSM.DONE":                   "the chip has started",
	"XOSC.STATUS":                "FREQ_RANGE is open",
	"ROSC.STATUS":                "the ring oscillator runs",
	"ROSC.RANDOMBIT":             "random",
	"ROSC.DIV":                   "divides by 8, as 8.3.7 says",
	"POWMAN.CHIP_RESET":          "says that there was a power-on reset",
	"POWMAN.VREG_STS":            "the voltage is in regulation",
	"POWMAN.STATE":               "all domains are powered",
	"IO_BANK0.INTR":              "level events are live",
	"IO_QSPI.INTR":               "level events are live",
	"IO_QSPI.GPIO_QSPI_SS":       "the pin is pulled up",
	"IO_QSPI.GPIO_QSPI_SD2":      "the pin is pulled up",
	"IO_QSPI.GPIO_QSPI_SD3":      "the pin is pulled up",
	"OTP.ARCHSEL_STATUS":         "the architecture of the cores",
	"UART.UARTRIS":               "modem lines are inputs",
	"PIO.INTR":                   "transmit FIFOs are not full",
	"ADC.FCS":                    "the FIFO is empty",
	"DMA.N_CHANNELS":             "sixteen",
	"TRNG.TRNG_SW_RESET":         "write-only in effect",
	"XOSC.DORMANT":               "reads as awake",
	"ROSC.DORMANT":               "reads as awake",
	"GLITCH_DETECTOR.TRIG_FORCE": "self-clearing",
}

func excepted(key string, exceptions map[string]string) bool {
	for k, why := range exceptions {
		if why != "" && strings.HasPrefix(key, k) {
			return true
		}
	}
	return false
}

func TestResetValues(t *testing.T) {
	_, s := newFake(t)
	all := readRegisters(t)
	checked := 0
	for _, a := range s.Attachments() {
		name := registerBlock(a.Block.Name())
		if a.Flat {
			continue
		}
		rows, ok := all[name]
		if !ok {
			t.Errorf("%s is not in registers.csv", name)
		}
		for _, r := range rows {
			if excepted(name+"."+r.name, resetExceptions) {
				continue
			}
			checked++
			mask := ^(r.undefined | r.wo | r.sc | r.writeOnlyFIFO | r.readFIFO)
			if got := a.Block.Read(r.offset, true); got&mask != r.reset&mask {
				t.Errorf("%s.%s reads %#x after reset, want %#x", a.Block.Name(), r.name, got, r.reset)
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d registers were checked", checked)
	}
}

// writeExceptions are registers whose writable bits do not simply read back.
var writeExceptions = map[string]string{
	"ROSC.FREQA":            "the drive strengths need a password",
	"ROSC.FREQB":            "the drive strengths need a password",
	"ROSC.DORMANT":          "reads as awake",
	"XOSC.DORMANT":          "reads as awake",
	"ROSC.COUNT":            "counts",
	"XOSC.COUNT":            "counts",
	"TRNG.RNG_ICR":          "clears",
	"TRNG.TRNG_SW_RESET":    "resets",
	"TRNG.RST_BITS_COUNTER": "resets",
	"TRNG.RNG_ISR":          "read-only",
	"OTP.SW_LOCK":           "locks only grow",
	"OTP.BOOTDIS":           "sticky",
	"OTP.DEBUGEN_LOCK":      "locks only grow",
	"POWMAN.BOOTDIS":        "sticky",
	"POWMAN.SET_TIME":       "write-only in effect",
	"TIMER.LOCKED":          "sticky",
	"GLITCH_DETECTOR.LOCK":  "locks everything, itself too",
	"PIO.RXF":               "FIFOs",
	"I2C.IC_DATA_CMD":       "a FIFO",
	"PIO.SM0_INSTR":         "executes",
	"PIO.SM1_INSTR":         "executes",
	"PIO.SM2_INSTR":         "executes",
	"PIO.SM3_INSTR":         "executes",
	"DMA.CH":                "channels, tested apart",
	"DMA.SECCFG_CH":         "locks itself",
	"DMA.SNIFF_DATA":        "shown through SNIFF_CTRL",
	"UART.UARTDR":           "a FIFO",
	"RESETS.RESET":          "holds blocks, tested apart",
	"CLOCKS.CLK_SYS_RESUS":  "tested apart",
	"PIO.CTRL":              "triggers",
	"POWMAN.STATE":          "tested apart",
	"WATCHDOG.CTRL":         "tested apart",
	"SPI.SSPDR":             "a FIFO",
}

// TestAccessMasks writes ones and zeros through every alias and sees that the
// writable bits, and no others, follow.
func TestAccessMasks(t *testing.T) {
	all := readRegisters(t)
	_, first := newFake(t)
	for i, a := range first.Attachments() {
		name := registerBlock(a.Block.Name())
		if a.Flat {
			continue
		}
		_, s := newFake(t)
		b := s.Attachments()[i].Block
		var pass uint32
		for _, r := range all[name] {
			key := name + "." + r.name
			if excepted(key, writeExceptions) {
				continue
			}
			settable := r.rw
			pass = 0
			if name == "POWMAN" && r.offset <= powDBGConfig {
				pass = powPassword
				settable &= 0xffff
			}
			data := settable | pass
			steps := []struct {
				op   Op
				raw  uint32
				want uint32
			}{{Plain, data, settable}, {Xor, data, 0}, {Set, data, settable}, {Clear, data, 0}}
			for _, st := range steps {
				b.Write(r.offset, Write{Raw: st.raw, Op: st.op, Size: 4})
				if got := b.Read(r.offset, true) & settable; got != st.want {
					t.Errorf("%s: alias %d: writable bits read %#x, want %#x", key, st.op, got, st.want)
				}
			}
			if fixed := r.ro &^ (r.rw | r.w1c | r.sc | r.wo); fixed == 0xffffffff {
				before := b.Read(r.offset, true)
				b.Write(r.offset, Write{Raw: ^before, Size: 4})
				if got := b.Read(r.offset, true); got != before {
					t.Errorf("%s is read-only and changed from %#x to %#x", key, before, got)
				}
			}
			b.Reset()
		}
	}
}

func TestTablesAreThoseOfTheCSV(t *testing.T) {
	all := readRegisters(t)
	_, s := newFake(t)
	for _, a := range s.Attachments() {
		named, ok := a.Block.(interface{ label(uint32) string })
		if !ok {
			continue
		}
		for _, r := range all[registerBlock(a.Block.Name())] {
			if got := named.label(r.offset); got != a.Block.Name()+"."+r.name {
				t.Errorf("offset %#x of %s is called %q, the table is stale: go generate", r.offset, a.Block.Name(), got)
			}
		}
	}
}

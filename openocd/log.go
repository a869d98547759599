package openocd

import (
	"regexp"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

// message is something that OpenOCD says of a failure, and what it means.
type message struct {
	re     *regexp.Regexp
	code   faults.Code
	status faults.Status
	// lost: the way to the chip is gone for good.
	lost    bool
	summary string
	try     []string
}

// Tries that several messages share.
const (
	tryWires  = "check SWCLK, SWDIO and GND between probe and board"
	tryPower  = "check that the board has power"
	tryRescue = "stem-hw reset --rescue --via openocd"
	tryOwn    = "stem-hw's own engine tells more: --via probe"
	tryInfo   = "stem-hw openocd info"
)

// messages are what is known, the most telling first: one failure causes others,
// and the log has them all.
var messages = []message{
	{re: rx(`could(?:n't| not) bind \S+ to socket.*in use`), code: faults.CodeBusy, status: faults.StatusBusy,
		summary: "another program listens where OpenOCD wants to", try: []string{"end the other OpenOCD", tryInfo}},
	{re: rx(`could not claim interface|LIBUSB_ERROR_BUSY`), code: faults.CodeBusy, status: faults.StatusBusy,
		summary: "another program has the probe", try: []string{"end it: fuser -v /dev/bus/usb/*/*", "stem-hw list"}},
	{re: rx(`LIBUSB_ERROR_ACCESS|failed to open device.*(?:ccess|ermission)`), code: faults.CodeNoAccess, status: faults.StatusPermission,
		summary: "the probe may not be opened", try: []string{"stem-hw udev install", "stem-hw doctor"}},
	{re: rx(`[Uu]nable to connect to device|Connection refused|couldn't connect|Unable to open TCP`), code: faults.CodeBoardNotFound, status: faults.StatusTarget,
		summary: "there is no probe at this address", try: []string{"stem-hw sim board --dap-tcp :4441      (a simulated one)", "check the address"}},
	{re: rx(`unable to find a matching CMSIS-DAP device`), code: faults.CodeBoardNotFound, status: faults.StatusTarget,
		summary: "OpenOCD finds no such probe, or may not open it", try: []string{"stem-hw list", "stem-hw doctor", "plug the probe in again"}},
	{re: rx(`Can't find target/rp2350\.cfg|flash driver 'rp2xxx' not found|Unknown param: -dap|invalid argument tcp`), code: faults.CodeMissingTool,
		status: faults.StatusMissingTool, summary: "this OpenOCD does not know the RP2350", try: []string{tryInfo, tryOwn}},
	{re: rx(`(?i)CMSIS-DAP command (?:mismatch|CMD_\w+ failed)|error (?:reading|writing) (?:data|USB)|CMSIS-DAP: failed to (?:read|write)|Failed to read from socket|LIBUSB_ERROR_(?:NO_DEVICE|IO|PIPE|TIMEOUT)|CMSIS-DAP transfer|Error reading data`),
		code: faults.CodeLost, status: faults.StatusLost, lost: true,
		summary: "the probe does not answer OpenOCD any more", try: []string{"unplug the probe and plug it in again", "stem-hw list"}},
	{re: rx(`remote_bitbang_(?:putc|fill_buf|sample|flush)|remote_bitbang: (?:error|end of file|Connection)|Error on socket 'remote_bitbang|socket closed by remote`),
		code: faults.CodeLost, status: faults.StatusLost, lost: true,
		summary: "the other end of the wires is gone", try: []string{"start the board again", "stem-hw list"}},
	{re: rx(`SWD DPIDR 0x0bc12477`), code: faults.CodeWrongChip, status: faults.StatusTarget,
		summary: "the chip behind the probe is an RP2040", try: []string{"connect a Pico 2"}},
	{re: rx(`SWD DPIDR 0x(?:[0-35-9a-f]|4[0-9abd-f])`), code: faults.CodeBadWires, status: faults.StatusTarget,
		summary: "what answers the probe is no RP2350, or spoilt on the wires", try: []string{"connect GND between probe and board", "a slower clock: --clock 400"}},
	{re: rx(`(?i)wrong parity detected|parity mismatch|SWD: (?:wrong )?parity`), code: faults.CodeBadWires, status: faults.StatusTarget,
		summary: "what passes between probe and chip is spoilt", try: []string{"shorter wires, and one more for GND", "a slower clock: --clock 400"}},
	{re: rx(`Error connecting DP: cannot read IDR|Failed to connect multidrop|cannot read IDR`), code: faults.CodeNoTarget, status: faults.StatusTarget,
		summary: "the probe is there, and no chip answers it", try: []string{tryWires, tryPower}},
	{re: rx(`JTAG scan chain interrogation failed: all (?:ones|zeroes)`), code: faults.CodeNoTarget, status: faults.StatusTarget,
		summary: "nothing answers on the JTAG chain", try: []string{tryWires, tryPower}},
	{re: rx(`IR capture error|UNEXPECTED idcode|Trying to use configured scan chain anyway`), code: faults.CodeBadWires, status: faults.StatusTarget,
		summary: "what answers on the JTAG chain is not what is expected", try: []string{"connect GND between adapter and board", "a slower clock: --clock 400"}},
	{re: rx(`Debug Module did not become active|Debugger is not authenticated`), code: faults.CodeLocked, status: faults.StatusTarget,
		summary: "the chip's Debug Module does not become active: debugging is off, or locked", try: []string{"load it over USB: stem-hw flash --via bootsel", tryRescue}},
	{re: rx(`[Hh]art \d+ is unavailable|Hart \d+ failed to halt during examine|rv[01]\] (?:unavailable|become unavailable)`), code: faults.CodeTargetFailed, status: faults.StatusTarget,
		summary: "the harts are not there: the chip executes Arm code", try: []string{"stem-hw reset --arch riscv --halt --via probe", tryOwn}},
	{re: rx(`cm[01]\] become unavailable`), code: faults.CodeTargetFailed, status: faults.StatusTarget,
		summary: "the Cortex-M33s are not there: the chip executes RISC-V code", try: []string{"stem-hw reset --arch arm --halt --via probe", tryOwn}},
	{re: rx(`ACCESSCTRL is locked`), code: faults.CodeLocked, status: faults.StatusTarget,
		summary: "the program locked the chip's access control", try: []string{tryRescue}},
	{re: rx(`Failed to read memory at 0xe000ed0[04]|Could not find MEM-AP`), code: faults.CodeLocked, status: faults.StatusTarget,
		summary: "the chip's access port lets nobody at the cores: debugging is locked, or the bus hangs", try: []string{tryRescue, "load it over USB: stem-hw flash --via bootsel", tryOwn}},
	{re: rx(`SWD WAIT|DAP transaction stalled|Invalid ACK|timeout waiting for DAP`), code: faults.CodeCoreStuck, status: faults.StatusTarget,
		summary: "the chip's bus does not finish an access", try: []string{tryRescue, tryPower}},
	{re: rx(`(?i)checksum mismatch|Verify Failed|contents differ|verify_image.*failed`), code: faults.CodeVerify, status: faults.StatusVerify,
		summary: "the flash holds something else", try: []string{"the same command again", tryOwn}},
	{re: rx(`no flash bank found for address|QSPI Flash id = 0x\w+ not recognised|not a (?:valid|known) flash`), code: faults.CodeWriteFailed, status: faults.StatusWrite,
		summary: "OpenOCD does not know the flash", try: []string{tryOwn}},
	{re: rx(`Unknown SYSINFO CHIP_ID|BOOT ROM not found`), code: faults.CodeWrongChip, status: faults.StatusTarget,
		summary: "the chip behind the probe is no RP2350", try: []string{"connect the probe to a board with an RP2350"}},
	{re: rx(`Failed to (?:invoke rcp_init|call ROM function|init Arm core 0)|error executing \S* ?flash|ROM function batch`), code: faults.CodeWriteFailed, status: faults.StatusWrite,
		summary: "the chip cannot change its flash", try: []string{"the same command again", tryRescue}},
	{re: rx(`couldn't open|Programming Failed`), code: faults.CodeFileAccess, status: faults.StatusUsage,
		summary: "OpenOCD cannot read the file", try: []string{"check its name"}},
	{re: rx(`(?i)timed? ?out while waiting for target|failed to halt|unable to halt|halt timed out|Unable to resume`), code: faults.CodeCoreStuck, status: faults.StatusTarget,
		summary: "a core does not obey OpenOCD", try: []string{tryRescue, "press RUN, or take the board's power away for a moment"}},
	{re: rx(`xamination failed|not examined|Target not examined`), code: faults.CodeTargetFailed, status: faults.StatusTarget,
		summary: "OpenOCD cannot examine the cores", try: []string{tryRescue, tryOwn}},
}

// rx compiles a pattern of the table.
func rx(s string) *regexp.Regexp { return regexp.MustCompile(s) }

// Notices are lines that are no failure, and worth telling.
var notices = []struct {
	re   *regexp.Regexp
	text string
}{
	{rx(`Old Raspberry Pi Debugprobe firmware detected`), "the probe's firmware is old: update it, from github.com/raspberrypi/debugprobe/releases"},
}

// Failure finds what a log says of a failure: the message that tells most, and
// the line it is in. ok is false if nothing in it is known.
func failure(lines []string) (m message, line string, ok bool) {
	for _, m := range messages {
		for _, l := range lines {
			if m.re.MatchString(l) {
				return m, l, true
			}
		}
	}
	return message{}, "", false
}

// Explain turns a log into a fault, nil if it tells of no failure that is known.
func Explain(lines []string) *faults.Fault {
	m, line, ok := failure(lines)
	if !ok {
		return nil
	}
	return &faults.Fault{
		Code: m.code, Status: m.status, Summary: m.summary, Seen: "OpenOCD says: " + plainLine(line), Try: m.try,
	}
}

// plainLine is a line of the log as it can be shown.
func plainLine(l string) string {
	l = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.TrimSpace(l))
	if len(l) > 200 {
		l = strings.ToValidUTF8(l[:200], "") + "…"
	}
	return l
}

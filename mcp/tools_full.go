package mcp

import (
	"context"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/gdbsync"
	"github.com/stem-hw/stem-hw/session"
)

// rangeForm is a range of flash, as erase takes it.
var rangeForm = regexp.MustCompile(`^(0x[0-9a-fA-F]{1,8}|[0-9]{1,10}[kM]?)[-+](0x[0-9a-fA-F]{1,8}|[0-9]{1,10}[kM]?)$`)

var fullTools = []*tool{
	define("pane_send_text", Full, destroy, "Type literal text into a window.", sendText),
	define("pane_send_keys", Full, destroy, "Press keys in a window, by tmux's names: Enter, C-c, Up, F5.", sendKeys),
	define("pane_run", Full, destroy, "Type a line into a window, press Enter, and wait until it is quiet.", paneRun),
	define("editor_command", Full, destroy, "Run an Ex command in Neovim and return what it prints.", editorCommand),
	define("debug_command", Full, destroy, "Run a command of gdb's console and return what it prints.", debugCommand),
	define("memory_write", Full, destroy, "Write bytes into memory or registers of peripherals; never into one-time-programmable memory.", memoryWrite),
	define("register_write", Full, destroy, "Set a general register.", registerWrite),
	define("serial_write", Full, destroy, "Send text to the program.", serialWrite),
	define("serial_signal", Full, destroy, "Send the program an interrupt (ctrl-c), an end of input (ctrl-d), or a break.", serialSignal),
	define("session_stop", Full, destroy, "End the session.", func(ctx context.Context, c *call, _ none) (any, error) {
		if err := session.Stop(ctx, &session.Entry{Record: c.place.Record, State: c.place.State, Dir: c.place.Dir}); err != nil {
			return nil, err
		}
		return document("session-end", map[string]any{"stopped": []string{c.place.Record.Instance}})
	}).idempotent(),
}

type sendTextArgs struct {
	Pane string `json:"pane" jsonschema:"editor, gdb, console, log, or an id such as %1"`
	Text string `json:"text" jsonschema:"up to 4096 bytes, without control characters"`
}

// literal checks text that is typed.
func literal(text string) error {
	if text == "" || len(text) > 4096 || strings.IndexFunc(text, unicode.IsControl) >= 0 {
		return badArgument("text", "1 to 4096 bytes without control characters")
	}
	return nil
}

func (c *call) typed(ctx context.Context, p *pane, args ...string) error {
	_, err := c.place.tmux(ctx, append([]string{"send-keys", "-t", p.ID}, args...)...)
	return err
}

func sendText(ctx context.Context, c *call, in sendTextArgs) (any, error) {
	if err := literal(in.Text); err != nil {
		return nil, err
	}
	p, err := c.place.pane(ctx, in.Pane)
	if err != nil {
		return nil, err
	}
	if err := c.typed(ctx, p, "-l", "--", in.Text); err != nil {
		return nil, err
	}
	return document("mcp-sent", map[string]any{"pane": p.ID, "next": p.Next})
}

type sendKeysArgs struct {
	Pane string `json:"pane" jsonschema:"editor, gdb, console, log, or an id such as %1"`
	Keys string `json:"keys" jsonschema:"names separated by spaces, at most 32: Enter Escape C-c Up F5 a"`
}

var keyName = regexp.MustCompile(`^([CMS]-){0,3}([!-~]|Enter|Escape|Space|Tab|BTab|BSpace|Up|Down|Left|Right|Home|End|PageUp|PageDown|PPage|NPage|IC|DC|Insert|Delete|F([1-9]|1[0-2]))$`)

func sendKeys(ctx context.Context, c *call, in sendKeysArgs) (any, error) {
	keys := strings.Fields(in.Keys)
	if len(keys) == 0 || len(keys) > 32 {
		return nil, badArgument("keys", "1 to 32 names of keys")
	}
	for _, k := range keys {
		if !keyName.MatchString(k) {
			return nil, badArgument("keys", "names such as Enter, Escape, C-c, Up, F5, or single characters")
		}
	}
	p, err := c.place.pane(ctx, in.Pane)
	if err != nil {
		return nil, err
	}
	// tmux reads an argument that ends with ; as the end of a command.
	for i, k := range keys {
		if strings.HasSuffix(k, ";") {
			keys[i] = k[:len(k)-1] + `\;`
		}
	}
	if err := c.typed(ctx, p, append([]string{"--"}, keys...)...); err != nil {
		return nil, err
	}
	return document("mcp-sent", map[string]any{"pane": p.ID, "next": p.Next})
}

type paneRunArgs struct {
	Pane      string `json:"pane" jsonschema:"editor, gdb, console, log, or an id such as %1"`
	Line      string `json:"line" jsonschema:"the line to type"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"how long to wait, up to 45000; 5000 if not given"`
}

func paneRun(ctx context.Context, c *call, in paneRunArgs) (any, error) {
	if err := literal(in.Line); err != nil {
		return nil, err
	}
	limit, err := waitTime(in.TimeoutMS, defaultWait)
	if err != nil {
		return nil, err
	}
	p, err := c.place.pane(ctx, in.Pane)
	if err != nil {
		return nil, err
	}
	if err := c.typed(ctx, p, "-l", "--", in.Line); err != nil {
		return nil, err
	}
	if err := c.typed(ctx, p, "Enter"); err != nil {
		return nil, err
	}
	after := p.Next
	return c.waitPane(ctx, p, nil, paneWaitArgs{Pane: p.ID, QuietMS: 300, After: &after}, limit)
}

type commandArgs struct {
	Command string `json:"command" jsonschema:"one line"`
}

func oneLine(command string) error {
	if command == "" || len(command) > 2000 || strings.IndexFunc(command, unicode.IsControl) >= 0 {
		return badArgument("command", "one line of at most 2000 characters")
	}
	return nil
}

const luaCommand = `local out = vim.api.nvim_exec(..., true)
return { text = out }`

func editorCommand(ctx context.Context, c *call, in commandArgs) (any, error) {
	if err := oneLine(in.Command); err != nil {
		return nil, err
	}
	var out struct {
		Text string `msgpack:"text"`
	}
	if err := c.place.lua(ctx, luaCommand, &out, in.Command); err != nil {
		return nil, err
	}
	return document("mcp-output", outside("Neovim", out.Text))
}

func debugCommand(ctx context.Context, c *call, in commandArgs) (any, error) {
	if err := oneLine(in.Command); err != nil {
		return nil, err
	}
	r, err := c.place.gdb(ctx, gdbsync.Call{Operation: "interpreter-exec", Params: []string{"console", in.Command}})
	if err != nil {
		return nil, err
	}
	return document("mcp-output", outside("gdb", r.Console))
}

type memoryWriteArgs struct {
	Address string `json:"address" jsonschema:"a number, such as 0x20000000"`
	Hex     string `json:"hex" jsonschema:"the bytes, in hexadecimal; up to 4096"`
}

func memoryWrite(ctx context.Context, c *call, in memoryWriteArgs) (any, error) {
	at, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	data, err := hex.DecodeString(in.Hex)
	if err != nil || len(data) == 0 || len(data) > maxMemory {
		return nil, badArgument("hex", "1 to 4096 bytes in hexadecimal")
	}
	if !c.place.native() && touchesOTP(at, uint64(len(data))) {
		return nil, otpRefused(at)
	}
	if _, err := c.place.halted(); err != nil {
		return nil, err
	}
	if _, err := c.place.gdb(ctx, gdbsync.Call{Operation: "data-write-memory-bytes", Params: []string{fmt.Sprintf("0x%x", at), in.Hex}}); err != nil {
		return nil, err
	}
	return document("mcp-written", map[string]any{"address": fmt.Sprintf("%#x", at), "length": len(data)})
}

type registerArgs struct {
	Name  string `json:"name" jsonschema:"a general register, such as a0, r0, rax, pc"`
	Value string `json:"value" jsonschema:"a number"`
}

func registerWrite(ctx context.Context, c *call, in registerArgs) (any, error) {
	v, err := parseAddress(in.Value)
	if err != nil {
		return nil, badArgument("value", "a number")
	}
	if _, err := c.place.halted(); err != nil {
		return nil, err
	}
	_, names, err := c.place.registers(ctx)
	if err != nil {
		return nil, err
	}
	known := false
	for _, n := range names {
		known = known || n == in.Name
	}
	if !known {
		return nil, badArgument("name", "one that debug_registers lists")
	}
	r, err := c.place.gdb(ctx, gdbsync.Call{Operation: "data-evaluate-expression", Params: []string{fmt.Sprintf("$%s = %d", in.Name, v)}})
	if err != nil {
		return nil, err
	}
	return document("mcp-written", map[string]any{"register": in.Name, "value": Clean(r.Results.Str("value"))})
}

type serialWriteArgs struct {
	Text string `json:"text" jsonschema:"up to 4096 bytes; \\n is the end of a line"`
}

func serialWrite(ctx context.Context, c *call, in serialWriteArgs) (any, error) {
	if in.Text == "" || len(in.Text) > 4096 || strings.IndexFunc(in.Text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) >= 0 {
		return nil, badArgument("text", "1 to 4096 bytes without control characters but line ends and tabs")
	}
	return c.toProgram(ctx, []byte(in.Text))
}

// toProgram sends bytes to the program's input.
func (c *call) toProgram(ctx context.Context, data []byte) (any, error) {
	p := c.place
	if err := p.running(); err != nil {
		return nil, err
	}
	log, err := p.programLog()
	if err != nil {
		return nil, err
	}
	at := log.size()
	log.Close()
	if p.Record.Board == "" && !p.native() {
		conn, err := p.Inside.Dial(ctx, p.Record.Folder().Console())
		if err != nil {
			return nil, &faults.Fault{Code: faults.CodeLost, Status: faults.StatusLost, Summary: "the program's console is not there", Err: err}
		}
		defer conn.Close()
		if _, err := conn.Write(data); err != nil {
			return nil, &faults.Fault{Code: faults.CodeLost, Status: faults.StatusLost, Summary: "the program's console went away", Err: err}
		}
	} else {
		w, err := p.pane(ctx, "console")
		if err != nil {
			return nil, err
		}
		for _, b := range data {
			if err := c.typed(ctx, w, "-H", fmt.Sprintf("%02x", b)); err != nil {
				return nil, err
			}
		}
	}
	return document("mcp-sent", map[string]any{"length": len(data), "next": at})
}

type signalArgs struct {
	Signal string `json:"signal" jsonschema:"interrupt, end or break"`
}

func serialSignal(ctx context.Context, c *call, in signalArgs) (any, error) {
	switch in.Signal {
	case "interrupt":
		return c.toProgram(ctx, []byte{3})
	case "end":
		return c.toProgram(ctx, []byte{4})
	case "break":
		if c.place.Record.Board == "" {
			return nil, refused("only a board's serial port has a break", c.place.Record.Profile)
		}
		w, err := c.place.pane(ctx, "console")
		if err != nil {
			return nil, err
		}
		// The console's own keys: ctrl-t b.
		if err := c.typed(ctx, w, "C-t", "b"); err != nil {
			return nil, err
		}
		return document("mcp-sent", map[string]any{"signal": "break"})
	}
	return nil, badArgument("signal", "interrupt, end or break")
}

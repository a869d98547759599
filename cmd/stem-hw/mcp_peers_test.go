//go:build peers

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/stem-hw/stem-hw/mcp/audit"
)

const mcpInstance = "hazard3-sim-inf-list"

// agent is an MCP client of a level, through the program as a client starts it.
type agent struct {
	t  *testing.T
	cs *sdk.ClientSession
}

func (d *sessionDesk) agent(t *testing.T, cmd *exec.Cmd) *agent {
	t.Helper()
	cmd.Env, cmd.Dir = d.env, d.dir
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	cs, err := c.Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	return &agent{t, cs}
}

func (d *sessionDesk) level(t *testing.T, level string) *agent {
	t.Helper()
	return d.agent(t, exec.Command(d.stemHW, "mcp", "serve", "--level", level))
}

func (a *agent) names() []string {
	a.t.Helper()
	l, err := a.cs.ListTools(context.Background(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	var out []string
	for _, t := range l.Tools {
		n := t.Annotations
		if n == nil || n.DestructiveHint == nil || n.OpenWorldHint == nil || *n.OpenWorldHint || len(t.Name) > 32 {
			a.t.Errorf("%s: annotations %+v", t.Name, n)
		}
		schema, err := json.Marshal(t.InputSchema)
		if err != nil || bytes.Contains(schema, []byte("$ref")) || bytes.Contains(schema, []byte("anyOf")) || bytes.Contains(schema, []byte("oneOf")) || bytes.Count(schema, []byte(`"object"`)) != 1 {
			a.t.Errorf("%s: the schema is not flat: %s", t.Name, schema)
		}
		out = append(out, t.Name)
	}
	return out
}

// call calls a tool; failed says that it refused.
func (a *agent) call(tool string, args map[string]any) (doc map[string]any, failed bool) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	r, err := a.cs.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return map[string]any{"error": err.Error()}, true
	}
	text, err := json.Marshal(r.StructuredContent)
	if err != nil {
		a.t.Fatal(err)
	}
	_ = json.Unmarshal(text, &doc)
	return doc, r.IsError
}

func (a *agent) ok(tool string, args map[string]any) map[string]any {
	a.t.Helper()
	doc, failed := a.call(tool, args)
	if failed || !strings.HasPrefix(fmt.Sprint(doc["schema"]), "stem-hw/") {
		a.t.Fatalf("%s %v: %v", tool, args, doc)
	}
	return doc
}

func (a *agent) refused(tool string, args map[string]any) {
	a.t.Helper()
	if doc, failed := a.call(tool, args); !failed {
		a.t.Errorf("%s %v was done: %v", tool, args, doc)
	}
}

var observeTools = strings.Fields(`approval_list audit_tail board_info board_list debug_backtrace debug_breakpoints debug_locals debug_registers debug_state
 editor_diagnostics editor_read editor_state image_inspect job_get job_list job_wait log_tail memory_read pane_capture pane_list pane_wait probe_list
 serial_read serial_wait session_context session_list session_status`)

var assistTools = append(strings.Fields(`debug_break_clear debug_break_set debug_continue debug_eval debug_finish debug_halt debug_next debug_select_frame debug_step
 debug_until editor_annotate editor_goto flash_request mmio_read student_notify target_reset`), observeTools...)

// TestPeerMCP: the tools of observe and assist on a session with the real tmux,
// Neovim and gdb; an attacker's list against both; the relay, the selection,
// the approvals, the audit.
func TestPeerMCP(t *testing.T) {
	d := newSessionDesk(t)
	t.Cleanup(func() { d.stopHub() })
	d.ok("session", "start", "inf", "list", "--profile", "hazard3-sim")
	d.stopped(d.runtime(mcpInstance), "main")
	t.Run("observe", d.observe)
	t.Run("assist", d.assist)
	t.Run("attacks", d.attacks)
	t.Run("relay", d.relay)
	t.Run("select", d.selects)
	t.Run("approvals", d.approvals)
	t.Run("ssh", d.ssh)
	t.Run("latency", func(t *testing.T) {
		a := d.level(t, "observe")
		for range 20 {
			a.ok("debug_state", nil)
		}
	})
}

// stopHub ends the hub of the desk, by the number it says.
func (d *sessionDesk) stopHub() {
	cmd := exec.Command(d.stemHW, "mcp", "status", "--json")
	cmd.Env, cmd.Dir = d.env, d.dir
	out, _ := cmd.Output()
	var s struct{ PID int }
	if json.Unmarshal(out, &s) == nil && s.PID > 1 {
		if p, err := os.FindProcess(s.PID); err == nil {
			_ = p.Signal(os.Interrupt)
		}
	}
}

func (d *sessionDesk) observe(t *testing.T) {
	a := d.level(t, "observe")
	got, want := a.names(), slices.Clone(observeTools)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("the tools are\n%v, want\n%v", got, want)
	}
	for _, tool := range strings.Fields(`session_list session_status session_context pane_list editor_state editor_diagnostics debug_state debug_backtrace debug_locals
	 debug_registers debug_breakpoints board_list probe_list job_list approval_list log_tail audit_tail serial_read`) {
		a.ok(tool, nil)
	}
	// The same document as the command line's.
	var line map[string]any
	cmd := exec.Command(d.stemHW, "session", "context", "--json", mcpInstance)
	cmd.Env, cmd.Dir = d.env, d.dir
	out, err := cmd.Output()
	if err != nil || json.Unmarshal(out, &line) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if doc := a.ok("session_context", nil); fmt.Sprint(doc) != fmt.Sprint(line) {
		t.Errorf("%v\n%v", doc, line)
	}
	if s := a.ok("debug_state", nil); s["state"] != "stopped" {
		t.Errorf("%v", s)
	}
	if f := fmt.Sprint(a.ok("debug_backtrace", nil)["frames"]); !strings.Contains(f, "main.c") {
		t.Errorf("%v", f)
	}
	if r := fmt.Sprint(a.ok("debug_registers", nil)["registers"]); !strings.Contains(r, "name:sp") {
		t.Errorf("%v", r)
	}
	if p := a.ok("pane_capture", map[string]any{"pane": "gdb"}); p["untrusted"] != true || !strings.Contains(fmt.Sprint(p["text"]), "main") {
		t.Errorf("%v", p)
	}
	if p := a.ok("pane_wait", map[string]any{"pane": "gdb", "pattern": "main", "timeout_ms": 30000}); p["matched"] != true {
		t.Errorf("%v", p)
	}
	if p := a.ok("pane_wait", map[string]any{"pane": "log", "pattern": "never-printed", "timeout_ms": 50}); p["matched"] != false {
		t.Errorf("%v", p)
	}
	if m := a.ok("memory_read", map[string]any{"address": "0x20000000", "length": 8}); len(fmt.Sprint(m["hex"])) != 16 {
		t.Errorf("%v", m)
	}
	if f := a.ok("editor_read", map[string]any{"path": "main.c", "last": 3}); !strings.Contains(fmt.Sprint(f["text"]), "#include") || f["open"] != true {
		t.Errorf("%v", f)
	}
	a.ok("image_inspect", map[string]any{"path": "build/rp2350-rv/list.elf"})
}

func (d *sessionDesk) assist(t *testing.T) {
	a := d.level(t, "assist")
	got, want := a.names(), slices.Clone(assistTools)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("the tools are\n%v, want\n%v", got, want)
	}
	long := map[string]any{"timeout_ms": 40000}
	a.ok("debug_break_set", map[string]any{"location": "list.c:5", "condition": "n != 0"})
	if s := a.ok("debug_continue", long); s["reason"] != "breakpoint-hit" {
		t.Errorf("%v", s)
	}
	if v := a.ok("debug_eval", map[string]any{"expression": "n->value == 1 && head == 0"}); v["value"] != "1" {
		t.Errorf("%v", v)
	}
	if l := fmt.Sprint(a.ok("debug_locals", nil)["variables"]); !strings.Contains(l, "name:head") {
		t.Errorf("%v", l)
	}
	a.ok("debug_select_frame", map[string]any{"frame": 1})
	a.ok("debug_select_frame", map[string]any{"frame": 0})
	if s := a.ok("debug_finish", long); s["reason"] != "function-finished" {
		t.Errorf("%v", s)
	}
	for _, b := range a.ok("debug_breakpoints", nil)["breakpoints"].([]any) {
		var n int
		_, _ = fmt.Sscan(fmt.Sprint(b.(map[string]any)["number"]), &n)
		a.ok("debug_break_clear", map[string]any{"number": n})
	}
	a.ok("debug_next", long)
	a.ok("debug_step", long)
	a.ok("mmio_read", map[string]any{"address": "0x40028000"})
	a.ok("editor_goto", map[string]any{"path": "list.c", "line": 3})
	a.ok("editor_annotate", map[string]any{"path": "list.c", "line": 3, "text": "look here"})
	a.ok("student_notify", map[string]any{"text": "a note #(touch x) %H"})
	a.ok("debug_continue", long)
	if w := a.ok("serial_wait", map[string]any{"pattern": "1 2 3 4", "timeout_ms": 40000}); w["matched"] != true {
		t.Errorf("%v", w)
	}
	first := a.ok("serial_read", map[string]any{"limit": 4})
	second := a.ok("serial_read", map[string]any{"after": first["next"]})
	if text := fmt.Sprint(first["text"], second["text"]); !strings.HasPrefix(text, "1 2 3 4") {
		t.Errorf("%q", text)
	}
	if s := a.ok("target_reset", long); s["state"] != "stopped" && s["state"] != "running" {
		t.Errorf("%v", s)
	}
	a.ok("debug_halt", nil)
}

func (d *sessionDesk) attacks(t *testing.T) {
	pwned := filepath.Join(d.dir, "pwned")
	card := filepath.Join(d.dir, "ws/inf/list")
	if err := os.Symlink(filepath.Join(d.dir, "state"), filepath.Join(card, "out")); err != nil {
		t.Fatal(err)
	}
	touch := "touch " + pwned
	observe, assist := d.level(t, "observe"), d.level(t, "assist")
	for _, a := range []*agent{observe, assist} {
		for _, tool := range []string{"pane_run", "pane_send_text", "editor_command", "debug_command", "memory_write", "editor_edit", "build_run", "test_run", "job_approve", "session_stop", "agent_stop"} {
			a.refused(tool, map[string]any{"command": touch, "pane": "gdb", "text": touch})
		}
		a.refused("debug_state", map[string]any{"level": "full"})
		a.refused("pane_capture", map[string]any{"pane": "#(" + touch + ")"})
		a.refused("pane_capture", map[string]any{"pane": "gdb ; run-shell '" + touch + "'"})
		a.refused("editor_read", map[string]any{"path": "../../../etc/passwd"})
		a.refused("editor_read", map[string]any{"path": "out/stem-hw/boards.json"})
		a.refused("image_inspect", map[string]any{"path": "/etc/passwd"})
		a.refused("image_inspect", map[string]any{"path": "--help"})
		a.refused("board_info", map[string]any{"board": "--help"})
		a.refused("memory_read", map[string]any{"address": "0x40070000"})
		a.refused("memory_read", map[string]any{"address": "0x40130000"})
		a.refused("memory_read", map[string]any{"address": "system(\"" + touch + "\")"})
		a.refused("serial_wait", map[string]any{"pattern": "(a{1000}){1000}"})
	}
	observe.refused("debug_halt", nil)
	observe.refused("mmio_read", map[string]any{"address": "0x40028000"})
	observe.refused("flash_request", map[string]any{"path": "build/rp2350-rv/list.elf", "board": "sim"})
	for _, e := range []string{
		"main()", "(int)system(\"" + touch + "\")", "$_shell(\"" + touch + "\")", "x = 1", "1; shell " + touch, "1\nshell " + touch, "-interpreter-exec console \"shell " + touch + "\"", "*1074987008", "{char}1074987008",
	} {
		assist.refused("debug_eval", map[string]any{"expression": e})
	}
	for _, c := range []string{"system(\"" + touch + "\") == 0", "$_shell(\"x\") == 0", "main() == 1", "i = 5"} {
		assist.refused("debug_break_set", map[string]any{"location": "main", "condition": c})
	}
	for _, l := range []string{"main if system(\"" + touch + "\")", "-interpreter-exec console", "main\nshell " + touch, "../../../x.c:1", "main;shell " + touch} {
		assist.refused("debug_break_set", map[string]any{"location": l})
		assist.refused("debug_until", map[string]any{"location": l})
	}
	assist.refused("mmio_read", map[string]any{"address": "0x40130000"})
	assist.refused("mmio_read", map[string]any{"address": "0x40120004"})
	assist.refused("editor_goto", map[string]any{"path": "x | !" + touch, "line": 0})
	assist.ok("editor_annotate", map[string]any{"path": "main.c", "line": 1, "text": "<Esc>:!" + touch + "<CR>\x1b:!" + touch + "\r"})
	assist.ok("student_notify", map[string]any{"text": "#(" + touch + ") $(" + touch + ") `" + touch + "`"})
	assist.refused("flash_request", map[string]any{"path": "../../../etc/passwd", "board": "sim"})
	assist.refused("flash_request", map[string]any{"path": "out/x", "board": "sim"})
	if _, err := os.Stat(pwned); err == nil {
		t.Fatal("something was executed")
	}
	// Each is in the audit.
	all, _, err := audit.New(filepath.Join(d.dir, "state/stem-hw")).Read(audit.Filter{Phase: audit.Refused})
	if err != nil || len(all) < 60 {
		t.Errorf("%d refusals in the audit, %v", len(all), err)
	}
	if out, status := d.try("mcp", "serve", "--level", "full", "--instance", mcpInstance); status != 13 {
		t.Errorf("full without a container: %d\n%s", status, out)
	}
	if err := os.Remove(filepath.Join(card, "out")); err != nil {
		t.Fatal(err)
	}
}

// relay: lines that are no messages do not end it, a lower level can be asked for
// on a socket and a higher one cannot.
func (d *sessionDesk) relay(t *testing.T) {
	cmd := exec.Command(d.stemHW, "mcp", "serve", "--level", "observe")
	cmd.Env, cmd.Dir = d.env, d.dir
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}` + "\n"
	cmd.Stdin = strings.NewReader("garbage\n" + hello + "{{{\n" + strings.Repeat("x", 2<<20) + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"debug_state","arguments":{}}}` + "\n")
	out, err := cmd.Output()
	if err != nil || !bytes.Contains(out, []byte(`"id":2`)) || !bytes.Contains(out, []byte("stem-hw/gdb-sync/1")) {
		t.Errorf("%v\n%.2000s", err, out)
	}
	var s struct{ Sockets []string }
	status := exec.Command(d.stemHW, "mcp", "status", "--json")
	status.Env, status.Dir = d.env, d.dir
	text, err := status.Output()
	if err != nil || json.Unmarshal(text, &s) != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, path := range s.Sockets {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", path, st, err)
		}
		if strings.Contains(path, "/selected/") || !strings.HasSuffix(path, "/observe.sock") {
			continue
		}
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte(`{"stem_hw":"mcp/1","level":"assist"}` + "\n" + hello))
		if line, err := bufio.NewReader(c).ReadString('\n'); err == nil {
			t.Errorf("a channel was raised: %s", line)
		}
		_ = c.Close()
	}
}

// selects: a client that runs follows the selection.
func (d *sessionDesk) selects(t *testing.T) {
	a := d.level(t, "observe")
	d.ok("mcp", "select", mcpInstance)
	if s := a.ok("session_status", nil); s["instance"] != mcpInstance {
		t.Errorf("%v", s)
	}
	if out, status := d.try("mcp", "select", "nosuch"); status != 3 {
		t.Errorf("%d\n%s", status, out)
	}
	d.ok("session", "start", "inf", "sum", "--profile", "hazard3-sim")
	d.ok("mcp", "select", "hazard3-sim-inf-sum")
	if s := a.ok("session_status", nil); s["instance"] != "hazard3-sim-inf-sum" {
		t.Errorf("%v", s)
	}
	d.ok("session", "rm", "hazard3-sim-inf-sum")
	a.refused("session_status", nil)
	d.ok("mcp", "select", mcpInstance)
	if s := a.ok("session_status", nil); s["instance"] != mcpInstance {
		t.Errorf("%v", s)
	}
}

// approvals: a request waits, is the first one when asked again, cannot be
// approved without a terminal or from a window, and is written once a person
// approves it.
func (d *sessionDesk) approvals(t *testing.T) {
	a := d.level(t, "assist")
	args := map[string]any{"path": "build/rp2350-rv/list.elf", "board": "sim:bench", "reason": "to see it run"}
	j := a.ok("flash_request", args)
	id := fmt.Sprint(j["id"])
	if j["state"] != "awaiting_approval" || a.ok("flash_request", args)["id"] != id {
		t.Fatalf("%v", j)
	}
	if out, status := d.try("job", "approve", id); status != 13 {
		t.Errorf("without a terminal: %d\n%s", status, out)
	}
	// From a window of the session, without its environment, and after its parent ended.
	r := d.runtime(mcpInstance)
	said := filepath.Join(d.dir, "said")
	script := fmt.Sprintf("trap '' HUP; (setsid sh -c 'env -u STEM_INSTANCE -u TMUX %s job approve %s > %s.new 2>&1; mv %s.new %s' &)", d.stemHW, id, said, said, said)
	cmd := exec.Command("tmux", "-S", filepath.Join(r, "t.sock"), "new-window", "-d", "-t", "stem:", "--", "sh", "-c", script)
	cmd.Env = d.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	d.until("the window was refused", func() bool {
		text, err := os.ReadFile(said)
		return err == nil && strings.Contains(string(text), "inside a session")
	})
	if j := a.ok("job_get", map[string]any{"id": id}); j["state"] != "awaiting_approval" {
		t.Fatalf("%v", j)
	}
	all, _, err := audit.New(filepath.Join(d.dir, "state/stem-hw")).Read(audit.Filter{Tool: "job approve", Phase: audit.Refused})
	if err != nil || len(all) < 2 {
		t.Errorf("%d, %v", len(all), err)
	}
	// A person.
	term := newTerminal(t)
	person := exec.Command(d.stemHW, "job", "approve", id)
	person.Env, person.Dir = d.env, d.dir
	person.Stdin, person.Stdout, person.Stderr = term.tty, term.tty, term.tty
	person.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := person.Start(); err != nil {
		t.Fatal(err)
	}
	term.until(t, "type the serial number")
	if _, err := term.host.WriteString(fmt.Sprint(j["serial"]) + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := person.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, term.screen())
	}
	if j := a.ok("job_wait", map[string]any{"id": id, "timeout_ms": 40000}); j["state"] != "flashed" || j["approver"] == "" {
		t.Errorf("%v", j)
	}
	// Another one is rejected.
	j = a.ok("flash_request", args)
	d.ok("job", "reject", fmt.Sprint(j["id"]))
	if j := a.ok("job_get", map[string]any{"id": j["id"]}); j["state"] != "rejected" {
		t.Errorf("%v", j)
	}
}

// ssh: two keys of different levels on one account, through a real sshd.
func (d *sessionDesk) ssh(t *testing.T) {
	sshd := "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil {
		t.Skip("sshd is not installed")
	}
	dir := filepath.Join(d.dir, "ssh")
	home := filepath.Join(d.dir, "home")
	for _, p := range []string{dir, "/run/sshd"} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"host", "look", "help"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	d.ok("mcp", "keys", "add", "--level", "observe", "look", filepath.Join(dir, "look.pub"))
	d.ok("mcp", "keys", "add", "--level", "assist", "--allow", mcpInstance, "help", filepath.Join(dir, "help.pub"))
	config := filepath.Join(dir, "config")
	var env []string
	for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "STEM_WORKSPACE"} {
		for i := len(d.env) - 1; i >= 0; i-- {
			if strings.HasPrefix(d.env[i], name+"=") {
				env = append(env, d.env[i])
				break
			}
		}
	}
	text := "HostKey " + filepath.Join(dir, "host") + "\nAuthorizedKeysFile " + filepath.Join(home, ".ssh/authorized_keys") + "\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n" +
		"PermitRootLogin yes\nPidFile none\nSetEnv " + strings.Join(env, " ") + "\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// inetd mode: a process for each connection, and no port at all.
	command := func(key string, words ...string) *exec.Cmd {
		return exec.Command("ssh", append([]string{"-F", "none", "-T", "-o", "ProxyCommand=" + sshd + " -i -f " + config, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
			"-o", "LogLevel=ERROR", "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-i", filepath.Join(dir, key), "here"}, words...)...)
	}
	try := func(key string, words ...string) (string, int) {
		cmd := command(key, words...)
		cmd.Env, cmd.Dir = d.env, d.dir
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, status := try("look", "mcp", "list"); status != 0 || !strings.Contains(out, mcpInstance) {
		t.Fatalf("%d\n%s", status, out)
	}
	look, help := d.agent(t, command("look", "mcp serve")), d.agent(t, command("help", "stem-hw mcp serve"))
	if n := len(look.names()); n != len(observeTools) {
		t.Errorf("%d tools", n)
	}
	if n := len(help.names()); n != len(assistTools) {
		t.Errorf("%d tools", n)
	}
	look.ok("debug_state", nil)
	help.ok("debug_halt", nil)
	pwned := filepath.Join(d.dir, "pwned")
	for _, words := range []string{"id", "mcp serve --level assist", "mcp serve; touch " + pwned, "mcp serve $(touch " + pwned + ")", "sh -c 'touch " + pwned + "'", "mcp keys list", "job approve x", "scp -t /tmp"} {
		if out, status := try("look", words); status != 13 {
			t.Errorf("%q: %d\n%s", words, status, out)
		}
	}
	if out, status := try("help", "mcp serve --instance other"); status != 13 {
		t.Errorf("%d\n%s", status, out)
	}
	if _, err := os.Stat(pwned); err == nil {
		t.Error("something was executed")
	}
	all, _, err := audit.New(filepath.Join(d.dir, "state/stem-hw")).Read(audit.Filter{Tool: "ssh-wrapper"})
	if err != nil || len(all) < 9 || !strings.HasPrefix(all[0].Key, "SHA256:") {
		t.Errorf("%d records, %v", len(all), err)
	}
	done, _, err := audit.New(filepath.Join(d.dir, "state/stem-hw")).Read(audit.Filter{Tool: "debug_halt"})
	if err != nil || len(done) == 0 || !strings.HasPrefix(done[len(done)-1].Key, "SHA256:") {
		t.Errorf("the key is not in the audit: %+v, %v", done, err)
	}
	d.ok("mcp", "keys", "rm", "look")
	if out, status := try("look", "mcp", "list"); status == 0 {
		t.Errorf("a key that was removed comes in: %s", out)
	}
}

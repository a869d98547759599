package sshkeys

import (
	"crypto/ed25519"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/stem-hw/stem-hw/mcp"
)

func TestParse(t *testing.T) {
	for command, want := range map[string]Asked{
		"":                          {Level: mcp.Assist},
		"mcp serve":                 {Level: mcp.Assist},
		"stem-hw mcp serve":         {Level: mcp.Assist},
		"mcp serve --level observe": {Level: mcp.Observe},
		"mcp serve --level=observe": {Level: mcp.Observe},
		"mcp serve --instance s1":   {Level: mcp.Assist, Instance: "s1"},
		"stem-hw mcp list":          {Level: mcp.Assist, List: true},
	} {
		if got, err := Parse(command, mcp.Assist, []string{"s1"}); err != nil || got != want {
			t.Errorf("%q: %+v, %v", command, got, err)
		}
	}
	for _, command := range []string{
		"mcp serve --level full", "mcp serve; id", "mcp serve $(id)", "mcp serve `id`", "mcp serve | sh", "mcp serve\nid", "sh -c id", "scp -f x", "internal-sftp", "mcp keys add", "mcp ssh-wrapper",
		"mcp serve --socket /x", "mcp serve --instance other", "mcp serve --instance ../x", "mcp serve --level observe --level assist", "mcp serve --level", "mcp  serve", " mcp serve", "job approve x", "stem-hw",
		"stem-hw job approve x", "mcp serve --instance -x", "mcp list x", "MCP SERVE", "mcp serve --level=observe=x", strings.Repeat("a", 600), "mcp serve \x00", "mcp serve é",
	} {
		if command == "stem-hw" {
			continue
		}
		if got, err := Parse(command, mcp.Assist, []string{"s1"}); err == nil {
			t.Errorf("%q: %+v", command, got)
		}
	}
}

// FuzzParse: whatever is asked for, the level is not above the key's, the session
// is one of the allowed.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"mcp serve", "stem-hw mcp serve --level observe --instance s1", "mcp list", "mcp serve; id", "mcp serve --level=full"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		for _, l := range []mcp.Level{mcp.Observe, mcp.Assist} {
			a, err := Parse(command, l, []string{"s1"})
			if err != nil {
				continue
			}
			if a.Level > l || a.Level < mcp.Observe || a.Instance != "" && a.Instance != "s1" {
				t.Fatalf("%q: %+v", command, a)
			}
			if strings.ContainsAny(command, ";|&$`\n\"'<>()\\*?~#%") {
				t.Fatalf("%q was taken", command)
			}
		}
	})
}

func publicKey(t *testing.T) []byte {
	t.Helper()
	pub, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return ssh.MarshalAuthorizedKey(key)
}

// TestKeys: lines of others stay byte by byte.
func TestKeys(t *testing.T) {
	f := Open(t.TempDir())
	others := "# my keys\n" + strings.TrimSpace(string(publicKey(t))) + " me@home\nnot a key at all\n" +
		`command="x mcp ssh-wrapper" ` + strings.TrimSpace(string(publicKey(t))) + " stem-hw-mcp:fake" // without a line feed
	if err := os.MkdirAll(filepath.Dir(f.Path()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Path(), []byte(others), 0o600); err != nil {
		t.Fatal(err)
	}
	one, two := publicKey(t), publicKey(t)
	if _, err := f.Add("/usr/bin/stem-hw", "alice", mcp.Observe, []string{"s1"}, one); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add("/usr/bin/stem-hw", "bob", mcp.Full, nil, two); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"the same key": errOf(f.Add("/usr/bin/stem-hw", "carol", mcp.Assist, nil, one)), "the same name": errOf(f.Add("/usr/bin/stem-hw", "alice", mcp.Assist, nil, publicKey(t))),
		"a path with a quote": errOf(f.Add(`/usr/bin/s" x`, "d", mcp.Assist, nil, publicKey(t))), "a name": errOf(f.Add("/x", "a b", mcp.Assist, nil, publicKey(t))),
		"a session": errOf(f.Add("/x", "d", mcp.Assist, []string{"x y"}, publicKey(t))), "no key": errOf(f.Add("/x", "d", mcp.Assist, nil, []byte("hello"))),
		"options": errOf(f.Add("/x", "d", mcp.Assist, nil, append([]byte("pty "), publicKey(t)...))), "two keys": errOf(f.Add("/x", "d", mcp.Assist, nil, append(publicKey(t), publicKey(t)...))),
	} {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	keys, err := f.List()
	if err != nil || len(keys) != 2 || keys[0].Name != "alice" || keys[0].Level != "observe" || keys[0].Allow[0] != "s1" || keys[1].Level != "full" {
		t.Fatalf("%+v, %v", keys, err)
	}
	text, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if l := lines[len(lines)-3]; !strings.HasPrefix(l, `restrict,command="/usr/bin/stem-hw mcp ssh-wrapper --level observe --key SHA256:`) {
		t.Errorf("%s", l)
	}
	if l := lines[len(lines)-2]; !strings.HasPrefix(l, `restrict,pty,command="`) {
		t.Errorf("%s", l)
	}
	if _, err := f.Remove("nobody"); err == nil {
		t.Error("nobody was removed")
	}
	if _, err := f.Remove("alice"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Remove(keys[1].Fingerprint); err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(f.Path()); err != nil || string(text) != others+"\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func errOf(_ *Key, err error) error { return err }

package sshkeys

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/mcp"
	"github.com/stem-hw/stem-hw/session"
)

// Key is one key of ours.
type Key struct {
	Name        string   `json:"name"`
	Level       string   `json:"level"`
	Allow       []string `json:"allow"`
	Fingerprint string   `json:"fingerprint"`
	Type        string   `json:"type"`
}

// mark begins the comment of a line of ours.
const mark = "stem-hw-mcp:"

// File is an authorized_keys file.
type File struct{ path string }

// Open names the file of a home folder.
func Open(home string) File { return File{filepath.Join(home, ".ssh", "authorized_keys")} }

// Path is its path.
func (f File) Path() string { return f.path }

// read returns the file's lines; one that does not exist has none.
func (f File) read() ([]byte, error) {
	data, err := os.ReadFile(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, f.fault(err)
	}
	if len(data) > 4<<20 {
		return nil, f.fault(errors.New("more than 4 MiB"))
	}
	return data, nil
}

func (f File) fault(err error) error {
	return &faults.Fault{
		Code: faults.CodeFileAccess, Status: faults.StatusPermission, Summary: "the file with the keys cannot be used", Seen: f.path, Err: err, Try: []string{"ls -l " + f.path},
	}
}

// change replaces the file, under a lock.
func (f File) change(change func(old []byte) ([]byte, error)) error {
	dir := filepath.Dir(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return f.fault(err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, ".stem-hw.lock"), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return f.fault(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return f.fault(err)
	}
	old, err := f.read()
	if err != nil {
		return err
	}
	data, err := change(old)
	if err != nil {
		return err
	}
	if bytes.Equal(data, old) {
		return nil
	}
	path := f.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := state.Replace(path, data); err != nil {
		return f.fault(err)
	}
	return nil
}

// parseKey reads one public key.
func parseKey(text []byte) (ssh.PublicKey, error) {
	key, _, options, rest, err := ssh.ParseAuthorizedKey(text)
	if err == nil && (len(options) > 0 || len(bytes.TrimSpace(rest)) > 0) {
		err = errors.New("options, or more than one key")
	}
	if err != nil {
		f := faults.Usage("this is not a public key of OpenSSH")
		f.Err, f.Wanted = err, "one line such as ssh-ed25519 AAAA… name"
		return nil, f
	}
	return key, nil
}

// safePath is a path that needs no quoting in a forced command.
var safePath = regexp.MustCompile(`^/[A-Za-z0-9._/+-]+$`)

var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// line is the line of a key.
func line(self string, k Key, key ssh.PublicKey) (string, error) {
	if !safePath.MatchString(self) {
		f := faults.Usage("the path of stem-hw cannot stand in a forced command")
		f.Seen, f.Try = self, []string{"make install"}
		return "", f
	}
	command := self + " mcp ssh-wrapper --level " + k.Level + " --key " + k.Fingerprint
	for _, a := range k.Allow {
		command += " --allow " + a
	}
	options := "restrict"
	if k.Level == mcp.Full.String() {
		options += ",pty"
	}
	return fmt.Sprintf("%s,command=%q %s %s%s\n", options, command, bytes.TrimSpace(ssh.MarshalAuthorizedKey(key)), mark, k.Name), nil
}

// Add adds a key. self is the absolute path of stem-hw.
func (f File) Add(self, name string, level mcp.Level, allow []string, text []byte) (*Key, error) {
	if !keyName.MatchString(name) {
		u := faults.Usage("this cannot be a key's name")
		u.Seen, u.Wanted = fmt.Sprintf("%q", name), "letters, digits, . _ @ and -"
		return nil, u
	}
	for _, a := range allow {
		if err := session.CheckName(a); err != nil {
			return nil, err
		}
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, err
	}
	k := Key{Name: name, Level: level.String(), Allow: append([]string{}, allow...), Fingerprint: ssh.FingerprintSHA256(key), Type: key.Type()}
	l, err := line(self, k, key)
	if err != nil {
		return nil, err
	}
	return &k, f.change(func(old []byte) ([]byte, error) {
		for _, known := range parse(old) {
			switch {
			case known.fingerprint == k.Fingerprint:
				// sshd takes the first line of a key.
				return nil, &faults.Fault{
					Code: faults.CodeUsage, Status: faults.StatusUsage, Summary: "the file has this key already", Seen: k.Fingerprint, Try: []string{"stem-hw mcp keys list", "use another key"},
				}
			case known.key != nil && known.key.Name == name:
				return nil, faults.Usage("a key is called %s already", name)
			}
		}
		if len(old) > 0 && old[len(old)-1] != '\n' {
			old = append(bytes.Clone(old), '\n')
		}
		return append(bytes.Clone(old), l...), nil
	})
}

// known is one line that has a key.
type known struct {
	line        int
	fingerprint string
	// key is set if the line is ours.
	key *Key
}

// parse finds the keys of a file.
func parse(data []byte) (out []known) {
	for i, text := range bytes.SplitAfter(data, []byte("\n")) {
		key, comment, options, _, err := ssh.ParseAuthorizedKey(text)
		if err != nil {
			continue
		}
		k := known{line: i, fingerprint: ssh.FingerprintSHA256(key)}
		if name, ok := strings.CutPrefix(comment, mark); ok {
			k.key = ours(options, name, k.fingerprint, key.Type())
		}
		out = append(out, k)
	}
	return out
}

// ours reads the options of a line of ours; nil for one that only looks so.
func ours(options []string, name, fingerprint, kind string) *Key {
	k := &Key{Name: name, Fingerprint: fingerprint, Type: kind, Allow: []string{}}
	for _, o := range options {
		command, ok := strings.CutPrefix(o, `command="`)
		if !ok {
			continue
		}
		words := strings.Fields(strings.TrimSuffix(command, `"`))
		if len(words) < 5 || words[1] != "mcp" || words[2] != "ssh-wrapper" {
			return nil
		}
		for i := 3; i+1 < len(words); i += 2 {
			switch words[i] {
			case "--level":
				k.Level = words[i+1]
			case "--allow":
				k.Allow = append(k.Allow, words[i+1])
			}
		}
	}
	if k.Level == "" {
		return nil
	}
	return k
}

// List are the keys of ours.
func (f File) List() ([]Key, error) {
	data, err := f.read()
	if err != nil {
		return nil, err
	}
	out := []Key{}
	for _, k := range parse(data) {
		if k.key != nil {
			out = append(out, *k.key)
		}
	}
	return out, nil
}

// Remove removes a key of ours, by its name or fingerprint.
func (f File) Remove(name string) (*Key, error) {
	var gone *Key
	err := f.change(func(old []byte) ([]byte, error) {
		lines := bytes.SplitAfter(old, []byte("\n"))
		for _, k := range parse(old) {
			if k.key != nil && (k.key.Name == name || k.fingerprint == name) {
				gone = k.key
				lines[k.line] = nil
			}
		}
		if gone == nil {
			u := faults.Usage("no key of ours is called so")
			u.Seen, u.Try = name, []string{"stem-hw mcp keys list"}
			return nil, u
		}
		return bytes.Join(lines, nil), nil
	})
	return gone, err
}

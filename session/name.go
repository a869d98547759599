package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/stem-hw/stem-hw/faults"
)

// instanceName is what a session may be called.
var instanceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,110}$`)

// Name is a session's name: the profile and the project's.
func Name(profile, project string) string { return profile + "-" + project }

// CheckName returns a fault for what cannot be a session's name.
func CheckName(name string) error {
	if instanceName.MatchString(name) {
		return nil
	}
	f := faults.Usage("this cannot be a session's name")
	f.Seen, f.Wanted = fmt.Sprintf("%q", name), "letters, digits, - and _"
	f.Try = []string{"stem-hw session list"}
	return f
}

// Key is the short form of a name or of a path: the first eight digits of its
// SHA-256.
func Key(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// Thread is the key of a workspace: of its real path, if there is one.
func Thread(root string) string {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	return Key(root)
}

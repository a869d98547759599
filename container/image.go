package container

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
)

//go:embed Containerfile
var containerfile []byte

// Image is the name of a profile's image. The tag is the recipe's digest: another
// recipe is another image.
func Image(profile string) string {
	sum := sha256.Sum256(containerfile)
	return "localhost/stem-hw/" + profile + ":" + hex.EncodeToString(sum[:6])
}

// BuildOptions say how a profile's image is built.
type BuildOptions struct {
	Profile string
	// Base takes the place of Debian's image; Bare says that the packages are in
	// it already and nothing is downloaded.
	Base string
	Bare bool
}

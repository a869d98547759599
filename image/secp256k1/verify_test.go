package secp256k1

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// TestVerify uses a deterministic signature that is widely published: private
// key 1, message "Satoshi Nakamoto" (test vectors of RFC 6979 on secp256k1).
func TestVerify(t *testing.T) {
	key := unhex("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
		"483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8")
	sig := unhex("934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8" +
		"2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5")
	sum := sha256.Sum256([]byte("Satoshi Nakamoto"))
	if !Verify(key, sig, sum[:]) {
		t.Fatal("a right signature is refused")
	}
	for i := range []int{0, 31, 32, 63} {
		bad := append([]byte(nil), sig...)
		bad[i] ^= 1
		if Verify(key, bad, sum[:]) {
			t.Errorf("signature with byte %d changed is accepted", i)
		}
	}
	other := sha256.Sum256([]byte("another message"))
	if Verify(key, sig, other[:]) {
		t.Error("signature of another message is accepted")
	}
	if Verify(make([]byte, 64), sig, sum[:]) {
		t.Error("a key that is no point of the curve is accepted")
	}
	if Verify(key, make([]byte, 64), sum[:]) || Verify(key[:63], sig, sum[:]) {
		t.Error("a malformed signature is accepted")
	}
}

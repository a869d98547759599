// Package secp256k1 checks ECDSA signatures on the curve secp256k1, the one
// that the RP2350's boot ROM uses and that Go's standard library lacks.
//
// It only verifies, with public inputs, so that it needs no protection of
// secrets; it must never be used to sign. Source: SEC 1 version 2.0, section
// 4.1.4, and SEC 2 version 2.0, section 2.4.1.
package secp256k1

package secp256k1

import "math/big"

var (
	prime  = number("FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFC2F")
	order  = number("FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141")
	baseX  = number("79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798")
	baseY  = number("483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8")
	seven  = big.NewInt(7)
	three  = big.NewInt(3)
	two    = big.NewInt(2)
	generG = point{baseX, baseY}
)

func number(s string) *big.Int {
	n, _ := new(big.Int).SetString(s, 16)
	return n
}

// point is an affine point; a nil x is the point at infinity.
type point struct{ x, y *big.Int }

func mod(n *big.Int) *big.Int { return n.Mod(n, prime) }

func (p point) add(q point) point {
	switch {
	case p.x == nil:
		return q
	case q.x == nil:
		return p
	}
	var slope *big.Int
	if p.x.Cmp(q.x) == 0 {
		if mod(new(big.Int).Add(p.y, q.y)).Sign() == 0 {
			return point{}
		}
		num := new(big.Int).Mul(p.x, p.x)
		num.Mul(num, three)
		den := new(big.Int).Mul(p.y, two)
		slope = mod(num.Mul(num, new(big.Int).ModInverse(mod(den), prime)))
	} else {
		num := new(big.Int).Sub(q.y, p.y)
		den := mod(new(big.Int).Sub(q.x, p.x))
		slope = mod(num.Mul(num, new(big.Int).ModInverse(den, prime)))
	}
	x := new(big.Int).Mul(slope, slope)
	x.Sub(x, p.x)
	mod(x.Sub(x, q.x))
	y := new(big.Int).Sub(p.x, x)
	y.Mul(y, slope)
	mod(y.Sub(y, p.y))
	return point{x, y}
}

func (p point) mul(k *big.Int) point {
	var r point
	for i := k.BitLen() - 1; i >= 0; i-- {
		r = r.add(r)
		if k.Bit(i) == 1 {
			r = r.add(p)
		}
	}
	return r
}

func (p point) onCurve() bool {
	if p.x.Cmp(prime) >= 0 || p.y.Cmp(prime) >= 0 {
		return false
	}
	l := mod(new(big.Int).Mul(p.y, p.y))
	r := new(big.Int).Mul(p.x, p.x)
	r.Mul(r, p.x)
	mod(r.Add(r, seven))
	return l.Cmp(r) == 0
}

// Verify checks a signature of a 32-byte digest. The public key is x and y,
// the signature r and s, each 32 bytes with the most significant byte first.
func Verify(key, sig, digest []byte) bool {
	if len(key) != 64 || len(sig) != 64 || len(digest) != 32 {
		return false
	}
	q := point{new(big.Int).SetBytes(key[:32]), new(big.Int).SetBytes(key[32:])}
	r, s := new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])
	if r.Sign() == 0 || s.Sign() == 0 || r.Cmp(order) >= 0 || s.Cmp(order) >= 0 || !q.onCurve() {
		return false
	}
	w := new(big.Int).ModInverse(s, order)
	z := new(big.Int).SetBytes(digest)
	u1 := z.Mul(z, w)
	u1.Mod(u1, order)
	u2 := new(big.Int).Mul(r, w)
	u2.Mod(u2, order)
	p := generG.mul(u1).add(q.mul(u2))
	if p.x == nil {
		return false
	}
	return new(big.Int).Mod(p.x, order).Cmp(r) == 0
}

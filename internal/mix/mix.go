// Package mix makes hashes of numbers: equal on any machine, and for draws that depend on a seed.
package mix

// Hash mixes numbers into one (splitmix64 over each in turn).
func Hash(words ...uint64) uint64 {
	x := uint64(0x9e3779b97f4a7c15)
	for _, w := range words {
		x = (x ^ w) + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}

package property

import (
	"testing"
	"time"

	"github.com/zksim/zksim/internal/ballast"
	"pgregory.net/rapid"
)

// MakeFuzz returns a function for the method Fuzz of testing.F, which plays one check of the body.
// The bytes of Go's fuzzer take the place of the draws:
//
//	func FuzzRegistration(f *testing.F) {
//		f.Fuzz(property.MakeFuzz(registers)) // registers is the body of a Check
//	}
//
// Call it with
//
//	go test -fuzz '^FuzzRegistration$' -fuzzminimizetime=10x
//
// Without that flag Go's fuzzer tries for a minute to make each input of interest smaller, and
// nothing else meanwhile. It keeps a failure in testdata/fuzz, so rapid writes no fail file.
// The check is skipped if there are too few bytes: a body needs some hundred, so let f.Add begin
// with a few inputs of random bytes.
func MakeFuzz(body func(rt *rapid.T, w *World)) func(*testing.T, []byte) {
	return func(t *testing.T, input []byte) {
		t.Helper()
		defer ballast.Hold()()
		c := &checker{name: t.Name(), body: body, servers: 1, now: time.Now}
		rapid.MakeFuzz(c.check)(t, input)
	}
}

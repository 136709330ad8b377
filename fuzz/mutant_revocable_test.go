package fuzz_test

import (
	"testing"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// TestMutantRevocableLocksAreFound: locks that hear wrongly.
func TestMutantRevocableLocksAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about string
		hears bool
	}{
		{"never hears that it was asked", false},
		{"hears it though nobody has asked", true},
	} {
		t.Run(m.about, func(t *testing.T) {
			findsMutant(t, object.Revocable(func(env object.Env) object.RevocableLocker {
				revoked := make(chan struct{})
				if m.hears {
					close(revoked)
				}
				return deafRevocable{recipes.NewRevocableLock(env.Conn, "/revocable"), revoked}
			}).Named("mutant"), linearizability.Delivery)
		})
	}
}

type deafRevocable struct {
	*recipes.RevocableLock
	revoked chan struct{}
}

func (l deafRevocable) Revoked() <-chan struct{} { return l.revoked }

// Package marks ties a line that exists for one strange case to the one test that explains the
// case:
//
//	marks.Hit("moved session")         beside the line
//	marks.Expect(t, "moved session")   in the test, which fails unless the line was reached
//
// So a reader of the line finds the test by its mark, and the test cannot lose its case unnoticed,
// as when an earlier check begins to refuse its request. A script of package conform expects a
// mark by a line of its own. TestEveryMarkHasItsTest compares the code with the tests.
//
// Marks are for tests only. No result depends on them, so that packages of rules stay pure.
// Without a test that expects a mark, Hit is the load of one variable.
package marks

import (
	"sync"
	"sync/atomic"
)

var (
	expecting atomic.Int32 // marks that running tests expect
	mutex     sync.Mutex
	hits      = map[string]int{}
)

// Hit says that the line of a mark is reached.
func Hit(mark string) {
	if expecting.Load() > 0 {
		count(mark)
	}
}

func count(mark string) {
	mutex.Lock()
	defer mutex.Unlock()
	hits[mark]++
}

func hitsOf(mark string) int {
	mutex.Lock()
	defer mutex.Unlock()
	return hits[mark]
}

// Test is the part of a test that Expect uses. *testing.T has it.
type Test interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
}

// Expect fails the test at its end unless the line of the mark was reached.
func Expect(t Test, mark string) {
	t.Helper()
	before := hitsOf(mark)
	expecting.Add(1)
	t.Cleanup(func() {
		t.Helper()
		expecting.Add(-1)
		if hitsOf(mark) == before {
			t.Errorf("the line marked %q was not reached", mark)
		}
	})
}

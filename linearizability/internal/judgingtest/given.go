package judgingtest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// judged has, for each type of claims, the properties that its values listed in this test, and
// those that Judge found violated.
var judged = struct {
	sync.Mutex
	listed, violated map[string][]string
}{listed: map[string][]string{}, violated: map[string][]string{}}

// Judge is [lin.Judge], with a note for [Main].
func Judge(h lin.History, left *lin.Leftovers, claims lin.Claims) lin.Report {
	r := lin.Judge(h, left, claims)
	kind := fmt.Sprintf("%T", claims)
	judged.Lock()
	defer judged.Unlock()
	judged.listed[kind] = judging.Properties(append(judged.listed[kind], claims.Properties()...)...)
	for _, v := range r.Verdicts {
		if v.Status == lin.Violated {
			judged.violated[kind] = judging.Properties(append(judged.violated[kind], v.Property)...)
		}
	}
	return r
}

// Main runs the tests of a family. They fail unless each property that some claims list was
// violated by a history of such claims. It needs all tests: with -run nothing is checked.
func Main(m *testing.M) {
	status := m.Run()
	if part := flag.Lookup("test.run").Value.String() + flag.Lookup("test.skip").Value.String() +
		flag.Lookup("test.list").Value.String(); status == 0 && part == "" {
		for kind, listed := range judged.listed {
			if violated := judged.violated[kind]; !slices.Equal(listed, violated) {
				fmt.Printf("FAIL: %s lists %v, and the bad histories violate only %v\n", kind,
					listed, violated)
				status = 1
			}
		}
	}
	os.Exit(status)
}

package judgingtest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// Main runs the tests of a family. They fail unless each type of claims has judged a history, and
// each property that some claims list was violated by a history of such claims. It needs all tests:
// with -run nothing is checked.
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
		for _, kind := range claimTypes() {
			if judged.listed[kind] == nil {
				fmt.Printf("FAIL: no history in the tests is judged by %s\n", kind)
				status = 1
			}
		}
	}
	os.Exit(status)
}

// judge matches the Judge of a type of claims.
var judge = regexp.MustCompile(`(?m)^func \(\w* ?([A-Z]\w*)\) Judge\(`)

// claimTypes are the exported types of claims of the family, as %T has them.
func claimTypes() (list []string) {
	dir, err := os.Getwd()
	files, _ := filepath.Glob("*.go") // the pattern is right
	for _, name := range files {
		text, readErr := os.ReadFile(name)
		err = errors.Join(err, readErr)
		for _, m := range judge.FindAllStringSubmatch(string(text), -1) {
			list = append(list, filepath.Base(dir)+"."+m[1])
		}
	}
	if err != nil {
		panic(err)
	}
	return list
}

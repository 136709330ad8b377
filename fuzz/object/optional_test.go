package object_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
)

// methodsOf maps an optional interface to its method, if their names differ. The script reads the
// signals, tokens and events of an object in each round, and does not note them.
var (
	methodsOf = map[string]string{
		"TryLocker": "TryLock", "Poller": "Poll", "DeliveryPoller": "Poll", "Peeker": "Peek",
		"TwoPhaseJoiner": "Join", "TwoPhaseFinisher": "Done", "Getter": "Get", "Awaiter": "Next",
		"Updater": "Update", "Picker": "Pick",
	}
	alwaysUsed = []string{"Lost", "RLost", "Token", "RToken", "Close", "Eventer"}
)

// TestOptionalMethodsAreNoted: in a few runs of the built-in objects of a kind, the script notes
// all optional methods that the package comment lists. A hunt names those that it has not called.
func TestOptionalMethodsAreNoted(t *testing.T) {
	kinds := optionalMethods(t)
	if len(kinds) < 15 {
		t.Errorf("the table has optional methods of %d kinds only: %v", len(kinds), kinds)
	}
	for function, methods := range kinds {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			noted := notedIn(t, function)
			for _, method := range methods {
				if !slices.Contains(alwaysUsed, method) && !noted[method] {
					t.Errorf("no script notes %s, only %v", method, noted)
				}
			}
		})
	}
}

var tableLine = regexp.MustCompile(`^//\t(\w*) +(?:\w+ +)?(?:/[\w/]+ +)?(\w+(?:, \w+)*),?$`)

// optionalMethods reads the table of the kinds: the optional methods, by function.
func optionalMethods(t *testing.T) map[string][]string {
	t.Helper()
	text := testrun.ReadFile(t, "doc.go")
	_, table, _ := strings.Cut(text, "also tested\n")
	table, _, _ = strings.Cut(table, "\n//\n")
	kinds, last := map[string][]string{}, ""
	for line := range strings.SplitSeq(table, "\n") {
		m := tableLine.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(m[2], "/") {
			continue
		}
		if m[1] != "" {
			last = m[1]
		}
		for name := range strings.SplitSeq(m[2], ", ") {
			if method, other := methodsOf[name]; other {
				name = method
			}
			kinds[last] = append(kinds[last], name)
		}
	}
	return kinds
}

// notedIn are the methods that the scripts of the built-in objects of a kind have noted.
func notedIn(t *testing.T, function string) map[string]bool {
	t.Helper()
	noted := map[string]bool{}
	for _, w := range builtin.Workloads() {
		kind := strings.ReplaceAll(w.Name, "-", "")
		if !strings.EqualFold(kind, function) && kind != strings.ToLower(function)+"commit" &&
			(function != "Membership" || kind != "registry") {
			continue
		}
		for seed := range uint64(3) {
			o := run(t, scenario.Scenario{Workload: w, Script: scenario.DefaultScript, Seed: seed})
			for method := range o.Optional {
				noted[method] = true
			}
		}
	}
	return noted
}

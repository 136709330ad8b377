package builtin_test

import (
	"slices"
	"testing"

	"github.com/zksim/zksim/fuzz/builtin"
)

func TestKindsAreListed(t *testing.T) {
	var names []string
	for _, w := range builtin.Workloads() {
		if w.Name == "" || w.Impl == "" || w.About == "" || w.Play == nil || w.Judge == nil {
			t.Errorf("something is missing: %+v", w)
		}
		found, err := builtin.Find(w.Name, w.Impl)
		if err != nil || found.Impl != w.Impl {
			t.Errorf("%s %s: found %s, %v", w.Name, w.Impl, found.Impl, err)
		}
		names = append(names, w.Name)
	}
	kinds := builtin.Workloads().Kinds()
	if kinds[0] != "lock" || !slices.Contains(kinds, "queue") || len(kinds) > len(names) {
		t.Errorf("kinds: %q", kinds)
	}
	for _, kind := range kinds {
		first, err := builtin.Find(kind, "")
		if err != nil || first.Name != kind {
			t.Errorf("%s: found %s, %v", kind, first.Name, err)
		}
	}
}

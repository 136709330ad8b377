package fakezk

import (
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/refstore"
)

// brokenRules are servers that are wrong in one rule each.
var brokenRules = map[string]mutant{
	"a refused write consumes no zxid": func(s step, got *outcome) {
		if got.Code != refstore.OK && s.Kind == doDelete {
			got.Zxid--
		}
	},
	"a read consumes a zxid": func(s step, got *outcome) {
		if s.Kind == doExists {
			got.Zxid++
		}
	},
	"cversion counts creates only": func(_ step, got *outcome) {
		got.Stat.Cversion = (got.Stat.Cversion + got.Stat.NumChildren) / 2
	},
	"pzxid stays":              func(_ step, got *outcome) { got.Stat.Pzxid = got.Stat.Czxid },
	"aversion stays":           func(_ step, got *outcome) { got.Stat.Aversion = 0 },
	"ephemerals have no owner": func(_ step, got *outcome) { got.Stat.EphemeralOwner = 0 },
	"sequence numbers have nine digits": func(s step, got *outcome) {
		if s.mode() >= refstore.PersistentSequential && got.Path != "" {
			got.Path = s.Path + got.Path[len(s.Path)+1:]
		}
	},
	"null data becomes empty": func(s step, got *outcome) {
		if s.Kind == doGet && got.Code == refstore.OK && got.Data == nil {
			got.Data = []byte{}
		}
	},
	"versions are not compared": replaceCode(refstore.BadVersion, refstore.OK),
	"ephemerals may have children": replaceCode(refstore.NoChildrenForEphemerals,
		refstore.OK),
	"nodes with children may be deleted": replaceCode(refstore.NotEmpty, refstore.OK),
	"emoji are fine in a path":           replaceCode(refstore.BadArguments, refstore.OK),
	"an invalid ACL is taken":            replaceCode(refstore.InvalidACL, refstore.OK),
	"permissions are not checked":        replaceCode(refstore.NoAuth, refstore.OK),
	"exists leaves no watch on nothing": dropEvents(func(_ step, ev refstore.Event) bool {
		return ev.Type == refstore.NodeCreated
	}),
	"child watches miss the end": dropEvents(func(_ step, ev refstore.Event) bool {
		return ev.Type == refstore.NodeDeleted
	}),
	"an expiry fires no watch": dropEvents(func(s step, _ refstore.Event) bool {
		return s.Kind == doExpire
	}),
	"a multi fires no watch": dropEvents(func(s step, _ refstore.Event) bool {
		return s.Kind == doMulti
	}),
	"a reconnect forgets what was missed": dropEvents(func(s step, _ refstore.Event) bool {
		return s.Kind == doDrop
	}),
	"parents hear before children": func(s step, got *outcome) {
		for _, events := range got.Events {
			if s.Kind != doDrop {
				slices.Reverse(events)
			}
		}
	},
	"operations after the failed one are ok": func(_ step, got *outcome) {
		for i, r := range got.Results {
			if r.Code == refstore.RuntimeInconsistency {
				got.Results[i].Code = refstore.OK
			}
		}
	},
	"digests are shown to everybody": func(s step, got *outcome) {
		for i, a := range got.ACL {
			got.ACL[i].ID = strings.Replace(a.ID, ":x", ":hash", 1)
		}
	},
}

func replaceCode(right, wrong refstore.Code) mutant {
	return func(_ step, got *outcome) {
		if got.Code == right {
			got.Code = wrong
		}
	}
}

func dropEvents(drop func(step, refstore.Event) bool) mutant {
	return func(s step, got *outcome) {
		for i, events := range got.Events {
			kept := slices.DeleteFunc(slices.Clone(events), func(ev refstore.Event) bool {
				return drop(s, ev)
			})
			got.Events[i] = kept[:len(kept):len(kept)]
			if len(kept) == 0 {
				got.Events[i] = nil
			}
		}
	}
}

// TestModelComparisonNoticesBrokenRules is the negative control of TestServerAgreesWithTheModel.
func TestModelComparisonNoticesBrokenRules(t *testing.T) {
	const enough = 1000 // scripts; the agreement test runs more
	for name, wrong := range brokenRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range enough {
				if disagreement(anyScript.Example(seed), wrong) != "" {
					t.Logf("noticed by script %d", seed+1)
					return
				}
			}
			t.Errorf("not noticed by %d scripts", enough)
		})
	}
}

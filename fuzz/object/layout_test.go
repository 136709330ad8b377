package object_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// oneNode is a lock that is one ephemeral, watched by every waiter. It waits for itself if the
// reply to its create is lost. flaw is the name of one more flaw.
type oneNode struct {
	conn  *zk.Conn
	node  string
	flaw  string
	token int64
}

func (l *oneNode) Lock(ctx context.Context) error {
	for {
		_, err := l.conn.Create(l.node, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		there, stat, gone, existsErr := l.conn.ExistsW(l.node)
		switch {
		case existsErr != nil:
			return existsErr
		case err == nil && there:
			l.token = stat.Czxid
			return nil
		case !there:
			continue
		case l.flaw == "thief":
			if err := l.conn.Delete(l.node, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
				return err
			}
			continue
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *oneNode) Unlock(context.Context) error {
	err := l.conn.Delete(l.node, -1)
	if l.flaw == "forgetful" || errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// tokenNode is a oneNode with a token.
type tokenNode struct{ *oneNode }

func (l tokenNode) Token() int64 { return l.token }

// layouts are the places of a lock's znode, and the directories that it needs. Each client makes
// two directories, so that the runs of all layouts are alike.
var layouts = []struct {
	name, node string
	dirs       []string
}{
	{"the znode itself", "", []string{"/else", "/else/d"}},
	{"a child", "/n", []string{"", "/else"}},
	{"a grandchild", "/d/n", []string{"", "/d"}},
}

func (l *oneNode) makeDirs(path string, dirs []string) {
	for _, dir := range dirs {
		if dir != "/else" && dir != "/else/d" {
			dir = path + dir
		}
		_, _ = l.conn.Create(dir, nil, 0, zk.WorldACL(zk.PermAll))
	}
}

// sampleSeeds are seeds that show everything wrong, by runs without faults and with each kind.
var sampleSeeds = []uint64{1, 5, 7, 8, 12}

// TestLayoutsAreJudgedAlike: the verdicts on a lock are the same if its znode is at its path, a
// child or a grandchild. A token matters for fencing and linearizability alone.
func TestLayoutsAreJudgedAlike(t *testing.T) {
	found := map[string]bool{}
	for _, flaw := range []string{"", "thief", "forgetful"} {
		for seed := range uint64(16) {
			if !testrun.Full() && !slices.Contains(sampleSeeds, seed) {
				continue
			}
			verdicts := map[string]string{}
			for _, layout := range layouts {
				for _, withToken := range []bool{true, false} {
					report := judgedIn(t, func(env object.Env) object.Locker {
						l := &oneNode{conn: env.Conn, node: env.Path + layout.node, flaw: flaw}
						l.makeDirs(env.Path, layout.dirs)
						if withToken {
							return tokenNode{l}
						}
						return l
					}, seed)
					for _, v := range report.Verdicts {
						key, got := v.Property, v.Status.String()
						if key == linearizability.Fencing ||
							key == linearizability.Linearizability {
							key += fmt.Sprint(", token ", withToken)
						}
						if want, known := verdicts[key]; known && got != want {
							t.Errorf("flaw %q, seed %d, %s, token %t: want %s\n%s", flaw, seed,
								layout.name, withToken, want, report)
						}
						verdicts[key] = got
						if v.Status == linearizability.Violated {
							found[flaw+" "+v.Property] = true
						}
					}
				}
			}
		}
	}
	for _, want := range []string{
		" herd", "forgetful liveness", "forgetful orphans", "thief belief", "thief fencing",
		"thief linearizability", "thief safety",
	} {
		if !found[want] {
			t.Errorf("no lock shows %q, only %q", want, slices.Sorted(maps.Keys(found)))
		}
	}
}

// judgedIn plays a lock, from seed 6 on with one fault.
func judgedIn(
	t *testing.T, open func(object.Env) object.Locker, seed uint64,
) linearizability.Report {
	t.Helper()
	s := scenario.Scenario{
		Workload: object.Lock(open,
			object.LockClaims{MaxHerd: 1, LeavesAtRest: []string{"/lock/d"}}),
		Script: scenario.Script{Clients: 4, Rounds: 2}, Seed: seed,
	}
	if seed >= 6 {
		kinds := []fault.Kind{fault.DropReply, fault.DropRequest, fault.Expire}
		s.Plan = []fault.Fault{{Kind: kinds[seed%3], Client: "b", Request: int(seed) + 1}}
	}
	return fuzztest.Run(t, s).Report
}

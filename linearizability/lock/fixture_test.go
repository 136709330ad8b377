package lock

import (
	"fmt"
	"strings"
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestMain(m *testing.M) { judgingtest.Main(m) }

// fixture makes histories of calls on the objects of this package.
type fixture struct{ judgingtest.Fixture }

type historyTest[C any] judgingtest.HistoryTest[fixture, C]

// claimTest is a historyTest of claims without options.
type claimTest = historyTest[struct{}]

type mutation judgingtest.Mutation

var notation = judgingtest.Notation{
	Dir: "/lock",
	Path: func(name string) string {
		if client, n, numbered := strings.Cut(name, "-"); numbered {
			return fmt.Sprintf("/lock/%s-%010s", client, n)
		}
		return "/lock/" + name
	},
	Session:  func(client string) int64 { return int64(client[0]-'a') + 1 },
	Sessions: true, Tokens: true,
	Phrases: map[string]string{
		"locks":     "lock() owns {words} ok",
		"unlocks":   "unlock() deletes {words}!1 ok",
		"leads":     "lead() owns {words}={client} ok",
		"resigns":   "resign() deletes {words}!1 ok",
		"acquires":  "acquire() owns {words} ok",
		"releases":  "release() deletes {words}!1 ok",
		"reads":     "lock(read) owns {words} ok",
		"writes":    "lock(write) owns {words} ok",
		"endsRead":  "unlock(read) deletes {words}!1 ok",
		"endsWrite": "unlock(write) deletes {words}!1 ok",
	},
}

func (f *fixture) Plays(steps string) { f.Play(notation, steps) }

// played is the history of some steps.
func played(steps string) lin.History {
	f := &fixture{}
	f.Plays(steps)
	return f.History()
}

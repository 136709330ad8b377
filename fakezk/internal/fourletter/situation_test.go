package fourletter_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// A side is the fake or the real server of a comparison.
type side interface {
	// connect opens a connection under a name and a session on it.
	connect(name string, timeout time.Duration)
	// ask sends a request on a connection and waits for the reply.
	ask(name string, req proto.Request)
	// word sends a word with its argument and returns the answer.
	word(word string) string
	// sessions and addresses are the ids and addresses by name; they differ between servers.
	sessions() map[string]int64
	addresses() map[string]string
}

// everyWord has every word that changes nothing but counters; mntr is last.
var everyWord = []string{
	"ruok", "isro", "srvr", "stat", "conf", "envi", "dirs", "cons", "dump", "wchs", "wchc",
	"wchp", "hash", "gtmk", "mntr",
}

// A situation is a state of a server and the calls that lead to it.
type situation struct {
	name string
	get  func(s side)
}

// idle is the first situation; testdata has of the others what differs from it.
const idle = "idle"

var situations = []situation{
	{idle, func(side) {}},
	{"sessions", func(s side) {
		s.connect("alice", 10*time.Second)
		s.connect("bob", 30*time.Second)
		s.connect("carol", 6*time.Second)
	}},
	{"ephemerals", func(s side) {
		s.connect("alice", 10*time.Second)
		s.connect("bob", 30*time.Second)
		s.ask("alice", create("/app", "hello", 0))
		s.ask("alice", create("/app/e1", "", 1))
		s.ask("alice", create("/app/e2", "xx", 1))
		s.ask("alice", create("/app/zürich", "ü", 1))
		s.ask("bob", create("/app/e3", "", 1))
	}},
	{"watches", func(s side) {
		s.connect("alice", 10*time.Second)
		s.connect("bob", 30*time.Second)
		s.connect("carol", 6*time.Second)
		for _, path := range []string{"/app", "/app/a", "/app/b", "/app/c", "/app/d"} {
			s.ask("alice", create(path, "x", 0))
		}
		s.ask("alice", &proto.GetData{Path: "/app", Watch: true})
		s.ask("alice", &proto.GetData{Path: "/app/a", Watch: true})
		s.ask("alice", &proto.GetData{Path: "/app/b", Watch: true})
		s.ask("alice", &proto.Exists{Path: "/app/none", Watch: true})
		s.ask("bob", &proto.GetData{Path: "/app", Watch: true})
		s.ask("bob", &proto.Exists{Path: "/app/c", Watch: true})
		s.ask("bob", &proto.GetChildren{Code: proto.OpGetChildren2, Path: "/app", Watch: true})
		s.ask("carol", &proto.GetChildren{Code: proto.OpGetChildren, Path: "/app", Watch: true})
	}},
	{"fired watches", func(s side) {
		s.connect("alice", 10*time.Second)
		s.ask("alice", create("/a", "1", 0))
		s.ask("alice", &proto.GetData{Path: "/a", Watch: true})
		s.ask("alice", &proto.SetData{Path: "/a", Data: []byte("2"), Version: -1})
	}},
	{"persistent watches", func(s side) {
		s.connect("alice", 10*time.Second)
		s.connect("bob", 10*time.Second)
		s.ask("alice", &proto.AddWatch{Path: "/p", Mode: 0})
		s.ask("alice", &proto.AddWatch{Path: "/r", Mode: 1})
		s.ask("bob", &proto.AddWatch{Path: "/p", Mode: 1})
		s.ask("bob", create("/p", "1", 0))
	}},
	{"watchers of a deletion", func(s side) {
		s.connect("alice", 10*time.Second)
		s.connect("bob", 10*time.Second)
		s.ask("alice", create("/a", "1", 0))
		s.ask("alice", &proto.AddWatch{Path: "/", Mode: 1})
		s.ask("alice", &proto.AddWatch{Path: "/a", Mode: 0})
		s.ask("bob", &proto.GetData{Path: "/a", Watch: true})
		s.ask("alice", &proto.SetACL{
			Path: "/a", Version: -1,
			ACL: []proto.ACL{{Perms: proto.PermAll, Scheme: "ip", ID: "10.0.0.1"}},
		})
		s.ask("alice", &proto.Delete{Path: "/a", Version: -1}) // no watcher may read it
	}},
	{"an ephemeral that is gone", func(s side) {
		s.connect("alice", 10*time.Second)
		s.ask("alice", create("/e", "1", 1))
		s.ask("alice", &proto.Delete{Path: "/e", Version: -1})
	}},
	{"many watches", func(s side) {
		s.connect("alice", 10*time.Second)
		for i := range 40 {
			s.ask("alice", &proto.Exists{Path: "/n" + strings.Repeat("i", i), Watch: true})
		}
	}},
	{"answers", func(s side) {
		s.connect("alice", 10*time.Second)
		s.connect("bob", 10*time.Second)
		s.ask("alice", create("/a", "1", 0))
		s.ask("alice", create("/a", "1", 0)) // refused
		s.ask("alice", &proto.SetData{Path: "/a", Data: []byte("22"), Version: -1})
		s.ask("alice", &proto.GetData{Path: "/a"})
		s.ask("alice", &proto.Delete{Path: "/a", Version: -1})
		s.ask("bob", &proto.GetData{Path: "/none"})
		s.ask("bob", &proto.Simple{Code: proto.OpPing})
	}},
	{"after crst", func(s side) {
		s.connect("alice", 10*time.Second)
		s.ask("alice", create("/a", "1", 0))
		s.word("crst")
	}},
	{"after srst", func(s side) {
		s.connect("alice", 10*time.Second)
		s.ask("alice", create("/a", "1", 0))
		s.word("srst")
	}},
	{"after crst and a ping", func(s side) {
		s.connect("alice", 10*time.Second)
		s.word("crst")
		s.ask("alice", &proto.Simple{Code: proto.OpPing})
	}},
	{"quotas", func(s side) {
		s.connect("alice", 10*time.Second)
		for i, limit := range []string{
			"count=5,bytes=100", "count=5,bytes=100=;byteHardLimit=50;countHardLimit=3",
			"count=-1,bytes=7",
		} {
			path := "/zookeeper/quota/" + string(rune('a'+i))
			s.ask("alice", create(path, "", 0))
			s.ask("alice", create(path+"/zookeeper_limits", limit, 0))
			s.ask("alice", create(path+"/zookeeper_stats", "count=0,bytes=0", 0))
		}
	}},
	{"multis", func(s side) {
		s.connect("alice", 10*time.Second)
		s.ask("alice", &proto.Multi{Ops: []proto.Request{
			create("/m", "1", 0), create("/m/x", "22", 1), create("/n", "", 0),
		}})
		s.ask("alice", &proto.Multi{Ops: []proto.Request{
			create("/o", "1", 0), &proto.Delete{Path: "/none", Version: -1},
		}})
		s.ask("alice", &proto.Multi{Ops: []proto.Request{
			create("/p", "1", 0), &proto.SetData{Path: "/p", Data: []byte("333"), Version: -1},
			&proto.Delete{Path: "/p", Version: -1},
		}})
		s.ask("alice", &proto.MultiRead{Ops: []proto.Request{
			&proto.GetData{Path: "/m"}, &proto.GetChildren{Code: proto.OpGetChildren, Path: "/m"},
			&proto.GetData{Path: "/none"},
		}})
	}},
	{"the end of a session", func(s side) {
		s.connect("alice", 10*time.Second)
		s.connect("bob", 10*time.Second)
		s.ask("alice", create("/e", "1", 1))
		s.ask("bob", &proto.GetData{Path: "/e", Watch: true})
		s.ask("bob", &proto.GetChildren{Code: proto.OpGetChildren2, Path: "/", Watch: true})
		s.ask("alice", &proto.Simple{Code: proto.OpCloseSession})
	}},
	{"namespaces after srst", func(s side) {
		s.connect("alice", 10*time.Second)
		s.ask("alice", create("/a", "1", 0))
		s.ask("alice", &proto.GetData{Path: "/a"})
		s.ask("alice", &proto.GetData{Path: "/"})
		s.word("srst")
		s.ask("alice", &proto.GetACL{Path: "/a"})
		s.ask("alice", &proto.Exists{Path: "/a"})
	}},
	{"a long answer", func(s side) {
		s.connect("alice", 10*time.Second)
		s.word("mntr") // three packets
	}},
}

func create(path, data string, flags int32) *proto.Create {
	return &proto.Create{
		Code: proto.OpCreate, Path: path, Data: []byte(data), Flags: flags,
		ACL: []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}},
	}
}

// transcript brings a server into a situation and returns its answers to every word.
func transcript(s side, get func(side)) string {
	s.word("srst") // the harness has asked a real server whether it has started
	get(s)
	var b strings.Builder
	for _, w := range everyWord {
		b.WriteString("=== " + w + "\n" + s.word(w) + "\n")
	}
	return normal(b.String(), s)
}

func golden(name string) string {
	return filepath.Join("testdata", strings.ReplaceAll(name, " ", "_")+".txt")
}

// recorded reads a file of testdata, in which a real 3.8.0 has answered.
func recorded(t *testing.T, name string) string {
	t.Helper()
	return testrun.ReadFile(t, golden(name))
}

// record is what testdata has of a transcript: of that of the idle server every line, of the others
// only what differs.
func record(t *testing.T, name, text string) string {
	t.Helper()
	if name == idle {
		return compact(text)
	}
	return changes(compact(text), recorded(t, idle))
}

// wantLines compares texts line by line.
func wantLines(t *testing.T, real, fake string) {
	t.Helper()
	check.Diff(t, strings.Split(fake, "\n"), strings.Split(real, "\n"), "want is the real server's")
}

// TestAnswersLikeTheRecordedServer compares with the recorded answers of a real 3.8.0.
func TestAnswersLikeTheRecordedServer(t *testing.T) {
	for _, situation := range situations {
		t.Run(situation.name, func(t *testing.T) {
			got := transcript(newFake(t), situation.get)
			wantLines(t, recorded(t, situation.name), record(t, situation.name, got))
		})
	}
}

// TestAnswersLikeARealServer compares with real servers that it starts, if there is an
// installation. A real server counts a packet a moment after it was sent, so only a
// difference in three attempts is one.
func TestAnswersLikeARealServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a dozen real servers")
	}
	for i, situation := range situations {
		if i%4 > 0 && !testrun.Full() && !testrun.Update() {
			continue // each starts a server; TestAnswersLikeTheRecordedServer has all
		}
		t.Run(situation.name, func(t *testing.T) {
			got := transcript(newFake(t), situation.get)
			want := ""
			for attempt := 0; want != got && attempt < 3; attempt++ {
				want = transcript(newReal(t), situation.get)
			}
			wantLines(t, want, got)
			if testrun.Update() {
				testrun.WriteFile(t, golden(situation.name), record(t, situation.name, want))
			}
		})
	}
}

// TestADifferenceShows is the negative control: a server in almost the same situation
// answers differently.
func TestADifferenceShows(t *testing.T) {
	isWatched := func(s situation) bool { return s.name == "watches" }
	watched := situations[slices.IndexFunc(situations, isWatched)]
	want := recorded(t, watched.name)
	for _, more := range []struct {
		name string
		do   func(s side)
	}{
		{"a ping", func(s side) { s.ask("alice", &proto.Simple{Code: proto.OpPing}) }},
		{"a session", func(s side) { s.connect("dave", 10*time.Second) }},
		{"a node", func(s side) { s.ask("alice", create("/b", "", 0)) }},
		{"an ephemeral", func(s side) { s.ask("alice", create("/b", "", 1)) }},
		{"a watch", func(s side) { s.ask("alice", &proto.Exists{Path: "/b", Watch: true}) }},
		{"a word", func(s side) { s.word("ruok") }},
		{"crst", func(s side) { s.word("crst") }},
		{"srst", func(s side) { s.word("srst") }},
	} {
		got := transcript(newFake(t), func(s side) {
			watched.get(s)
			more.do(s)
		})
		if record(t, watched.name, got) == want {
			t.Errorf("%s: no difference", more.name)
		}
	}
}

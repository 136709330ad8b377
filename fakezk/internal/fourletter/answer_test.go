package fourletter_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/fourletter"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// TestMetricsOfAFreshServer compares byte for byte with a real server's answer to the fourth word,
// four seconds after its start. Only the time to load its database, 7 ms, is replaced by 0.
func TestMetricsOfAFreshServer(t *testing.T) {
	dbinittime := regexp.MustCompile(`(_dbinittime\t.*)`)
	want := dbinittime.ReplaceAllStringFunc(recorded(t, "mntr of a fresh server"),
		func(line string) string { return strings.ReplaceAll(line, "\t7", "\t0") })
	f := newFake(t)
	f.now = f.now.Add(4044 * time.Millisecond)
	f.Words = engine.Stats{Received: 3, Sent: 3}
	wantLines(t, want, compact(f.word("mntr")))
}

func TestWordsOfAStoppedServer(t *testing.T) {
	const line = "This ZooKeeper instance is not currently serving requests"
	f := newFake(t)
	f.Stopped = true
	for word, want := range map[string]string{
		"ruok": "imok", "isro": "null", "gtmk": "306", "hash": line,
		"srvr": line + "\n", "stat": line + "\n", "mntr": line + "\n", "conf": line + "\n",
		"cons": line + "\n", "dump": line + "\n", "wchs": line + "\n", "wchc": line + "\n",
		"wchp": line + "\n", "dirs": line + "\n", "srst": line + "\n", "crst": line + "\n",
	} {
		check.Equal(t, f.word(word), want, "%s", word)
	}
	if got := f.word("envi"); !strings.HasPrefix(got, "Environment:\nzookeeper.version=3.8.0-") {
		t.Errorf("envi: got %q", got)
	}
}

func TestAStoppedServerKeepsItsStatistics(t *testing.T) {
	f := newFake(t)
	f.connect("alice", 10*time.Second)
	f.Stopped = true
	fourletter.Take("srst", nil, &f.Server)()
	fourletter.Take("crst", nil, &f.Server)()
	check.Equal(t, f.Engine.Stats().Received, 1, "frames counted after srst")
	check.Equal(t, f.Engine.Conns()[0].Received, 1, "frames counted after crst")
}

func TestKnown(t *testing.T) {
	for _, word := range append([]string{
		"srst", "crst", "stmk", "\xff\xf4\xff\xfd",
	}, everyWord...) {
		if !fourletter.Known(word) {
			t.Errorf("%q is not known", word)
		}
	}
	for _, word := range []string{"", "ruo", "RUOK", "ruok\n", "kill", "reqs", "\x00\x00\x00\x2d"} {
		if fourletter.Known(word) {
			t.Errorf("%q is known", word)
		}
	}
}

func TestRefusal(t *testing.T) {
	for word, name := range map[string]string{"ruok": "ruok", "\xff\xf4\xff\xfd": "telnet close"} {
		want := name + " is not executed because it is not in the whitelist.\n"
		check.Equal(t, fourletter.Refusal(word), want)
	}
}

func TestTraceMask(t *testing.T) {
	f := newFake(t)
	argument := []byte{0, 0, 0, 0, 0, 0, 0, 77}
	check.Equal(t, fourletter.Take("stmk", argument, &f.Server)(), "77", "stmk 77")
	all := bytes.Repeat([]byte{255}, 8)
	check.Equal(t, fourletter.Take("stmk", all, &f.Server)(), "-1", "stmk with all bits")
	check.Equal(t, fourletter.Take("stmk", argument[:7], &f.Server)(), "", "stmk with seven bytes")
	f.TraceMask, _ = fourletter.TraceMask(argument)
	check.Equal(t, f.word("gtmk"), "77", "gtmk after stmk 77")
	if _, ok := fourletter.TraceMask(argument[:7]); ok {
		t.Error("seven bytes are accepted as a mask")
	}
	check.Equal(t, fourletter.Take("\xff\xf4\xff\xfd", nil, &f.Server)(), "", "telnet's interrupt")
}

func TestPackets(t *testing.T) {
	for length, want := range map[int]int64{0: 0, 1: 1, 8192: 1, 8193: 2, 16384: 2, 20000: 3} {
		check.Equal(t, fourletter.Packets(strings.Repeat("é", length)), want,
			"packets of %d characters", length)
	}
}

// TestTheAskerIsListedOnce gives the engine a connection with the asker's address.
func TestTheAskerIsListedOnce(t *testing.T) {
	f := newFake(t)
	f.connect("alice", 10*time.Second)
	f.Engine.Open(7, 0, "127.0.0.1", f.now)
	f.Asker = addrOf(7)
	const first = " /127.0.0.1:40001[1](queued=0,recved=1,sent=1"
	const last = " /127.0.0.1:40007[0](queued=0,recved=1,sent=0)\n\n"
	got := f.word("cons")
	if !strings.HasPrefix(got, first) || strings.Count(got, "\n") != 3 ||
		!strings.HasSuffix(got, last) {
		t.Errorf("got %q", got)
	}
	check.Contains(t, f.word("srvr"), "\nConnections: 2\n")
}

func TestAddressesAsJavaWritesThem(t *testing.T) {
	for addr, want := range map[string]string{
		"10.0.0.7:2181":            " /10.0.0.7:2181[0]",
		"[::1]:2181":               " /[0:0:0:0:0:0:0:1]:2181[0]",
		"[2001:db8::ff:0:1]:43522": " /[2001:db8:0:0:0:ff:0:1]:43522[0]",
		"pipe":                     " /pipe[0]",
	} {
		f := newFake(t)
		f.Asker = addr
		if got := f.word("cons"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", addr, got, want)
		}
	}
}

// TestDumpAfterCrst shows that a connection's time of expiry is in the future although
// crst has reset its last response.
func TestDumpAfterCrst(t *testing.T) {
	f := newFake(t)
	f.connect("alice", 10*time.Second)
	f.now = f.now.Add(time.Hour)
	f.ask("alice", &proto.Simple{Code: proto.OpPing})
	f.word("crst")
	_, conns, _ := strings.Cut(f.word("dump"), "Connections dump:\n")
	const want = "Connections Sets (1)/(2):\n2 expire at Sat Nov 21 13:25:50 UTC 2026:\n"
	if !strings.HasPrefix(conns, want) {
		t.Errorf("got %q", conns)
	}
}

func TestNumbersAsJavaWritesThem(t *testing.T) {
	for _, c := range []struct {
		sum  fourletter.Summary
		want string
	}{
		{fourletter.Summary{}, "0.0"},
		{fourletter.Summary{Count: 3, Sum: 16}, "5.3333"},
		{fourletter.Summary{Count: 19, Sum: 45}, "2.3684"},
		{fourletter.Summary{Count: 32, Sum: 1}, "0.0313"},
		{fourletter.Summary{Count: 2000, Sum: 1}, "5.0E-4"},
		{fourletter.Summary{Count: 10000, Sum: 3}, "3.0E-4"},
		{fourletter.Summary{Count: 1, Sum: 9999999}, "9999999.0"},
		{fourletter.Summary{Count: 1, Sum: 10000000}, "1.0E7"},
		{fourletter.Summary{Count: 2, Sum: 24690001}, "1.23450005E7"},
	} {
		f := newFake(t)
		f.Traffic.NamespaceReads = map[string]*fourletter.Summary{"a": &c.sum}
		check.Contains(t, f.word("mntr"), "\nzk_avg_a_read_per_namespace\t"+
			c.want+"\n", "the average %d/%d", c.sum.Sum, c.sum.Count)
	}
}

// TestExpiryOfASession calls Traffic.Count with a reaction without a frame.
func TestExpiryOfASession(t *testing.T) {
	f := newFake(t)
	f.connect("alice", 4*time.Second)
	f.connect("bob", 40*time.Second)
	f.ask("alice", create("/e", "", 1))
	f.ask("bob", &proto.Exists{Path: "/e", Watch: true})
	f.now = f.now.Add(10 * time.Second)
	f.Engine.Tick(f.now)
	check.Equal(t, len(f.Traffic.EphemeralOwners), 0, "owners %v",
		f.Traffic.EphemeralOwners)
	mntr := f.word("mntr")
	for _, want := range []string{
		"zk_cnt_updatelatency\t4\n", "zk_watch_bytes\t30\n",
		"zk_sum_node_deleted_watch_count\t1\n", "zk_cnt_e_write_per_namespace\t2\n",
	} {
		check.Contains(t, mntr, want, "mntr")
	}
}

// TestTextsAreMadeWithoutTheServer changes the server while a word is taken, and before its text is
// made.
func TestTextsAreMadeWithoutTheServer(t *testing.T) {
	for _, word := range []string{"wchs", "wchc", "wchp", "dump", "cons", "stat", "mntr"} {
		f := newFake(t)
		f.connect("a", 10*time.Second)
		f.ask("a", create("/e", "", proto.FlagEphemeral))
		f.ask("a", &proto.Exists{Path: "/1", Watch: true})
		f.ask("a", &proto.Exists{Path: "/2", Watch: true})
		f.Now = f.now
		want, steps := fourletter.Take(word, nil, &f.Server)(), 0
		f.Server.Step = func(n int) { steps += n }
		text := fourletter.Take(word, nil, &f.Server)
		f.Engine.Drop(f.conns["a"])
		f.connect("b", 10*time.Second)
		check.Equal(t, text(), want, "%s", word)
		if steps == 0 {
			t.Errorf("%s took no steps", word)
		}
	}
}

// TestNamespacesAreBounded makes more namespaces than are kept, and one with a long name.
func TestNamespacesAreBounded(t *testing.T) {
	f := newFake(t)
	f.connect("a", 10*time.Second)
	for i := range 1100 {
		path := fmt.Sprintf("/%d", i)
		if i == 0 {
			path += strings.Repeat("x", 1<<10)
		}
		f.ask("a", create(path, "", proto.FlagPersistent))
		f.ask("a", &proto.Delete{Path: path, Version: -1})
	}
	check.Equal(t, len(f.Traffic.NamespaceWrites), 1000, "namespaces")
	if strings.Contains(f.word("mntr"), "xxx") {
		t.Error("a long name is kept")
	}
}

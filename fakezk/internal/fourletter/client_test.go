package fourletter_test

import (
	"bufio"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/fourletter"
	"github.com/zksim/zksim/internal/check"
)

// These tests parse the answers as known clients and scripts do.

// TestKazooReadsTheVersion parses like kazoo's KazooClient.server_version: it sends
// envi, reads the first 8192 bytes and takes the leading digits of zookeeper.version.
func TestKazooReadsTheVersion(t *testing.T) {
	envi := newFake(t).word("envi")
	env := map[string]string{}
	for l := range strings.Lines(envi[:min(len(envi), 8192)]) {
		if key, value, ok := strings.Cut(l, "="); ok {
			env[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	check.Equal(t, regexp.MustCompile(`^[\d.]*`).FindString(env["zookeeper.version"]), "3.8.0",
		"of %q", env["zookeeper.version"])
}

// TestZkServerShReadsTheMode parses like zkServer.sh status: grep Mode.
func TestZkServerShReadsTheMode(t *testing.T) {
	for _, word := range []string{"srvr", "stat"} {
		var modes []string
		for scan := bufio.NewScanner(strings.NewReader(newFake(t).word(word))); scan.Scan(); {
			if strings.Contains(scan.Text(), "Mode") {
				modes = append(modes, scan.Text())
			}
		}
		if len(modes) != 1 || modes[0] != "Mode: standalone" {
			t.Errorf("%s: got %q", word, modes)
		}
	}
}

// goZookeeperSrvr is the expression of go-zookeeper's FLWSrvr without the date, which it
// expects in the format of releases before 3.5.
var goZookeeperSrvr = regexp.MustCompile(`(?m:^Latency min/avg/max: (\d+)/([0-9.]+)/(\d+).*\n` +
	`^Received: (\d+).*\n^Sent: (\d+).*\n^Connections: (\d+).*\n^Outstanding: (\d+).*\n` +
	`^Zxid: (0x[A-Za-z0-9]+).*\n^Mode: (\w+).*\n^Node count: (\d+))`)

func TestGoZookeeperReadsSrvr(t *testing.T) {
	f := newFake(t)
	f.connect("alice", 10*time.Second)
	if got := goZookeeperSrvr.FindStringSubmatch(f.word("srvr")); got == nil || got[8] != "0x1" {
		t.Errorf("%q", got)
	}
}

// TestGoZookeeperCannotReadTheDate shows that go-zookeeper's FLWSrvr fails with this
// version, as it does with a real 3.8.0.
func TestGoZookeeperCannotReadTheDate(t *testing.T) {
	old := regexp.MustCompile(`(?m:\AZookeeper version: ([A-Za-z0-9\.\-]+), ` +
		`built on (\d\d/\d\d/\d\d\d\d \d\d:\d\d [A-Za-z0-9:\+\-]+))`)
	check.Equal(t, old.FindString(newFake(t).word("srvr")), "")
}

// goZookeeperCons is the expression of go-zookeeper's FLWCons for a line.
var goZookeeperCons = regexp.MustCompile(`\A\s*/(\S+)\[\d+\]\(` +
	`queued=(\d+),recved=(\d+),sent=(\d+),sid=(0x[A-Za-z0-9]+),lop=(\w+),est=(\d+),to=(\d+),` +
	`lcxid=(0x[A-Za-z0-9]+),lzxid=(0x[A-Za-z0-9]+),lresp=(\d+),` +
	`llat=(\d+),minlat=(\d+),avglat=(\d+),maxlat=(\d+)\)`)

func TestGoZookeeperReadsCons(t *testing.T) {
	f := newFake(t)
	f.connect("alice", 10*time.Second)
	first, _, _ := strings.Cut(f.word("cons"), "\n")
	got := goZookeeperCons.FindStringSubmatch(first)
	if got == nil || got[1] != "127.0.0.1:40001" || got[6] != "SESS" || got[8] != "10000" {
		t.Errorf("%q gives %q", first, got)
	}
}

// TestMonitorsReadMetrics parses like metrics exporters: a key, a tab and a number.
func TestMonitorsReadMetrics(t *testing.T) {
	seen := map[string]bool{}
	for l := range strings.Lines(newFake(t).word("mntr")) {
		key, value, ok := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
		if !ok || !strings.HasPrefix(key, "zk_") || seen[key] {
			t.Errorf("%q is not a metric, or its key is repeated", l)
		}
		seen[key] = true
		if key == "zk_version" || key == "zk_server_state" {
			continue
		}
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if !strings.HasPrefix(fourletter.Version, "3.8.0-") {
		t.Errorf("version %q", fourletter.Version)
	}
}

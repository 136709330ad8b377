package fakezk

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/zkclient"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
)

// digestLines drives a server through writes of all kinds and returns what the word hash says after
// the zxids 128 and 256, and what it should say by what a client sees at these times.
func digestLines(t *testing.T, address string) (got, want string) {
	t.Helper()
	conn, _, err := zk.Connect([]string{address}, 10*time.Second,
		zk.WithLogger(zkclient.Quiet{}), zk.WithLogInfo(false))
	check.OK(t, err)
	t.Cleanup(conn.Close)
	must := func(err error) {
		t.Helper()
		check.OK(t, err)
	}
	open := zk.WorldACL(zk.PermAll)
	owners := map[string]int64{"/c": math.MinInt64, "/t": -1<<56 | 60_000}
	_, err = conn.Create("/a", nil, 0, open)
	must(err)
	_, err = conn.CreateContainer("/c", []byte("c"), zk.FlagContainer, open)
	must(err)
	_, err = conn.CreateTTL("/t", []byte("t"), zk.FlagTTL, open, time.Minute)
	must(err)
	_, err = conn.Create("/zookeeper/quota/x", []byte("not in the digest"), 0, open)
	must(err)
	_, err = conn.SetACL("/a", zk.DigestACL(zk.PermAll, "u", "p"), -1)
	must(err)
	must(conn.AddAuth("digest", []byte("u:p")))
	for i := range 3 {
		_, err = conn.Create("/a/ö", []byte("x"), zk.FlagEphemeral|zk.FlagSequence, open)
		must(err)
		_, err = conn.Multi(
			&zk.CreateRequest{Path: fmt.Sprintf("/m%d", i), Data: []byte{}, Acl: open},
			&zk.SetDataRequest{Path: "/", Data: []byte("root"), Version: -1},
		)
		must(err)
	}
	must(conn.Delete("/m1", -1))
	if err := conn.Delete("/m1", -1); err == nil {
		t.Error("deleted twice")
	}
	for _, last := range []int64{128, 256} {
		for stat := (&zk.Stat{}); stat.Mzxid < last; {
			stat, err = conn.Set("/a", fmt.Append(nil, stat.Version), -1)
			must(err)
		}
		want += fmt.Sprintf("%x: %d\n", last, visibleDigest(t, conn, "/", owners))
	}
	return ask(t, address, "hash"), want
}

// visibleDigest is the sum of the checksums of a node and all nodes below it.
func visibleDigest(t *testing.T, conn *zk.Conn, at string, owners map[string]int64) (sum int64) {
	t.Helper()
	names, _, err := conn.Children(at)
	check.OK(t, err)
	data, stat, err := conn.Get(at)
	check.OK(t, err)
	owner := stat.EphemeralOwner
	if special, ok := owners[at]; ok {
		owner = special
	}
	created := (stat.Cversion + stat.NumChildren) / 2
	text := strings.TrimSuffix(at, "/") + string(data)
	for _, v := range []any{
		stat.Czxid, stat.Mzxid, stat.Pzxid, stat.Ctime, stat.Mtime,
		stat.Version, created, stat.Aversion, owner,
	} {
		b, err := binary.Append(nil, binary.BigEndian, v)
		check.OK(t, err)
		text += string(b)
	}
	sum = int64(crc32.ChecksumIEEE([]byte(text)))
	for _, name := range names {
		if at != "/zookeeper" {
			sum += visibleDigest(t, conn, path.Join(at, name), owners)
		}
	}
	return sum
}

func TestHashListsDigestsOfTheTree(t *testing.T) {
	_, address := startTCP(t)
	check.Equal(t, ask(t, address, "hash"), "", "before zxid 128")
	if got, want := digestLines(t, address); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestARealServersHashListsDigestsOfTheTree(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real server")
	}
	real := realzk.Start(t, realzk.Options{JVMFlags: []string{"-Dfile.encoding=UTF-8"}})
	if got, want := digestLines(t, real.Address()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

package txnlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
)

// play makes every kind of logged change on a real server.
func play(t *testing.T, address string) {
	t.Helper()
	conn, _, err := zk.Connect([]string{address}, 10*time.Second, zk.WithLogInfo(false))
	check.OK(t, err)
	defer conn.Close()
	open := zk.WorldACL(zk.PermAll)
	must := func(_ any, err error) {
		t.Helper()
		check.OK(t, err)
	}
	must(conn.Create("/p", []byte("data"), 0, open))
	must(conn.Create("/p/n-", nil, zk.FlagEphemeral|zk.FlagSequence, open))
	must(conn.CreateContainer("/c", []byte("box"), zk.FlagTTL-1, open))
	must(conn.CreateTTL("/t", []byte("soon"), zk.FlagTTL, open, time.Hour))
	must(conn.Set("/p", []byte("more"), -1))
	must(conn.SetACL("/p", open, -1))
	if err := conn.Delete("/none", -1); !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	must(conn.Multi(&zk.CheckVersionRequest{Path: "/p", Version: 1},
		&zk.CreateRequest{Path: "/m", Acl: open}, &zk.SetDataRequest{Path: "/t", Version: -1}))
	_, err = conn.Multi(&zk.CreateRequest{Path: "/lost", Acl: open},
		&zk.DeleteRequest{Path: "/none", Version: -1})
	if err == nil {
		t.Fatal("a multi with a delete of a missing node succeeds")
	}
	check.OK(t, conn.Delete("/m", -1))
}

// format returns a log as text. Of session, xid and time it only shows whether they are set.
func format(entries []proto.LogEntry) string {
	var b strings.Builder
	for _, e := range entries {
		recent := time.Since(time.UnixMilli(e.TimeMs)).Abs() < time.Minute
		fmt.Fprintf(&b, "zxid %d %s asked: %t xid: %t recent: %t\n",
			e.Zxid, e.Op, e.Session != 0, e.Cxid > 0, recent)
		for _, r := range e.Records {
			fmt.Fprintf(&b, "  %s %s %s ephemeral: %t\n", r.Op, r.Path, r.Data, r.Ephemeral)
		}
	}
	return b.String()
}

const played = `zxid 1 createSession asked: true xid: false recent: true
  createSession   ephemeral: false
zxid 2 create asked: true xid: true recent: true
  create /p data ephemeral: false
zxid 3 create asked: true xid: true recent: true
  create /p/n-0000000000  ephemeral: true
zxid 4 createContainer asked: true xid: true recent: true
  createContainer /c box ephemeral: false
zxid 5 createTTL asked: true xid: true recent: true
  createTTL /t soon ephemeral: false
zxid 6 setData asked: true xid: true recent: true
  setData /p more ephemeral: false
zxid 7 setACL asked: true xid: true recent: true
  setACL /p  ephemeral: false
zxid 8 error asked: true xid: true recent: true
zxid 9 multi asked: true xid: true recent: true
  check /p  ephemeral: false
  create /m  ephemeral: false
  setData /t  ephemeral: false
zxid 10 multi asked: true xid: true recent: true
zxid 11 delete asked: true xid: true recent: true
  delete /m  ephemeral: false
zxid 12 closeSession asked: true xid: true recent: true
  closeSession   ephemeral: false
`

func TestLogOfARealServerIsRead(t *testing.T) {
	// A setting that no other test has, so that the server is a new one.
	server := realzk.Start(t, realzk.Options{Config: []string{"maxClientCnxns=0"}})
	play(t, server.Address())
	entries, err := Read(server.DataDir(), 0)
	check.OK(t, err)
	check.Diff(t, format(entries), played)
	check.OK(t, server.Restart(t.Context(), 0))
	conn, _, err := zk.Connect([]string{server.Address()}, 10*time.Second, zk.WithLogInfo(false))
	check.OK(t, err)
	defer conn.Close()
	check.OK(t, conn.Delete("/t", -1))
	entries, err = Read(server.DataDir(), 11)
	if err != nil || len(entries) != 3 || entries[0].Zxid != 12 ||
		entries[2].Records[0].Path != "/t" {
		t.Errorf("two files, after zxid 11: %v\n%s", err, format(entries))
	}
}

// logFile returns a log file with the records as its entries.
func logFile(entries ...[]byte) []byte {
	log := append([]byte(magic), make([]byte, headBytes-len(magic))...)
	for _, e := range entries {
		log = binary.BigEndian.AppendUint64(log, uint64(adler32.Checksum(e)))
		log = binary.BigEndian.AppendUint32(log, uint32(len(e)))
		log = append(append(log, e...), endMark)
	}
	return log
}

// entry returns the record of a delete.
func entry(zxid int64, path string) []byte {
	e := binary.BigEndian.AppendUint64(nil, 7)         // session
	e = binary.BigEndian.AppendUint32(e, 1)            // cxid
	e = binary.BigEndian.AppendUint64(e, uint64(zxid)) // zxid
	e = binary.BigEndian.AppendUint64(e, 1000)         // time
	e = binary.BigEndian.AppendUint32(e, uint32(proto.OpDelete))
	return append(binary.BigEndian.AppendUint32(e, uint32(len(path))), path...)
}

func write(t *testing.T, name string, data []byte) (folder string) {
	t.Helper()
	folder = t.TempDir()
	check.OK(t, os.Mkdir(filepath.Join(folder, "version-2"), 0o777))
	check.OK(t, os.WriteFile(filepath.Join(folder, "version-2", name), data, 0o666))
	return folder
}

// TestTruncatedLogHasItsCompleteEntries reads a log that ends anywhere, as a log does
// that the server is writing.
func TestTruncatedLogHasItsCompleteEntries(t *testing.T) {
	whole := logFile(entry(1, "/a"), entry(2, "/b"))
	for n := range len(whole) + 1 {
		entries, err := parse(nil, whole[:n], 0)
		want := 0
		if n >= len(logFile(entry(1, "/a"))) {
			want++
		}
		if n == len(whole) {
			want++
		}
		if err != nil || len(entries) != want {
			t.Errorf("%d of %d bytes: %d entries, %v; want %d", n, len(whole),
				len(entries), err, want)
		}
	}
	entries, err := parse(nil, append(whole, make([]byte, 1000)...), 1)
	if err != nil || len(entries) != 1 {
		t.Errorf("zeros at the end, after zxid 1: %v, %v", entries, err)
	}
}

// TestReconfigIsAnEntry of an ensemble whose servers were changed; it has the form of a setData.
func TestReconfigIsAnEntry(t *testing.T) {
	e := entry(1, "/zookeeper/config")
	binary.BigEndian.PutUint32(e[28:], uint32(proto.OpReconfig))
	e = append(e, 0, 0, 0, 1, 'x', 0, 0, 0, 2) // data and version
	entries, err := parse(nil, logFile(e), 0)
	check.OK(t, err)
	check.Diff(t, entries[0].Records, []proto.LogRecord{
		{Op: proto.OpReconfig, Path: "/zookeeper/config", Data: []byte("x")}})
}

func TestErrorsNameTheFileAndTheByte(t *testing.T) {
	flipped := logFile(entry(1, "/a"))
	flipped[headBytes+leadBytes+30] ^= 1
	negative := logFile(entry(1, "/a"))
	binary.BigEndian.PutUint32(negative[headBytes+8:], 1<<31)
	two := func(at int, b byte) []byte { // a byte of the first of two entries is another one
		log := logFile(entry(1, "/a"), entry(2, "/b"))
		log[at] = b
		return log
	}
	first := len(logFile(entry(1, "/a")))
	long, noMark := two(headBytes+8, 'g'), two(first-1, 'b')
	noLead := two(headBytes, 0)
	copy(noLead[headBytes:], make([]byte, leadBytes))
	behind := fmt.Sprintf("at byte 16: corrupt: no complete entry, but one at byte %d", first)
	unknown := entry(1, "/a")
	binary.BigEndian.PutUint32(unknown[28:], 77)
	for _, test := range []struct {
		name string
		data []byte
		is   error
		text string
	}{
		{"log.1", []byte("something else entirely"), ErrCorrupt, "begins with"},
		{"log.1", flipped, ErrCorrupt, "at byte 16: corrupt: checksum"},
		{"log.1", negative, ErrCorrupt, "an entry of -2147483648 bytes"},
		{"log.1", long, ErrCorrupt, behind},
		{"log.1", noMark, ErrCorrupt, behind},
		{"log.1", noLead, ErrCorrupt, behind},
		{"log.1", logFile(entry(1, "/a")[:34]), wire.ErrMalformed, "log entry delete"},
		{"log.1", logFile(unknown), wire.ErrUnknownOp, "77"},
		{"log.xyz", logFile(), ErrCorrupt, "does not end in a zxid"},
	} {
		_, err := Read(write(t, test.name, test.data), 0)
		if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.text) ||
			!strings.Contains(err.Error(), test.name) {
			t.Errorf("%s: got %v; want %v with %q", test.name, err, test.is, test.text)
		}
	}
	if entries, err := Read(t.TempDir(), 0); err != nil || len(entries) > 0 {
		t.Errorf("an empty folder: %v, %v", entries, err)
	}
}

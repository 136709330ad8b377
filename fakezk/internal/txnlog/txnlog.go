// Package txnlog reads the transaction log of a real ZooKeeper server, even while the
// server runs, and its snapshots. The log has every write that the server has answered.
//
// The formats are those of org.apache.zookeeper.server.persistence. FileTxnLog: a folder
// version-2 of files log.<first zxid in hexadecimal>. A file has a header of 16 bytes and
// entries; an entry is a checksum (Adler-32), a length, the record and an end mark. Zeros
// after them are reserved for later entries. FileSnap: in the same folder, files
// snapshot.<zxid in hexadecimal>. The server goes on writing while it writes a snapshot, so that
// this may have changes of later zxids already.
package txnlog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// ErrCorrupt is wrapped by the errors of a damaged log.
var ErrCorrupt = errors.New("corrupt")

const (
	magic     = "ZKLG\x00\x00\x00\x02" // and version 2
	headBytes = 16                     // of a file: magic, version, database id
	leadBytes = 12                     // of an entry: checksum, length
	endMark   = 'B'
)

// Read returns the entries with a zxid above after, in order. folder is the server's dataLogDir, by
// default its dataDir. An incomplete entry at the end of a file is left out: the server is still
// writing it, or was killed then. If a complete entry follows it the file is damaged, an error.
// The files with the names of without are left out.
func Read(folder string, after int64, without ...string) ([]proto.LogEntry, error) {
	files, err := list(folder, "log.", without)
	if err != nil {
		return nil, fmt.Errorf("read transaction log: %w", err)
	}
	var entries []proto.LogEntry
	for i, f := range files {
		if i+1 < len(files) && files[i+1].zxid <= uint64(after)+1 {
			continue // all its entries are older
		}
		data, err := os.ReadFile(f.name)
		if err != nil {
			return nil, fmt.Errorf("read transaction log: %w", err)
		}
		if entries, err = parse(entries, data, after); err != nil {
			return nil, fmt.Errorf("read transaction log: %s: %w", f.name, err)
		}
	}
	return entries, nil
}

// ReadSnapshot returns the latest snapshot in a folder and its zxid: the server had applied all
// entries up to that one. folder is the server's dataDir. Without a snapshot, found is false. The
// server may have stopped while it wrote the latest; like a server, ReadSnapshot takes the latest
// one that can be read, but for the files with the names of without. The error is that of the
// latest, if there is none.
func ReadSnapshot(folder string, without ...string) (
	s proto.Snapshot, zxid int64, found bool, err error) {
	files, err := list(folder, "snapshot.", without)
	if err != nil {
		return s, 0, false, fmt.Errorf("read snapshot: %w", err)
	}
	for _, f := range slices.Backward(files) {
		data, failure := os.ReadFile(f.name)
		if failure != nil {
			return s, 0, false, fmt.Errorf("read snapshot: %w", failure)
		}
		if s, failure = wire.DecodeSnapshot(data); failure == nil {
			return s, int64(f.zxid), true, nil
		}
		if err == nil {
			err = fmt.Errorf("read snapshot: %s: %w", f.name, failure)
		}
	}
	return s, 0, false, err
}

// A file has a zxid in its name.
type file struct {
	name string
	zxid uint64
}

// list lists the files whose names are a prefix and a zxid, in the order of the zxids. It leaves
// out the files that a server renames when they are complete: their names end in .tmp.
func list(folder, prefix string, without []string) (files []file, err error) {
	folder = filepath.Join(folder, "version-2")
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok || strings.HasSuffix(number, ".tmp") || slices.Contains(without, e.Name()) {
			continue
		}
		name := filepath.Join(folder, e.Name())
		zxid, err := strconv.ParseUint(number, 16, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: the name does not end in a zxid", name, ErrCorrupt)
		}
		files = append(files, file{name, zxid})
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.zxid, b.zxid) })
	return files, nil
}

// parse appends the entries of one file.
func parse(entries []proto.LogEntry, data []byte, after int64) ([]proto.LogEntry, error) {
	if len(data) < headBytes {
		return entries, nil // the server has just created it
	}
	if string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: begins with % x", ErrCorrupt, data[:len(magic)])
	}
	for rest := data[headBytes:]; ; {
		entry, n, err := next(rest)
		if err != nil {
			return nil, fmt.Errorf("at byte %d: %w", len(data)-len(rest), err)
		}
		if n == 0 {
			if behind := nextComplete(rest); behind > 0 {
				at := len(data) - len(rest)
				return nil, fmt.Errorf("at byte %d: %w: no complete entry, but one at byte %d",
					at, ErrCorrupt, at+behind)
			}
			return entries, nil
		}
		rest = rest[n:]
		e, err := wire.DecodeLogEntry(entry)
		if err != nil {
			return nil, fmt.Errorf("at byte %d: %w", len(data)-len(rest)-n, err)
		}
		if e.Zxid > after {
			entries = append(entries, e)
		}
	}
}

// nextComplete is the offset of the first complete entry behind the first byte, 0 if there is none.
func nextComplete(rest []byte) int {
	rest = bytes.TrimRight(rest, "\x00") // an end mark is not zero
	for at := 1; at < len(rest); at++ {
		if _, n, err := next(rest[at:]); n > 0 && err == nil {
			return at
		}
	}
	return 0
}

// next returns the record of the first entry and the length n of the entry. n is 0 if
// there is no complete entry.
func next(rest []byte) (entry []byte, n int, err error) {
	if len(rest) < leadBytes {
		return nil, 0, nil
	}
	sum, size := binary.BigEndian.Uint64(rest), int(int32(binary.BigEndian.Uint32(rest[8:])))
	switch {
	case sum == 0 && size == 0:
		return nil, 0, nil // zeros to the end
	case size <= 0:
		return nil, 0, fmt.Errorf("%w: an entry of %d bytes", ErrCorrupt, size)
	case len(rest) < leadBytes+size+1 || rest[leadBytes+size] != endMark:
		return nil, 0, nil
	}
	entry = rest[leadBytes : leadBytes+size]
	if got := uint64(adler32.Checksum(entry)); got != sum {
		return nil, 0, fmt.Errorf("%w: checksum %x, computed %x", ErrCorrupt, sum, got)
	}
	return entry, leadBytes + size + 1, nil
}

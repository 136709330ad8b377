// Package txnlog reads the transaction log of a real ZooKeeper server, even while the
// server runs. The log has every write that the server has answered.
//
// The format is that of org.apache.zookeeper.server.persistence.FileTxnLog: a folder
// version-2 of files log.<first zxid in hexadecimal>. A file has a header of 16 bytes and
// entries; an entry is a checksum (Adler-32), a length, the record and an end mark. Zeros
// after them are reserved for later entries.
package txnlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

var errCorrupt = errors.New("corrupt transaction log")

const (
	magic     = "ZKLG\x00\x00\x00\x02" // and version 2
	headBytes = 16                     // of a file: magic, version, database id
	leadBytes = 12                     // of an entry: checksum, length
	endMark   = 'B'
)

// Read returns the entries with a zxid above after, in order. folder is the server's dataLogDir, by
// default its dataDir. An entry that the server is still writing is left out.
func Read(folder string, after int64) ([]proto.LogEntry, error) {
	names, err := filepath.Glob(filepath.Join(folder, "version-2", "log.*"))
	if err != nil {
		return nil, fmt.Errorf("read transaction log: %w", err)
	}
	first := map[string]uint64{}
	for _, name := range names {
		digits := strings.TrimPrefix(filepath.Base(name), "log.")
		if first[name], err = strconv.ParseUint(digits, 16, 64); err != nil {
			return nil, fmt.Errorf("read transaction log: %s: %w: the name does not end in a zxid",
				name, errCorrupt)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if first[a] < first[b] {
			return -1
		}
		return 1
	})
	var entries []proto.LogEntry
	for i, name := range names {
		if i+1 < len(names) && first[names[i+1]] <= uint64(after)+1 {
			continue // all its entries are older
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read transaction log: %w", err)
		}
		if entries, err = parse(entries, data, after); err != nil {
			return nil, fmt.Errorf("read transaction log: %s: %w", name, err)
		}
	}
	return entries, nil
}

// parse appends the entries of one file.
func parse(entries []proto.LogEntry, data []byte, after int64) ([]proto.LogEntry, error) {
	if len(data) < headBytes {
		return entries, nil // the server has just created it
	}
	if string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: begins with % x", errCorrupt, data[:len(magic)])
	}
	for rest := data[headBytes:]; ; {
		entry, n, err := next(rest)
		if err != nil {
			return nil, fmt.Errorf("at byte %d: %w", len(data)-len(rest), err)
		}
		if n == 0 {
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
		return nil, 0, fmt.Errorf("%w: an entry of %d bytes", errCorrupt, size)
	case len(rest) < leadBytes+size+1 || rest[leadBytes+size] != endMark:
		return nil, 0, nil
	}
	entry = rest[leadBytes : leadBytes+size]
	if got := uint64(adler32.Checksum(entry)); got != sum {
		return nil, 0, fmt.Errorf("%w: checksum %x, computed %x", errCorrupt, sum, got)
	}
	return entry, leadBytes + size + 1, nil
}

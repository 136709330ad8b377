// Package txnlog reads the transaction log of a ZooKeeper server, also of one
// that runs: what the server has answered is in its log.
//
// The format is that of org.apache.zookeeper.server.persistence.FileTxnLog: a
// folder version-2 of files log.<first zxid in hexadecimal>, each a header of 16
// bytes and entries of checksum (Adler-32), length, bytes and an end mark,
// followed by zeros that are reserved for what is to come.
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

// ErrCorrupt is wrapped by errors about bytes that are no log.
var ErrCorrupt = errors.New("corrupt transaction log")

const (
	magic     = "ZKLG\x00\x00\x00\x02" // and version 2
	headBytes = 16                     // of a file: magic, version, database id
	leadBytes = 12                     // of an entry: checksum, length
	endMark   = 'B'
)

// Read returns the entries behind a zxid, in order, of the server whose data
// folder (dataDir, or dataLogDir) is given. An entry that the server is still
// writing is left out.
func Read(folder string, after int64) ([]proto.LogEntry, error) {
	names, err := filepath.Glob(filepath.Join(folder, "version-2", "log.*"))
	if err != nil {
		return nil, fmt.Errorf("read transaction log: %w", err)
	}
	first := map[string]uint64{}
	for _, name := range names {
		digits := strings.TrimPrefix(filepath.Base(name), "log.")
		if first[name], err = strconv.ParseUint(digits, 16, 64); err != nil {
			return nil, fmt.Errorf("read transaction log: %s: %w: its name ends in no zxid", name, ErrCorrupt)
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
			continue // all of it is older
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
		return entries, nil // the server has just made it
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

// next is the first entry and how many bytes it takes, 0 if there is none, or
// none that is whole.
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

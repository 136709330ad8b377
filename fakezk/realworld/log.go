package realworld

import (
	"path/filepath"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/txnlog"
	"github.com/zksim/zksim/fakezk/trace"
)

// LogChange is a change in the transaction log of a server. It has no Step, no Time and no Client,
// and does not say how many watches it fired.
type LogChange struct {
	trace.Change
	// Clock is the time of the server's clock, in whole milliseconds: it happened less than a
	// millisecond later.
	Clock time.Time
}

// LogChanges reads the changes in the transaction log of a server, in the order in which they
// happened. folder is its dataLogDir, by default its dataDir. The server may be running.
//
// The log has the changes since some snapshot, not the tree before them. Nodes that are older than
// the log have no Owner and no Czxid when they change, and are not deleted with their session.
func LogChanges(folder string) ([]LogChange, error) {
	if folder = filepath.Clean(folder); filepath.Base(folder) == "version-2" {
		folder = filepath.Dir(folder)
	}
	entries, err := txnlog.Read(folder, 0)
	if err != nil {
		return nil, err
	}
	reader := newLogReader(func(e proto.LogEntry) bool { return e.Cxid != 0 })
	var list []LogChange
	for _, e := range entries {
		for _, c := range reader.changesOf(e) {
			list = append(list, LogChange{c, time.UnixMilli(e.TimeMs)})
		}
	}
	return list, nil
}

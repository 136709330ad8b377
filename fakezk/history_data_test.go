package fakezk_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
)

// TestHistoryHasTheData of requests, also of those that fail, and of answers; long data is cut.
func TestHistoryHasTheData(t *testing.T) {
	server := fakezk.Start(t, fakezk.Options{Trace: true})
	conn := server.Connect(t)
	long := make([]byte, 5000)
	for range 2 {
		_, _ = conn.Create("/x", []byte("one"), 0, zk.WorldACL(zk.PermAll))
	}
	_, _, _ = conn.Get("/x")
	_, _ = conn.Set("/x", long, -1)
	var got []string
	for _, r := range server.History(0) {
		if r.Kind == view.RequestRecord && len(r.Data) > 0 {
			if len(r.Data) > 100 {
				check.Equal(t, len(r.Data), 2000, "bytes kept")
				r.Data = []byte("long")
			}
			got = append(got, r.Op+" "+string(r.Data))
		}
	}
	check.List(t, got, []string{"create one", "create one", "getData one", "setData long"})
}

package fakezk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
)

// kinds are the records as "kind session op path".
func kinds(records []view.Record) string {
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintln(&b, strings.Join(strings.Fields(
			fmt.Sprint(r.Kind, " ", r.Session, " ", r.Op, " ", r.Path)), " "))
	}
	return b.String()
}

func TestHistoryHasRequestsNotificationsFaultsAndCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := Start(t, Options{Trace: true})
		conn := server.Connect(t)
		check.OK(t, server.Inject(fault.Fault{Kind: fault.Cut, Op: "getData", Request: 1}))
		_, _, _, err := conn.ExistsW("/a")
		check.OK(t, err)
		check.OK(t, server.Put("/a", []byte("x")))
		_, _, _ = conn.Get("/a")
		synctest.Wait() // until it is connected again
		records := server.History(0)
		check.Equal(t, kinds(records), `event S1
call inject
request S1 exists /a
call put /a
notification S1 NodeCreated /a
fault
request S1 getData /a
event S1
event S1
`)
		check.Equal(t, records[3].Text, "call: put /a, 1 bytes")
		for i, r := range records {
			check.Equal(t, r.Number, int64(i+1))
		}
		check.Equal(t, len(server.History(5)), len(records)-5)
		check.Equal(t, len(server.History(1000)), 0)
	})
}

func TestAwaitHistoryReturnsTheNextRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := Start(t, Options{Trace: true})
		got := make(chan string)
		await := func(ctx context.Context, after int64) {
			records, err := server.AwaitHistory(ctx, after)
			got <- fmt.Sprint(records, err)
		}
		go await(t.Context(), 0)
		synctest.Wait()
		check.OK(t, server.Put("/a", nil))
		check.Equal(t, <-got, "[1 call: put /a, 0 bytes] <nil>")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go await(ctx, 1)
		check.Equal(t, <-got, "[] context deadline exceeded")

		go await(t.Context(), 1)
		synctest.Wait()
		check.OK(t, server.Close())
		check.Equal(t, <-got, "[] "+ErrStopped.Error())

		_, err := Start(t).AwaitHistory(t.Context(), 0)
		check.Contains(t, fmt.Sprint(err), "needs Options.Trace")
	})
}

// TestLongRecordsAreCut: 1,000 records have at most 2 MB.
func TestLongRecordsAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := New(Options{Trace: true}) // Start would print the trace
		defer server.Close()
		conn := server.Connect(t)
		defer conn.Close()
		for i := range 300 {
			check.OK(t, server.Put(fmt.Sprintf("/parent/child-%03d", i), nil))
		}
		_, _, err := conn.Children("/parent")
		check.OK(t, err)
		records := server.History(0)
		text := records[len(records)-1].Text
		check.Equal(t, len(text), maxRecordText+len("..."))
		check.Contains(t, text, "-> getChildren2 /parent: ok [child-")
	})
}

// TestFaultsKeepTheirNumbers: a number never means another fault, also after ClearFaults.
func TestFaultsKeepTheirNumbers(t *testing.T) {
	inBubble(t, func(t *testing.T, server *Server) {
		inject := func(want int) {
			t.Helper()
			check.OK(t, server.Inject(fault.Fault{Kind: fault.Cut, Request: 1}))
			faults := server.Faults()
			check.Equal(t, faults[len(faults)-1].Number, want)
		}
		inject(1)
		inject(2)
		server.ClearFaults()
		server.ClearFaults()
		inject(3)
		server.ClearFaults()
	})
}

// TestHistoryHasARequestWithoutAReply: the server has applied it.
func TestHistoryHasARequestWithoutAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := Start(t, Options{Trace: true})
		conn := server.Connect(t)
		check.OK(t, server.Inject(fault.Fault{Kind: fault.DropReply, Op: "create", Request: 1}))
		_, err := conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll))
		check.Equal(t, errors.Is(err, zk.ErrConnectionClosed), true)
		check.Contains(t, kinds(server.History(0)), "fault\nrequest S1 create /a\n")
	})
}

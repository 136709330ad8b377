package recipes_test

import (
	"context"
	. "github.com/zksim/zksim/recipes"
	"testing"
	"testing/synctest"
	"time"
)

// changed is the newest status that a reader has not yet seen.
func changed(t *testing.T, changes <-chan ConnStatus) ConnStatus {
	t.Helper()
	synctest.Wait()
	select {
	case status := <-changes:
		return status
	default:
		t.Fatal("no change")
		return ConnStatus{}
	}
}

func TestMonitorFollowsOneEpoch(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		m := NewConnMonitor(c, 10*time.Second)
		changes := m.Changes(t.Context())
		if got := changed(t, changes); got != (ConnStatus{StateConnected, 1, c.SessionID()}) {
			t.Fatalf("at first %+v", got)
		}
		c.Disconnect()
		time.Sleep(time.Second)
		if got := changed(t, changes); got.State != StateSuspended || closed(m.Lost()) {
			t.Errorf("after a second %+v, lost %v", got, closed(m.Lost()))
		}
		lost := m.Lost()
		time.Sleep(1500 * time.Millisecond) // 10 s/3 - 10 s/10 since contact, and a look
		if got := changed(t, changes); got.State != StateLost || !closed(lost) {
			t.Errorf("after 2.5 s %+v", got)
		}
		c.Reconnect()
		time.Sleep(time.Second)
		if got := changed(t, changes); got.State != StateConnected || got.Epoch != 2 ||
			closed(m.Lost()) {
			t.Errorf("reconnected %+v", got)
		}
		lost = m.Lost()
		if err := m.Close(t.Context()); err != nil || !closed(lost) {
			t.Errorf("Close: %v", err)
		}
		if _, open := <-changes; open {
			t.Error("changes stay open")
		}
		if _, open := <-m.Changes(t.Context()); !open {
			t.Error("no last status after Close")
		}
	})
}

func TestMonitorSeesAReplacedSessionAndShortOutageDoesNotEndAnEpoch(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		m := NewConnMonitor(c, 10*time.Second)
		lost := m.Lost()
		c.Disconnect()
		time.Sleep(time.Second)
		c.Reconnect()
		time.Sleep(time.Second)
		if m.Status().Epoch != 1 || m.Status().State != StateConnected || closed(lost) {
			t.Errorf("after a short outage %+v", m.Status())
		}
		c.Expire() // between two looks
		time.Sleep(time.Second)
		if got := m.Status(); got != (ConnStatus{StateConnected, 2, c.SessionID()}) ||
			!closed(lost) {
			t.Errorf("after an expiry %+v", got)
		}
		mustClose(t, m)
	})
}

func TestMonitorWithoutContact(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		c.Disconnect()
		m := NewConnMonitor(c, 0)
		if m.Status().State != StateSuspended || !closed(m.Lost()) ||
			m.Status().State.String() != "suspended" {
			t.Errorf("before contact %v", m.Status().State)
		}
		c.Reconnect()
		time.Sleep(time.Second)
		c.Disconnect()
		time.Sleep(time.Hour)
		if m.Status().State != StateSuspended || closed(m.Lost()) {
			t.Errorf("without a timeout %v", m.Status().State) // not known without a timeout
		}
		mustClose(t, m)
	})
}

func TestReaderOfChangesLeaves(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		m := NewConnMonitor(c, 10*time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		changes := m.Changes(ctx)
		changed(t, changes)
		cancel()
		synctest.Wait()
		if _, open := <-changes; open {
			t.Error("changes stay open")
		}
		c.Expire()
		time.Sleep(time.Second)
		mustClose(t, m)
	})
}

// watchedContext counts the waiters for its end.
type watchedContext struct {
	context.Context
	waiting int
}

func (c *watchedContext) Value(any) any { return nil } // or the one within is used

func (c *watchedContext) AfterFunc(func()) (stop func() bool) {
	c.waiting++
	return func() bool { c.waiting--; return true }
}

// TestMonitorLetsContextsGo: a context that outlives the monitor keeps no reference to it.
func TestMonitorLetsContextsGo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		ctx := &watchedContext{Context: t.Context()}
		m := NewConnMonitor(s.Connect(), 10*time.Second)
		m.Changes(ctx)
		if err := m.Close(t.Context()); err != nil || ctx.waiting != 0 {
			t.Errorf("%d wait for the end of a context, %v", ctx.waiting, err)
		}
	})
}

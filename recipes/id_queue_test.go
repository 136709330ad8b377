package recipes

import (
	"context"
	"errors"
	"testing"
)

func mustOfferID(t *testing.T, q *IDQueue, id, data string) {
	t.Helper()
	if err := q.Offer(t.Context(), id, []byte(data)); err != nil {
		t.Fatalf("Offer: %v", err)
	}
}

func wantRemoved(t *testing.T, q *IDQueue, id string, want int) {
	t.Helper()
	if n, err := q.Remove(t.Context(), id); n != want || err != nil {
		t.Fatalf("Remove %q: %d %v, want %d", id, n, err, want)
	}
}

func TestIDQueueRemovesByID(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		q := NewIDQueue(s.Connect(), "/q")
		wantRemoved(t, q, "x", 0)
		ids := []string{"x", "", "a/b", "x-item-0000000001", "-id-", "x", "%2F", "ä"}
		for _, id := range ids {
			mustOfferID(t, q, id, "of "+id)
		}
		wantRemoved(t, q, "x", 2)
		wantRemoved(t, q, "x", 0)
		wantRemoved(t, q, "/", 0)
		wantRemoved(t, q, "-id-", 1)
		wantRemoved(t, q, "a/b", 1)
		wantInTurn(t, q, "of ", "of x-item-0000000001", "of %2F", "of ä")
		wantTidy(t, s)
	})
}

func TestIDQueueFaults(t *testing.T) {
	for name, fault := range queueFaults {
		for _, op := range []string{"multi", "get", "children", "delete", "sync"} {
			t.Run(name+" of "+op, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *testServer) {
					c := s.Connect()
					q := NewIDQueue(c, "/q")
					mustOfferID(t, q, "x", "1")
					mustOfferID(t, q, "y", "2")
					mustOfferID(t, q, "x", "3")
					c.On(op, 1, fault)
					c.On(op, 2, fault)
					wantRemoved(t, q, "x", 2)
					c.Off()
					wantInTurn(t, q, "2")
					wantTidy(t, s)
				})
			})
		}
	}
}

func TestRemoveCountsWhatRivalsLeave(t *testing.T) {
	for name, fault := range map[string]rule{
		"undisturbed": {}, "request lost": loseRequest, "reply lost": loseReply,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) {
				c, rival := s.Connect(), NewIDQueue(s.Connect(), "/q")
				q := NewIDQueue(c, "/q")
				mustOfferID(t, q, "x", "1")
				mustOfferID(t, q, "x", "2")
				fault.Before = func() {
					if data, ok, err := rival.Poll(t.Context()); string(data) != "1" || !ok ||
						err != nil {
						t.Errorf("Poll: %q %v %v", data, ok, err)
					}
				}
				c.On("multi", 1, fault)
				wantRemoved(t, q, "x", 1)
				wantInTurn(t, q)
				wantTidy(t, s)
			})
		})
	}
}

func TestCancelledRemoveTellsTheTruthWhenItCan(t *testing.T) {
	for name, tc := range map[string]struct {
		fault rule
		err   error
		left  int
	}{
		"applied":     {loseReply, nil, 0},
		"not applied": {loseRequest, context.Canceled, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *testServer) {
				c := s.Connect()
				q := NewIDQueue(c, "/q")
				mustOfferID(t, q, "x", "1")
				ctx, cancel := context.WithCancel(t.Context())
				tc.fault.After = cancel
				c.On("multi", 1, tc.fault)
				if n, err := q.Remove(ctx, "x"); n != 1-tc.left || !errors.Is(err, tc.err) ||
					errors.Is(err, ErrAmbiguous) {
					t.Fatalf("Remove: %d %v", n, err)
				}
				s.WantBelow(t, "/q/items", tc.left)
				wantTidy(t, s)
			})
		})
	}
}

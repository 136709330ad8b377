package recipes

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

func wantState(t *testing.T, got ValueState, err error, data string, version int32) {
	t.Helper()
	if err != nil || !got.Exists || string(got.Data) != data || got.Version != version {
		t.Fatalf("got %+v (%s) %v, want %s@%d", got, got.Data, err, data, version)
	}
}

func TestSharedValueIsWrittenOnceWhateverIsLost(t *testing.T) {
	for _, fault := range []rule{{}, loseReply, loseRequest, netError, noServer} {
		for nth := 1; nth <= 3; nth++ {
			for _, op := range []string{"multi", "get", "sync", "exists", "delete", "create"} {
				inBubble(t, func(t *testing.T, s *fakeServer) {
					conn := s.connect()
					v := NewSharedValue(conn, "/values/a")
					conn.on(op, nth, fault)
					first, err := v.Get(t.Context())
					if err != nil || first.Exists {
						t.Fatal(first, err)
					}
					made, ok, err := v.CompareAndSet(t.Context(), first, []byte("x"))
					if wantState(t, made, err, "x", 0); !ok {
						t.Error("refused")
					}
					next, err := v.Set(t.Context(), []byte("y"))
					wantState(t, next, err, "y", 1)
					now, ok, err := v.CompareAndSet(t.Context(), made, []byte("z"))
					if wantState(t, now, err, "y", 1); ok {
						t.Error("not refused")
					}
					if now, ok, err = v.CompareAndSet(t.Context(), first, []byte("z")); ok {
						t.Error("made again")
					}
					wantState(t, now, err, "y", 1)
					now, ok, err = v.CompareAndSet(t.Context(), now, nil)
					if wantState(t, now, err, "", 2); !ok {
						t.Error("refused")
					}
					s.wantBelow(t, "/values/a", 0)
				})
			}
		}
	}
}

// TestSharedValueTellsAnEchoFromARival: a rival writes the same data between the
// lost request and its repetition.
func TestSharedValueTellsAnEchoFromARival(t *testing.T) {
	for name, lost := range map[string]bool{"request lost": true, "reply lost": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *fakeServer) {
				conn := s.connect()
				v, rival := NewSharedValue(conn, "/v"), NewSharedValue(s.connect(), "/v")
				seen, err := v.Set(t.Context(), []byte("x"))
				wantState(t, seen, err, "x", 0)
				conn.on("multi", 1, rule{lose: lost, err: zk.ErrConnectionClosed, after: func() {
					if _, err := rival.Set(t.Context(), []byte("y")); err != nil {
						t.Error(err)
					}
				}})
				now, ok, err := v.CompareAndSet(t.Context(), seen, []byte("y"))
				if wantState(t, now, err, "y", 1); ok == lost {
					t.Errorf("done %v", ok)
				}
			})
		})
	}
}

func TestNextSeesEachChange(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServer) {
		v, writer := NewSharedValue(s.connect(), "/v", RecheckEvery(0)), NewSharedValue(s.connect(), "/v")
		seen := make(chan ValueState)
		go func() {
			defer close(seen)
			var last ValueState
			for {
				next, err := v.Next(t.Context(), last)
				if err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
				last = next
				seen <- next
			}
		}()
		for i := range 3 {
			time.Sleep(time.Hour)
			data := fmt.Sprint(i)
			if _, err := writer.Set(t.Context(), []byte(data)); err != nil {
				t.Fatal(err)
			}
			wantState(t, <-seen, nil, data, int32(i))
		}
		if err := s.connect().Delete("/v", -1); err != nil {
			t.Fatal(err)
		}
		if gone := <-seen; gone.Exists {
			t.Errorf("%+v", gone)
		}
		synctest.Wait()
		if err := v.Close(t.Context()); err != nil {
			t.Error(err)
		}
		<-seen
	})
}

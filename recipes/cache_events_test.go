package recipes_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// TestNextEndsWithItsCacheConnOrReader: remaining events are read first.
func TestNextEndsWithItsCacheConnOrReader(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(t *testing.T, c *NodeCache, conn *testConn, changes *CacheChanges)
		want error
		news int // number of events that can still be read
	}{
		"cache": {
			func(t *testing.T, c *NodeCache, _ *testConn, _ *CacheChanges) {
				mustClose(t, c)
			}, ErrClosed, 2,
		},
		"conn": {
			func(_ *testing.T, _ *NodeCache, conn *testConn, _ *CacheChanges) {
				conn.Close()
			}, ErrConnClosed, 2,
		},
		"reader": {
			func(_ *testing.T, _ *NodeCache, _ *testConn, changes *CacheChanges) {
				changes.Close()
				changes.Close()
			}, ErrClosed, 0,
		},
	} {
		for _, waiting := range []bool{false, true} {
			t.Run(fmt.Sprint(name, waiting), func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *testServer) {
					s.Seed("/n", "1")
					conn := s.Connect()
					c := readyCache(t, NewNodeCache(conn, "/n"))
					changes := c.Changes()
					if waiting {
						newsOf(changes)
						tc.news = 0
						go func() { letSettle(); tc.end(t, c, conn, changes) }()
					} else {
						tc.end(t, c, conn, changes)
						letSettle()
					}
					var err error
					for n := 0; err == nil; n++ {
						if _, err = changes.Next(t.Context()); (err == nil) != (n < tc.news) {
							t.Errorf("event %d of %d: %v", n, tc.news, err)
						}
					}
					check.Is(t, err, tc.want, "Next")
					letSettle()
					if err := c.Close(t.Context()); err != nil && !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
				})
			})
		}
	}
}

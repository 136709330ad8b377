package conform

import (
	"fmt"
	"slices"
	"time"
)

// A clock judges the times that a server gives to its zxids by the clock of this
// process, on three counts: a zxid has one time, times do not fall as zxids rise,
// and the time is that at which the zxid was given.
type clock struct {
	marks []mark
	times map[int64]int64 // ms by zxid, as the server said first
	zxids []int64         // those of times, ascending
}

// A mark says which zxid was the server's last, at a time between two, in ms.
type mark struct{ zxid, earliest, latest int64 }

const (
	clockSlackMs = 3000
	// oldestMs is the year in which ZooKeeper was made, 2007: no node is older.
	oldestMs = 1_167_609_600_000
)

func newClock(marks ...mark) clock { return clock{marks: marks, times: map[int64]int64{}} }

func nowMs() int64 { return time.Now().UnixMilli() }

// judge says what is wrong with the time of a zxid.
func (c *clock) judge(zxid, ms int64) string {
	if zxid <= 0 || ms == 0 { // the nodes that were always there
		if zxid <= 0 && ms == 0 {
			return ""
		}
		return fmt.Sprintf(" (at the time %d)", ms)
	}
	at, known := c.times[zxid]
	switch {
	case known && at != ms:
		return " (at a time that is not the zxid's)"
	case !known && !c.enter(zxid, ms):
		return " (at a time that falls)"
	}
	return c.off(zxid, ms)
}

// enter notes the time of a zxid and reports whether it is between those of its
// neighbours.
func (c *clock) enter(zxid, ms int64) bool {
	i, _ := slices.BinarySearch(c.zxids, zxid)
	fits := (i == 0 || c.times[c.zxids[i-1]] <= ms) && (i == len(c.zxids) || ms <= c.times[c.zxids[i]])
	if fits {
		c.zxids = slices.Insert(c.zxids, i, zxid)
		c.times[zxid] = ms
	}
	return fits
}

// off says how far a time is from where it can be.
func (c *clock) off(zxid, ms int64) string {
	from, to := int64(oldestMs), nowMs()
	for _, m := range c.marks {
		if zxid > m.zxid {
			from = max(from, m.earliest)
		} else {
			to = min(to, m.latest)
		}
	}
	switch {
	case ms < from-clockSlackMs:
		return fmt.Sprintf(" (%d s too early)", seconds(from-ms))
	case ms > to+clockSlackMs:
		return fmt.Sprintf(" (%d s too late)", seconds(ms-to))
	}
	return ""
}

func seconds(ms int64) int64 { return (ms + 500) / 1000 }

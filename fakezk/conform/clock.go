package conform

import (
	"fmt"
	"slices"
	"time"
)

// A clock checks the times of a server's zxids in three ways: a zxid has one time, times
// do not fall as zxids rise, and by the clock of this process the time is that at which
// the server drew the zxid.
type clock struct {
	marks []mark
	times map[int64]int64 // ms by zxid, the first that the server showed
	zxids []int64         // the keys of times, ascending
}

// A mark is a server's last zxid at a time between earliest and latest, in ms.
type mark struct{ zxid, earliest, latest int64 }

const (
	clockSlackMs = 3000
	// oldestMs is the start of 2007, when ZooKeeper was new: no node is older.
	oldestMs = 1_167_609_600_000
)

func newClock(marks ...mark) clock { return clock{marks: marks, times: map[int64]int64{}} }

func nowMs() int64 { return time.Now().UnixMilli() }

// check returns the text of the error in the time of a zxid, or "".
func (c *clock) check(zxid, ms int64) string {
	if zxid <= 0 || ms == 0 { // the nodes of a new server have neither
		if zxid <= 0 && ms == 0 {
			return ""
		}
		return fmt.Sprintf(" (at the time %d)", ms)
	}
	at, known := c.times[zxid]
	switch {
	case known && at != ms:
		return " (at a time that is not the zxid's)"
	case !known && !c.insert(zxid, ms):
		return " (at a time that falls)"
	}
	return c.checkRange(zxid, ms)
}

// insert stores the time of a zxid if it lies between those of its neighbours, and
// reports whether it does.
func (c *clock) insert(zxid, ms int64) bool {
	i, _ := slices.BinarySearch(c.zxids, zxid)
	fits := (i == 0 || c.times[c.zxids[i-1]] <= ms) &&
		(i == len(c.zxids) || ms <= c.times[c.zxids[i]])
	if fits {
		c.zxids = slices.Insert(c.zxids, i, zxid)
		c.times[zxid] = ms
	}
	return fits
}

// checkRange compares a time with the marks. The error says how much too early or late it is.
func (c *clock) checkRange(zxid, ms int64) string {
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

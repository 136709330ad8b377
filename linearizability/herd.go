package linearizability

// herd returns the most watch notifications that one release fired, and its
// step. A release is the delete of a znode through which the lock was held.
func (c *lockCase) herd() (notified int, step int64) {
	for _, h := range c.holds {
		if h.node != nil && h.node.died != never && h.node.notified > notified {
			notified, step = h.node.notified, h.node.died
		}
	}
	return notified, step
}

func judgeHerd(r Report, limit int) Verdict {
	if r.MaxHerd > limit {
		return violated(Herd, []int64{r.MaxHerdStep},
			"the release at step %d fired %s, and no more than %d should wake up", r.MaxHerdStep, count(r.MaxHerd, "watch notification"), limit)
	}
	return fine(Herd, "at most %s for one release", count(r.MaxHerd, "watch notification"))
}

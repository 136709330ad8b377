package linearizability

import (
	"testing"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

func TestRegistries(t *testing.T) {
	checkHistories(t, always(Membership{
		Path: "/m", Services: true, Within: time.Second,
	}), []claimTest{
		{name: "two services", build: func(f *fixture) {
			f.joins("a", "web/a=1")
			f.joins("b", "mail/b=1")
			f.views("c", "mail/b=1,web/a=1")
			f.picks("c", "web", "web/a=1")
			f.leaves("a", "web/a")
			f.views("c", "mail/b=1")
			f.picks("c", "web", "")
			f.leaves("b", "mail/b")
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}}}
		}},
		{name: "instances need not be of one moment", build: func(f *fixture) {
			f.joins("a", "web/a=1")
			f.leaves("a", "web/a")
			f.joins("b", "web/b=1")
			f.views("c", "web/a=1,web/b=1")
			f.views("c", "web/b=1")
		}},
		{name: "an update", build: func(f *fixture) {
			f.joins("a", "web/a=1")
			op := f.call("a", ops.Update, "web/a=2")
			f.stores("a", "/m/web/a", "2")
			f.ret(op, OpOK, Result{})
			f.views("c", "web/a=1")
			f.views("c", "web/a=2")
		}},
		{name: "data that never was", bad: Answers,
			says: "c's view (steps 4 to 5) shows web/a=2, which was never so",
			build: func(f *fixture) {
				f.joins("a", "web/a=1")
				f.views("c", "web/a=2")
			}},
		{name: "data goes back", bad: Answers,
			says: "shows web/a=1, as it was until step 5, after something newer",
			build: func(f *fixture) {
				f.joins("a", "web/a=1")
				op := f.call("a", ops.Update, "web/a=2")
				f.stores("a", "/m/web/a", "2")
				f.ret(op, OpOK, Result{})
				f.views("c", "web/a=2")
				f.views("c", "web/a=1")
			}},
		{name: "an instance is missed for ever", bad: Answers,
			says: "does not show web/a, as it was until step 2",
			build: func(f *fixture) {
				f.joins("a", "web/a=1")
				f.passes(2 * time.Second)
				f.views("c", "")
			}},
		{name: "picks the dead", bad: Answers,
			says: "c's pick (steps 11 to 12) shows web/a=1, as it was until step 7, after " +
				"something newer", build: func(f *fixture) {
				f.joins("a", "web/a=1")
				f.views("c", "web/a=1")
				f.leaves("a", "web/a")
				f.views("c", "")
				f.picks("c", "web", "web/a=1")
			}},
		{name: "picks nothing, though there is something", bad: Answers,
			says: "c's pick (steps 6 to 7) does not show web/a",
			build: func(f *fixture) {
				f.joins("a", "web/a=1")
				f.views("c", "web/a=1")
				f.picks("c", "web", "")
			}},
		{name: "picks nothing of another service", build: func(f *fixture) {
			f.joins("a", "web/a=1")
			f.views("c", "web/a=1")
			f.picks("c", "mail", "")
		}},
		{name: "an update is lost", bad: Presence,
			says: `was acknowledged, but web/a was not there with "2"`,
			build: func(f *fixture) {
				f.joins("a", "web/a=1")
				f.ret(f.call("a", ops.Update, "web/a=2"), OpOK, Result{})
			}},
		{name: "comes back with old data", bad: Presence, says: `web/a has not been there with "2"`,
			build: func(f *fixture) {
				f.joins("a", "web/a=1")
				op := f.call("a", ops.Update, "web/a=2")
				f.stores("a", "/m/web/a", "2")
				f.ret(op, OpOK, Result{})
				f.expires(97, "/m/web/a")
				f.creates("a", 98, "/m/web/a", "1", 98)
			}},
		{name: "an empty service is left", bad: Orphans, says: "/m/web is left without instances",
			build: func(f *fixture) {
				f.joins("a", "web/a=1")
				f.leaves("a", "web/a")
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}, {Path: "/m/web"}}}
			}},
	}, func(f *fixture) {
		f.passes(2 * time.Second)
		f.ret(f.call("d", ops.View, "of something else"), OpFailed, Result{})
	})
}

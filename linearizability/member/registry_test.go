package member

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestRegistries(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(Claims{
		Path: "/m", Services: true, Within: time.Second,
	}), []claimTest{
		{Name: "two services", Build: func(f *fixture) {
			f.joins("a", "web/a=1")
			f.joins("b", "mail/b=1")
			f.views("c", "mail/b=1,web/a=1")
			f.picks("c", "web", "web/a=1")
			f.leaves("a", "web/a")
			f.views("c", "mail/b=1")
			f.picks("c", "web", "")
			f.leaves("b", "mail/b")
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/m"}}}
		}},
		{Name: "instances need not be of one moment", Build: func(f *fixture) {
			f.joins("a", "web/a=1")
			f.leaves("a", "web/a")
			f.joins("b", "web/b=1")
			f.views("c", "web/a=1,web/b=1")
			f.views("c", "web/b=1")
		}},
		{Name: "an update", Build: func(f *fixture) {
			f.joins("a", "web/a=1")
			op := f.Call("a", ops.Update, "web/a=2")
			f.Stores("a", "/m/web/a", "2")
			f.Ret(op, lin.OpOK, lin.Result{})
			f.views("c", "web/a=1")
			f.views("c", "web/a=2")
		}},
		{Name: "data that never was", Bad: lin.Answers,
			Says: "c's view (steps 4 to 5) shows web/a=2, which was never so",
			Build: func(f *fixture) {
				f.joins("a", "web/a=1")
				f.views("c", "web/a=2")
			}},
		{Name: "data goes back", Bad: lin.Answers,
			Says: "shows web/a=1, as it was until step 5, after something newer",
			Build: func(f *fixture) {
				f.joins("a", "web/a=1")
				op := f.Call("a", ops.Update, "web/a=2")
				f.Stores("a", "/m/web/a", "2")
				f.Ret(op, lin.OpOK, lin.Result{})
				f.views("c", "web/a=2")
				f.views("c", "web/a=1")
			}},
		{Name: "an instance is missed for ever", Bad: lin.Answers,
			Says: "does not show web/a, as it was until step 2",
			Build: func(f *fixture) {
				f.joins("a", "web/a=1")
				f.passes(2 * time.Second)
				f.views("c", "")
			}},
		{Name: "picks the dead", Bad: lin.Answers,
			Says: "c's pick (steps 11 to 12) shows web/a=1, as it was until step 7, after " +
				"something newer", Build: func(f *fixture) {
				f.joins("a", "web/a=1")
				f.views("c", "web/a=1")
				f.leaves("a", "web/a")
				f.views("c", "")
				f.picks("c", "web", "web/a=1")
			}},
		{Name: "picks nothing, though there is something", Bad: lin.Answers,
			Says: "c's pick (steps 6 to 7) does not show web/a",
			Build: func(f *fixture) {
				f.joins("a", "web/a=1")
				f.views("c", "web/a=1")
				f.picks("c", "web", "")
			}},
		{Name: "picks nothing of another service", Build: func(f *fixture) {
			f.joins("a", "web/a=1")
			f.views("c", "web/a=1")
			f.picks("c", "mail", "")
		}},
		{Name: "an update is lost", Bad: lin.Presence,
			Says: `was acknowledged, but web/a was not there with "2"`,
			Build: func(f *fixture) {
				f.joins("a", "web/a=1")
				f.Ret(f.Call("a", ops.Update, "web/a=2"), lin.OpOK, lin.Result{})
			}},
		{Name: "comes back with old data", Bad: lin.Presence, Says: `web/a has not been there with "2"`,
			Build: func(f *fixture) {
				f.joins("a", "web/a=1")
				op := f.Call("a", ops.Update, "web/a=2")
				f.Stores("a", "/m/web/a", "2")
				f.Ret(op, lin.OpOK, lin.Result{})
				f.Expires(97, "/m/web/a")
				f.Creates("a", 98, "/m/web/a", "1", 98)
			}},
		{Name: "an empty service is left", Bad: lin.Orphans, Says: "/m/web is left without instances",
			Build: func(f *fixture) {
				f.joins("a", "web/a=1")
				f.leaves("a", "web/a")
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/m"}, {Path: "/m/web"}}}
			}},
	}, func(f *fixture) {
		f.passes(2 * time.Second)
		f.Ret(f.Call("d", ops.View, "of something else"), lin.OpFailed, lin.Result{})
	})
}

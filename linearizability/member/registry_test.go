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
		{Name: "two services",
			Steps: "a joins web/a=1; b joins mail/b=1; c sees mail/b=1,web/a=1; " +
				"c pick(web) -> web/a=1; a leaves web/a; c sees mail/b=1; c pick(web) empty; " +
				"b leaves mail/b; rest ."},
		{Name: "instances need not be of one moment",
			Steps: "a joins web/a=1; a leaves web/a; b joins web/b=1; c sees web/a=1,web/b=1; " +
				"c sees web/b=1"},
		{Name: "an update",
			Steps: "a joins web/a=1; a update(web/a=2) stores web/a=2 ok; c sees web/a=1; " +
				"c sees web/a=2"},
		{Name: "data that never was", Bad: lin.Answers,
			Says:  "c's view (steps 4 to 5) shows web/a=2, which was never so",
			Steps: "a joins web/a=1; c sees web/a=2"},
		{Name: "data goes back", Bad: lin.Answers,
			Says: "shows web/a=1, as it was until step 5, after something newer",
			Steps: "a joins web/a=1; a update(web/a=2) stores web/a=2 ok; c sees web/a=2; " +
				"c sees web/a=1"},
		{Name: "an instance is missed for ever", Bad: lin.Answers,
			Says:  "does not show web/a, as it was until step 2",
			Steps: "a joins web/a=1; pass 2000; c seesNobody"},
		{Name: "picks the dead", Bad: lin.Answers,
			Says: "c's pick (steps 11 to 12) shows web/a=1, as it was until step 7, after " +
				"something newer",
			Steps: "a joins web/a=1; c sees web/a=1; a leaves web/a; c seesNobody; " +
				"c pick(web) -> web/a=1"},
		{Name: "picks nothing, though there is something", Bad: lin.Answers,
			Says:  "c's pick (steps 6 to 7) does not show web/a",
			Steps: "a joins web/a=1; c sees web/a=1; c pick(web) empty"},
		{Name: "picks nothing of another service",
			Steps: "a joins web/a=1; c sees web/a=1; c pick(mail) empty"},
		{Name: "an update is lost", Bad: lin.Presence,
			Says:  `was acknowledged, but web/a was not there with "2": a created it at step 2`,
			Steps: "a joins web/a=1; a update(web/a=2) ok"},
		{Name: "comes back with old data", Bad: lin.Presence,
			Says: `web/a has not been there with "2"`,
			Steps: "a joins web/a=1; a update(web/a=2) stores web/a=2 ok; a expires web/a; " +
				"a@98 owns web/a=1"},
		{Name: "an empty service is left", Bad: lin.Orphans,
			Says:  "/m/web is left without instances since a deleted /m/web/a at step 5",
			Steps: "a joins web/a=1; a leaves web/a; rest . web"},
	}, func(f *fixture) {
		f.passes(2 * time.Second)
		f.Ret(f.Call("d", ops.View, "of something else"), lin.OpFailed, lin.Result{})
	})
}

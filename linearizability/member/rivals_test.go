package member

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestRivals(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(Claims{
		Path: "/m", Data: true, Rivals: true, Late: 100 * time.Millisecond,
		Hidden: []string{"secret"}, Within: time.Second, AllowedAtRest: []string{"/m/secret"},
	}), []claimTest{
		{Name: "one after the other",
			Steps: "a joins x=a1; b join(x=b1) unknown@98; c sees x=a1; a leaves x; pass 500; " +
				"b owns x=b1; c sees x=b1; b expires x; pass 500; b@99 owns x=b1; pass 5000; " +
				"c sees x=b1; rest . x secret"},
		{Name: "one loses it to the other",
			Steps: "a joins x=a1; b join(x=b1) unknown@98; a expires x; b owns x=b1; pass 5000"},
		{Name: "nobody takes over", Bad: lin.Presence,
			Says:  "nobody has had x, with his data, for 5.",
			Steps: "a joins x=a1; b join(x=b1) unknown@98; a leaves x; pass 5000; c seesNobody"},
		{Name: "has it, as he says, and another does", Bad: lin.Presence,
			Says:  `b's join (steps 4 to 5) was acknowledged, but x was not there with "b1"`,
			Steps: "a joins x=a1; b join(x=b1) ok@98"},
		{Name: "deletes the rival's", Bad: lin.Safety,
			Says: "b deleted /m/x at step 5, which was a's, during b's leave (steps 4 to 6)", Steps: "a joins x=a1; b leaves x"},
		{Name: "has sent it when the instance was his own",
			Steps: "b joins x=b1; a join(x=a1) unknown@97; b leave(x); " +
				"c evict(x) deletes x!1 ok; a owns x=a1; pass 10; b deletes x!1; a owns x=a1; " +
				"b ok"},
		{Name: "has sent it long ago", Bad: lin.Safety, Says: "b deleted /m/x",
			Steps: "b joins x=b1; a join(x=a1) unknown@97; b leave(x); " +
				"c evict(x) deletes x!1 ok; a owns x=a1; pass 1000; b deletes x!1; a owns x=a1; " +
				"b ok"},
		{Name: "has sent it in another session", Bad: lin.Safety, Says: "b deleted /m/x",
			Steps: "b joins x=b1; a join(x=a1) unknown@97; b leave(x); " +
				"c evict(x) deletes x!1 ok; a owns x=a1; pass 10; b@198 deletes x!1; " +
				"a owns x=a1; b ok"},
		{Name: "writes into the rival's", Bad: lin.Safety,
			Says:  `b wrote "graffiti" into /m/x at step 4, which was a's`,
			Steps: "a joins x=a1; b stores x=graffiti"},
		{Name: "was asked to, and it is repaired",
			Steps: "a joins x=a1; b spoil(x) stores x=graffiti ok; a stores x=a1; pass 5000; " +
				"c sees x=a1"},
		{Name: "is not repaired", Bad: lin.Presence, Says: "nobody has had x, with his data",
			Steps: "a joins x=a1; b spoil(x) stores x=graffiti ok; pass 5000; c sees x=graffiti"},
		{Name: "shows old data", Bad: lin.Answers, Says: "shows x=a1, as it was until step",
			Steps: "a joins x=a1; b spoil(x) stores x=graffiti ok; a stores x=a2; pass 5000; " +
				"c sees x=a1"},
		{Name: "hides more than what may not be read", Bad: lin.Answers, Says: "does not show x",
			Steps: "c creates secret=s; a joins x=a1; pass 5000; c seesNobody"},
		{Name: "is left behind", Bad: lin.Orphans, Says: "/m/x",
			Steps: "a joins x=a1; b join(x=b1) unknown@98; a leaves x; b leave(x) ok@98; rest . x"},
	})
}

package sim

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
)

// throwaway: hashes of many worlds, to compare before and after.
func TestZZGolden(t *testing.T) {
	out := os.Getenv("ZZGOLDEN")
	if out == "" {
		t.Skip()
	}
	var b strings.Builder
	acl := zk.WorldACL(zk.PermAll)
	n := 1500
	for i := range n {
		rng := rand.New(rand.NewSource(int64(i)))
		names := []string{"a", "b", "c"}
		var plan []fault.Fault
		for range 1 + rng.Intn(7) {
			info := fault.Kinds()[rng.Intn(len(fault.Kinds()))]
			f := fault.Fault{Kind: info.Kind}
			if info.Lasts {
				f.For = time.Duration(1+rng.Intn(9000)) * time.Millisecond
			}
			if rng.Intn(3) > 0 {
				f.Client = names[rng.Intn(3)]
			}
			var opts []string
			if info.OnRequest {
				opts = append(opts, "r")
			}
			if info.OnEvent {
				opts = append(opts, "e")
			}
			if info.OnTime {
				opts = append(opts, "t")
			}
			switch opts[rng.Intn(len(opts))] {
			case "r":
				f.Request = 1 + rng.Intn(12)
				if rng.Intn(4) == 0 {
					f.Conn = 1 + rng.Intn(2)
				}
			case "e":
				f.Event = 1 + rng.Intn(4)
			case "t":
				f.At = time.Duration(1+rng.Intn(8000)) * time.Millisecond
			}
			plan = append(plan, f)
		}
		w := World{Seed: uint64(i), Plan: plan, SessionTimeout: 4 * time.Second, Limit: time.Minute, Settle: 3 * time.Second}
		switch i % 4 {
		case 1:
			w.Schedule = Schedule{Kind: Priorities, Numbers: []int{1 + rng.Intn(40), 1 + rng.Intn(80)}}
		case 2:
			s := Schedule{Kind: Choices}
			for range 60 {
				s.Numbers = append(s.Numbers, rng.Intn(3))
			}
			w.Schedule = s
		}
		for k, name := range names {
			seed := int64(i*10 + k)
			w.Clients = append(w.Clients, Actor{Name: name, Run: func(ctx context.Context, c *Client) {
				r := rand.New(rand.NewSource(seed))
				conn := c.Conn()
				for j := 0; j < 12 && ctx.Err() == nil; j++ {
					p := fmt.Sprint("/", r.Intn(4))
					switch r.Intn(7) {
					case 0:
						conn.Create(p, nil, zk.FlagEphemeral, acl)
					case 1:
						conn.Create("/s", nil, zk.FlagSequence, acl)
					case 2:
						conn.Delete(p, -1)
					case 3:
						conn.GetW(p)
					case 4:
						conn.ChildrenW("/")
					case 5:
						conn.Set(p, []byte("x"), -1)
					case 6:
						if r.Intn(3) == 0 {
							c2, _ := c.Connect()
							c2.Exists("/")
							if r.Intn(2) == 0 {
								c2.Close()
							}
						} else {
							c.Sleep(ctx, time.Duration(r.Intn(3000))*time.Millisecond)
						}
					}
				}
			}})
		}
		res, err := w.Run()
		if err != nil {
			t.Fatal(i, plan, err)
		}
		all := fmt.Sprint(res.Trace.String(), res.Steps, res.Elapsed, res.Strikes, res.Missed, res.Requests, res.Events, res.Changes, res.Notices, res.Decisions, res.Nodes, res.Busy, res.Leaked == "", res.Frozen == "", res.Panics)
		fmt.Fprintf(&b, "%d %x %d %v\n", i, sha256.Sum256([]byte(all)), res.Steps, plan)
	}
	if err := os.WriteFile(out, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

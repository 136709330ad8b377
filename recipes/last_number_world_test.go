package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/recipes"
)

// testedQueue is a queue at /q with elements of one priority.
type testedQueue struct {
	offer func(ctx context.Context, c *sim.Client, data string) error
	poll  func(ctx context.Context, c *sim.Client) ([]byte, bool, error)
}

func plainQueue(c *sim.Client) *recipes.Queue { return recipes.NewQueue(c.Conn(), "/q") }
func rankedQueue(c *sim.Client) *recipes.PriorityQueue {
	return recipes.NewPriorityQueue(c.Conn(), "/q")
}

func pollPlain(ctx context.Context, c *sim.Client) ([]byte, bool, error) {
	return plainQueue(c).Poll(ctx)
}

// TestQueuesAtTheLastNumberInManyWorlds: offered elements are taken once, in the order of the
// offers of one client, and refused ones never.
func TestQueuesAtTheLastNumberInManyWorlds(t *testing.T) {
	kinds := map[string]testedQueue{
		"Queue": {
			func(ctx context.Context, c *sim.Client, data string) error {
				return plainQueue(c).Offer(ctx, []byte(data))
			},
			pollPlain,
		},
		"PriorityQueue": {
			func(ctx context.Context, c *sim.Client, data string) error {
				return rankedQueue(c).Offer(ctx, []byte(data), 0)
			},
			func(ctx context.Context, c *sim.Client) ([]byte, bool, error) {
				return rankedQueue(c).Poll(ctx)
			},
		},
	}
	for name, q := range kinds {
		for _, next := range []int32{math.MaxInt32 - 3, math.MaxInt32} {
			t.Run(fmt.Sprint(name, next), func(t *testing.T) {
				inWorlds(t, func(w *sim.World) func(*trace.Result) string {
					return offersAt(w, next, q)
				})
			})
		}
	}
}

// TestOffersWithTheLastNumberLoseTheirOrder is the control, with offers that ignore the numbers.
func TestOffersWithTheLastNumberLoseTheirOrder(t *testing.T) {
	offer := func(_ context.Context, c *sim.Client, data string) error {
		_, err := c.Conn().Create(
			fmt.Sprintf(
				"/q/items/_c_%x-item-", 9-int(data[1]-'0'),
			), []byte(data), zk.FlagSequence, zk.WorldACL(zk.PermAll),
		)
		return err
	}
	for next, ordered := range map[int32]bool{0: true, math.MaxInt32: false} {
		w := sim.World{Seed: 1}
		judge := offersAt(&w, next, testedQueue{offer, pollPlain})
		res, err := w.Run()
		if err != nil {
			t.Fatal(err)
		}
		if problem := judge(res); (problem == "") != ordered {
			t.Errorf("from %d on: %s", next, problem)
		}
	}
}

// deletesWhenEmpty tries now and then to delete the directory of elements.
func deletesWhenEmpty(ctx context.Context, c *sim.Client) {
	for i := 0; i < 5 && c.Sleep(ctx, 4500*time.Millisecond) == nil; i++ {
		if err := c.Conn().Delete("/q/items", -1); err != nil {
			c.Note("delete: %v", err)
		}
	}
}

// offersAt plays a queue that numbers its elements from next on: a offers, b takes now and then, c
// deletes the directory if it is empty. It returns the problem, or "".
func offersAt(w *sim.World, next int32, q testedQueue) func(*trace.Result) string {
	var mu sync.Mutex
	var offered, refused, doubtful, taken []string
	w.Nodes, w.Next = map[string]string{"/q/items": ""}, map[string]int32{"/q/items": next}
	offers := func(ctx context.Context, c *sim.Client) {
		for i := range 9 {
			e := fmt.Sprint(c.Name(), i)
			err := q.offer(ctx, c, e)
			c.Note("offer %s: %v", e, err)
			mu.Lock()
			switch {
			case err == nil:
				offered = append(offered, e)
			case errors.Is(err, recipes.ErrNumbersUsedUp) && !errors.Is(err, recipes.ErrAmbiguous):
				refused = append(refused, e)
			default:
				doubtful = append(doubtful, e)
			}
			mu.Unlock()
			if c.Sleep(ctx, time.Second) != nil {
				return
			}
		}
	}
	takes := func(ctx context.Context, c *sim.Client) {
		for i := 0; i < 25 && c.Sleep(ctx, 4*time.Second) == nil; i++ {
			for ok := true; ok; {
				var data []byte
				var err error
				if data, ok, err = q.poll(ctx, c); err != nil {
					c.Note("poll: %v", err)
				}
				if ok {
					mu.Lock()
					taken = append(taken, string(data))
					mu.Unlock()
				}
			}
		}
	}
	w.Clients = []sim.Actor{
		{Name: "a", Run: offers}, {Name: "b", Run: takes}, {Name: "c", Run: deletesWhenEmpty},
	}
	return func(res *trace.Result) string {
		known := slices.DeleteFunc(
			slices.Clone(taken), func(e string) bool { return slices.Contains(doubtful, e) },
		)
		switch {
		case !slices.Equal(known, offered):
			return fmt.Sprintf(
				"offered %v, refused %v, in doubt %v, taken %v", offered, refused, doubtful, taken,
			)
		case len(leftovers(res, "/q/items")) > 0:
			return fmt.Sprint("left over: ", leftovers(res, "/q/items"))
		}
		return ""
	}
}

package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestEqualElements(t *testing.T) {
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "in their order",
			Steps: "a puts 1=x; b puts 2=y; a puts 3=x; c removes 1=x; c removes 2=y; " +
				"c removes 3=x; rest"},
		{Name: "which of two left first is not seen",
			Steps: "a puts 1=x; a puts 2=x; b puts 3=y; c removes 2=x; c removes 1=x; " +
				"c removes 3=y"},
		{Name: "one stays", Steps: "a puts 1=x; b puts 2=x; c removes 1=x; rest 2=x"},
		{Name: "empty", Steps: "a puts 1; b puts 2; c take() deletes 1 ok; c take() deletes 2 ok"},
		{Name: "the younger before another", Bad: lin.Order,
			Says: "element y was in the queue before x (2 of 2)",
			Steps: "a puts 1=x; b puts 2=y; a puts 3=x; c removes 1=x; c removes 3=x; " +
				"c removes 2=y"},
		{Name: "the younger instead of the older", Bad: lin.Order,
			Says: "element y was in the queue before x (2 of 2)",
			Steps: "a puts 1=x; b puts 2=y; a puts 3=x; c removes 3=x; c removes 1=x; " +
				"c removes 2=y"},
		{Name: "the younger is not linearizable", Bad: lin.Linearizability,
			Says: "element y was in the queue before x (2 of 2)",
			Steps: "a puts 1=x; b puts 2=y; a puts 3=x; c removes 1=x; c removes 3=x; " +
				"c removes 2=y"},
		{Name: "one for two", Bad: lin.Delivery,
			Says:  "element x (2 of 2) is lost: b's offer (steps 4 to 5) was acknowledged",
			Steps: "a puts 1=x; b offer(x) ok; c removes 1=x; rest"},
		{Name: "one for two, without the log", Bad: lin.Delivery, Says: "x (2 of 2) is lost",
			Steps: "a puts 1=x; b offer(x) ok; c removes 1=x; rest; unlogged"},
		{Name: "one for an unknown one",
			Steps: "a puts 1=x; b offer(x) unknown; c removes 1=x; rest"},
		{Name: "one removed in vain", Bad: lin.Delivery,
			Says:  "element x (1 of 2), offered by a, is lost",
			Steps: "a puts 1=x; a puts 2=x; b take() deletes 1 unknown; b removes 2=x"},
		{Name: "three for two", Bad: lin.Delivery, Says: "was delivered twice",
			Steps: "a puts 1=x; b puts 2=x; c removes 1=x; c removes 2=x; b take() -> x"},
		{Name: "three stored for two", Bad: lin.Delivery,
			Says:  "stored element x (1 of 2) twice",
			Steps: "a offer(x) creates 1=x creates 2=x ok; b puts 3=x"},
		{Name: "three for two and an unknown one",
			Steps: "a offer(x) unknown; a offer(x) creates 1=x creates 2=x ok; b puts 3=x"},
		{Name: "put back",
			Steps: "a puts 1=x; a puts 2=y; a puts 3=x; b take() deletes 1; c removes 2=y; " +
				"b creates 1=x; b failed; c removes 1=x; c removes 3=x"},
		{Name: "put back beside a take of the same client",
			Steps: "a puts 0=x; c removes 0=x; a puts 1=x; a puts 2=x; b take(); b deletes 1; " +
				"b poll(); b deletes 2; b take -> x; b creates 2=x; b poll failed; " +
				"b removes 2=x; rest"},
		{Name: "returned again before an equal one was offered", Opts: Claims{MayDuplicate: true},
			Steps: "a puts 1=x; b take() -> x; c puts 2=y; b removes 1=x; a puts 3=x; b removes 2=y; " +
				"rest 3=x"},
		{Name: "returned again beside an equal one that was not stored",
			Opts: Claims{MayDuplicate: true},
			Steps: "a offer(x) unknown; a puts 1=x; b take() -> x; c removes 1=x; a puts 2=x; " +
				"rest 2=x"},
		{Name: "returned again while an equal one is offered", Opts: Claims{MayDuplicate: true},
			Steps: "a puts 1=x; a puts 2=x; a puts 3=y; b take(); c removes 1=x; a puts 4=x; b -> x; " +
				"c removes 2=x; c removes 3=y; rest 4=x"},
		{Name: "removed two at a time during a take that removes others",
			Opts: Claims{Unordered: true},
			Steps: "a puts 1=x; a puts 2=x; b take(); b poll() deletes 1 deletes 2 -> x; a puts 3=x; " +
				"b poll() -> x; b poll() deletes 3 -> x; a puts 4=x; b deletes 4; b take -> x; rest"},
		{Name: "one of two at a time is not returned", Opts: Claims{Unordered: true}, Bad: lin.Delivery, Says: "is lost",
			Steps: "a puts 1=x; a puts 2=x; a puts 3=x; a puts 4=x; b take() deletes 1 deletes 2 -> x; " +
				"b take(); b poll() -> x; b deletes 3; b deletes 4; b take -> x; rest"},
		{Name: "returned again out of order", Opts: Claims{MayDuplicate: true}, Bad: lin.Order,
			Says: "element y was in the queue before x (2 of 2)",
			Steps: "a puts 1=x; b take() -> x; c puts 2=y; b removes 1=x; a puts 3=x; b removes 3=x; " +
				"b removes 2=y"},
		{Name: "not put back beside a take of the same client", Bad: lin.Delivery,
			Says: "is lost: b's poll (steps 9 to 12, failed: connection closed) removed /q/2",
			Steps: "a puts 1=x; a puts 2=x; b take(); b deletes 1; b poll(); b deletes 2; " +
				"b take -> x; b poll failed; rest"},
	})
}

func TestEqualElementsOfOtherRanksPanic(t *testing.T) {
	defer func() {
		if said := fmt.Sprint(recover()); !strings.Contains(said, "must have equal ranks") {
			t.Errorf("got %s", said)
		}
	}()
	judgingtest.Judge(played("a offers x#1; a offers x#2"), nil, Priority{})
}

// withEqualElements gives the elements of a history n different values.
func withEqualElements(h lin.History, n int) lin.History {
	value := func(text *string) {
		var number int
		if _, err := fmt.Sscanf(*text, "v%d", &number); err == nil {
			*text = fmt.Sprint("v", number%n)
		}
	}
	for i := range h.Ops {
		value(&h.Ops[i].Input)
		value(&h.Ops[i].Output)
	}
	h.Server = slices.Clone(h.Server)
	for i := range h.Server {
		value(&h.Server[i].Data)
	}
	return h
}

// TestCorrectQueuesOfEqualElementsAreFoundCorrect: a valid history stays valid when elements become
// equal, and loses no more. It may lose fewer: if a client lost an element and offers an equal one,
// that can be the first one, put back.
func TestCorrectQueuesOfEqualElementsAreFoundCorrect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, lost := randomQueue(t)
		h = withEqualElements(h, rapid.IntRange(1, 4).Draw(t, "values"))
		r := judgingtest.Judge(h, &lin.Leftovers{}, atMostOnce)
		if r.Status() != lin.OK || len(r.Lost) > len(lost) {
			t.Fatalf("lost %v\n%s\n%s", lost, r, judgingtest.Dump(h))
		}
		if len(h.Ops) > 25 {
			return // without the log, many unknown outcomes cost too much
		}
		h.Server = nil
		if r := judgingtest.Judge(h, nil, atMostOnce); r.Status() == lin.Violated {
			t.Fatalf("without the log:\n%s\n%s", r, judgingtest.Dump(h))
		}
	})
}

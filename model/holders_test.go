package model

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// stepTest is one step of an object, and the states it may lead to.
type stepTest[S, O any] struct {
	name string
	from S
	op   O
	want []S
}

func checkSteps[S, O any](t *testing.T, step func(S, O) []S, tests []stepTest[S, O]) {
	t.Helper()
	for _, tt := range tests {
		if got := step(tt.from, tt.op); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

var ownerA, ownerB = Owner{"a", 1}, Owner{"b", 2}

func owners(list ...Owner) Owners {
	var o Owners
	for _, owner := range list {
		o = o.with(owner)
	}
	return o
}

func TestReentrantLockStep(t *testing.T) {
	free, once, twice := ReentrantLock{Token: 5}, ReentrantLock{ownerA, 1, 5}, ReentrantLock{ownerA,
		2, 5}
	checkSteps(t, ReentrantLock.Step, []stepTest[ReentrantLock, LockOp]{
		{
			"granted", free, LockOp{Kind: Acquire, By: ownerA, Token: 6},
			[]ReentrantLock{{ownerA, 1, 6}},
		},
		{"old token", free, LockOp{Kind: Acquire, By: ownerA, Token: 5}, nil},
		{"again", once, LockOp{Kind: Acquire, By: ownerA, Token: 5}, []ReentrantLock{twice}},
		{"again without a token", once, LockOp{Kind: Acquire, By: ownerA}, []ReentrantLock{twice}},
		{"again with another token", once, LockOp{Kind: Acquire, By: ownerA, Token: 6}, nil},
		{"another", once, LockOp{Kind: Acquire, By: ownerB, Token: 6}, nil},
		{
			"maybe", free, LockOp{
				Kind: Acquire, By: ownerA, Outcome: Maybe,
			}, []ReentrantLock{free, once},
		},
		{
			"given up", once, LockOp{
				Kind: Acquire, By: ownerB, Outcome: NoEffect,
			}, []ReentrantLock{once},
		},
		{"inner release", twice, LockOp{Kind: Release, By: ownerA}, []ReentrantLock{once}},
		{"last release", once, LockOp{Kind: Release, By: ownerA}, []ReentrantLock{free}},
		{"another's release", once, LockOp{Kind: Release, By: ownerB}, nil},
		{"expired", twice, LockOp{Kind: Expire, By: ownerA}, []ReentrantLock{free}},
		{"another expired", twice, LockOp{Kind: Expire, By: ownerB}, []ReentrantLock{twice}},
	})
}

func TestRWLockStep(t *testing.T) {
	free, read, written := RWLock{Token: 3, Latest: 5}, RWLock{Readers: owners(ownerA), Token: 3,
		Latest: 5}, RWLock{Writer: ownerA, Token: 5, Latest: 5}
	checkSteps(t, RWLock.Step, []stepTest[RWLock, LockOp]{
		{"a reader", free, LockOp{Kind: Acquire, By: ownerA, Shared: true, Token: 4},
			[]RWLock{{Readers: owners(ownerA), Token: 3, Latest: 5}}},
		{"a reader from before the last writer", free,
			LockOp{Kind: Acquire, By: ownerA, Shared: true, Token: 3}, nil},
		{"one more reader", read, LockOp{Kind: Acquire, By: ownerB, Shared: true, Token: 6},
			[]RWLock{{Readers: owners(ownerA, ownerB), Token: 3, Latest: 6}}},
		{"a writer", free, LockOp{Kind: Acquire, By: ownerB, Token: 6},
			[]RWLock{{Writer: ownerB, Token: 6, Latest: 6}}},
		{
			"a writer from before the last reader", free,
			LockOp{Kind: Acquire, By: ownerB, Token: 5}, nil,
		},
		{"a writer beside a reader", read, LockOp{Kind: Acquire, By: ownerB, Token: 6}, nil},
		{"a reader becomes the writer", read, LockOp{Kind: Acquire, By: ownerA, Token: 6}, nil},
		{"a reader beside the writer", written,
			LockOp{Kind: Acquire, By: ownerB, Shared: true, Token: 6}, nil},
		{"the writer reads", written, LockOp{Kind: Acquire, By: ownerA, Shared: true, Token: 5},
			[]RWLock{{Writer: ownerA, Readers: owners(ownerA), Token: 5, Latest: 5}}},
		{"maybe", written, LockOp{Kind: Acquire, By: ownerB, Outcome: Maybe}, []RWLock{written}},
		{
			"given up", written, LockOp{
				Kind: Acquire, By: ownerB, Outcome: NoEffect,
			}, []RWLock{written},
		},
		{"a reader leaves", read, LockOp{Kind: Release, By: ownerA, Shared: true}, []RWLock{free}},
		{"a reader releases what a writer has", written,
			LockOp{Kind: Release, By: ownerA, Shared: true}, nil},
		{"the writer leaves", written, LockOp{Kind: Release, By: ownerA},
			[]RWLock{{Token: 5, Latest: 5}}},
		{"another leaves", written, LockOp{Kind: Release, By: ownerB}, nil},
		{"expired", written, LockOp{Kind: Expire, By: ownerA}, []RWLock{{Token: 5, Latest: 5}}},
		{"another expired", read, LockOp{Kind: Expire, By: ownerB, Shared: true}, []RWLock{read}},
	})
}

func TestSemaphoreStep(t *testing.T) {
	one, full := Semaphore{2, owners(ownerA)}, Semaphore{2, owners(ownerA, ownerA)}
	checkSteps(t, Semaphore.Step, []stepTest[Semaphore, LockOp]{
		{"one more", one, LockOp{Kind: Acquire, By: ownerA}, []Semaphore{full}},
		{"one too many", full, LockOp{Kind: Acquire, By: ownerB}, nil},
		{"maybe", one, LockOp{Kind: Acquire, By: ownerA, Outcome: Maybe}, []Semaphore{one, full}},
		{"given up", full, LockOp{Kind: Acquire, By: ownerB, Outcome: NoEffect}, []Semaphore{full}},
		{"released", full, LockOp{Kind: Release, By: ownerA}, []Semaphore{one}},
		{"released by another", full, LockOp{Kind: Release, By: ownerB}, nil},
		{"expired", full, LockOp{Kind: Expire, By: ownerA}, []Semaphore{one}},
		{"another expired", full, LockOp{Kind: Expire, By: ownerB}, []Semaphore{full}},
	})
}

// TestOwnersAreAMultiset for all names.
func TestOwnersAreAMultiset(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) Owner {
		return Owner{rapid.SampledFrom([]string{"", "a", "a\nb", `"`}).Draw(t, "client"),
			rapid.Int64Range(-1, 2).Draw(t, "session")}
	})
	rapid.Check(t, func(t *rapid.T) {
		counts, n := map[Owner]int{}, 0
		var o Owners
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			owner := draw.Draw(t, "owner")
			if rapid.Bool().Draw(t, "add") {
				o, n = o.with(owner), n+1
				counts[owner]++
			} else {
				o = o.without(owner)
				if counts[owner] > 0 {
					counts[owner]--
					n--
				}
			}
			if o.has(owner) != (counts[owner] > 0) || o.Len() != n {
				t.Fatalf("%q: has %v: %v, want %d of %d", o.list, owner, o.has(owner),
					counts[owner], n)
			}
		}
	})
}

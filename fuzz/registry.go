package fuzz

import (
	"fmt"
	"slices"
	"strings"
)

// builtin makes the built-in workloads, one line for each, those of one kind
// together and the recommended implementation of a kind first. Everything else
// that lists workloads is derived from it.
var builtin = []func() Workload{
	fairLock,
	herdLock,
	writeLock,
	clientLock,
	reentrantLock,
	fairRWLock,
	versionRWLock,
	leaseSemaphore,
	orderedMultiLock,
	revocableLock,
	fifoQueue,
	apacheQueue,
	lockQueue,
	leaderLatch,
	leaderSelector,
	fixedBarrier,
	doubleBarrier,
	priorityQueue,
	delayQueue,
	idQueue,
	turnQueue,
	recordedCounter,
	recordedValue,
	treeCache,
	childrenCache,
	nodeCache,
	blockIDs,
	configCenter,
	watchedGroup,
	twoLevelRegistry,
}

// Workloads lists the built-in workloads, for each kind of object the recommended
// implementation first.
func Workloads() []Workload {
	list := make([]Workload, len(builtin))
	for i, make := range builtin {
		list[i] = make()
	}
	return list
}

// Kinds lists the kinds of objects that there are built-in workloads of.
func Kinds() []string {
	var names []string
	for _, w := range Workloads() {
		if !slices.Contains(names, w.Name) {
			names = append(names, w.Name)
		}
	}
	return names
}

// Find returns a built-in workload. An empty impl means the recommended one.
func Find(name, impl string) (Workload, error) {
	var known []string
	for _, w := range Workloads() {
		if w.Name != name {
			continue
		}
		if impl == "" || w.Impl == impl {
			return w, nil
		}
		known = append(known, w.Impl)
	}
	if known == nil {
		return Workload{}, fmt.Errorf("unknown workload %q; expected %s", name, oneOf(Kinds()))
	}
	return Workload{}, fmt.Errorf("workload %s has no implementation %q; expected one of %q", name, impl, known)
}

// oneOf lists names as a choice: "a, b or c".
func oneOf(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

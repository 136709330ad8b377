package overlay

// An edit changes one place of a file of Go's standard library. All texts are single lines, so that
// the numbers of lines stay.
type edit struct {
	file string // below GOROOT/src
	// in is the function or type with the place, such as "lockSlow", "(*Mutex).lockSlow" or "type
	// g". Without it, the place is anywhere in the file.
	in string
	// find is the text to replace. It must be there as often as times says; 0 means once. "{" is the
	// beginning of the body, and "}" its end: there, text is inserted.
	find  string
	times int
	with  string
	// only is the number N of the release 1.N with this place; 0 means every known one.
	only int
}

// releases are the releases 1.N of Go for which the edits are known.
var releases = []int{26, 27}

// edits are all the changes. Each comment is the purpose of those below it.
var edits = []edit{
	// each goroutine has its state
	{file: "runtime/runtime2.go", in: "type g", find: "}", with: "zksim zksimG"},
	{file: "runtime/synctest.go", in: "type synctestBubble", find: "}",
		with: "zksim zksimBubble"},
	{file: "runtime/proc.go", in: "newproc1", find: "newg.bubble = callergp.bubble",
		with: "newg.bubble = callergp.bubble; zksimInherit(newg, callergp)"},

	// draws
	{file: "runtime/rand.go", in: "rand", find: "{",
		with: "if zksimBubbled() { return zksimDraw(zksimOther) };"},
	{file: "runtime/rand.go", in: "maps_rand", find: "rand()", with: "zksimMapsRand()"},
	{file: "runtime/select.go", in: "selectgo", find: "cheaprandn(", with: "zksimSelectn("},
	{file: "runtime/time.go", in: "(*timer).maybeAdd", find: "cheaprand()",
		with: "zksimTimerRand()"},
	{file: "internal/runtime/maps/map.go", find: "uintptr(rand())", times: 4,
		with: "uintptr(zksimMapSeed())"},
	{file: "math/rand/rand.go", find: "runtime.rand\n", with: "runtime.zksimMathRand\n"},
	{file: "math/rand/v2/rand.go", find: "runtime.rand\n", with: "runtime.zksimMathRand\n"},
	{file: "runtime/alg.go", find: "bootstrapRand()", times: 2, with: "zksimHashKey()", only: 26},
	{file: "internal/runtime/maps/runtime_alg.go", find: "bootstrapRand()", times: 2,
		with: "zksimHashKey()", only: 27},

	// turns
	{file: "runtime/proc.go", in: "ready", find: "runqput(", with: "zksimRunqput("},
	{file: "runtime/proc.go", in: "newproc", find: "runqput(", with: "zksimRunqput("},
	{file: "runtime/proc.go", in: "park_m", find: "{", with: "zb := zksimTakeParked(gp);"},
	{file: "runtime/proc.go", in: "park_m", find: "execute(gp, true)",
		with: "zksimGive(gp, zb); execute(gp, true)"},
	{file: "runtime/proc.go", in: "park_m", find: "schedule()",
		with: "zksimPass(zb); schedule()"},
	{file: "runtime/proc.go", in: "gdestroy", find: "{", with: "zb := zksimTake(gp);"},
	{file: "runtime/proc.go", in: "gdestroy", find: "dropg()", with: "dropg(); zksimPass(zb)"},
	{file: "runtime/coro.go", in: "coroswitch_m", find: "{", with: "zb := zksimTake(gp);"},
	{file: "runtime/coro.go", in: "coroswitch_m", find: "gogo(",
		with: "zksimGive(gnext, zb); gogo("},
	{file: "runtime/proc.go", in: "Gosched", find: "{",
		with: "if zksimBubbled() && zksimGosched(sys.GetCallerPC()) { return };"},

	// virtual time and mutexes
	{file: "runtime/synctest.go", in: "(*synctestBubble).changegstatus",
		find: "gp.waitreason.isIdleInSynctest()", times: 2, with: "zksimIdle(bubble, gp)"},
	{file: "runtime/synctest.go", in: "(*synctestBubble).changegstatus",
		find: "\tlock(&bubble.mu)\n",
		with: "\tlock(&bubble.mu); zksimNote(bubble, gp, oldval, newval)\n"},
	{file: "runtime/synctest.go", in: "(*synctestBubble).maybeWakeLocked",
		find: "bubble.active > 0", with: "bubble.active > 0 || zksimAwaitsOutside(bubble)"},
	{file: "runtime/synctest.go", in: "synctestidle_c",
		find: "gp.bubble.active == 1",
		with: "gp.bubble.active == 1 && !zksimAwaitsOutside(gp.bubble)"},
	{file: "runtime/sema.go", in: "internal_sync_runtime_SemacquireMutex", find: "{",
		with: "getg().zksim.sema = uintptr(unsafe.Pointer(addr));"},
	{file: "runtime/sema.go", in: "sync_runtime_SemacquireRWMutexR", find: "{",
		with: "getg().zksim.sema = uintptr(unsafe.Pointer(addr));"},
	{file: "runtime/sema.go", in: "sync_runtime_SemacquireRWMutex", find: "{",
		with: "getg().zksim.sema = uintptr(unsafe.Pointer(addr));"},
	{file: "runtime/sema.go", in: "internal_sync_runtime_SemacquireMutex", find: "}",
		with: "getg().zksim.sema = 0"},
	{file: "runtime/sema.go", in: "sync_runtime_SemacquireRWMutexR", find: "}",
		with: "getg().zksim.sema = 0"},
	{file: "runtime/sema.go", in: "sync_runtime_SemacquireRWMutex", find: "}",
		with: "getg().zksim.sema = 0"},
	{file: "internal/sync/mutex.go", in: "(*Mutex).lockSlow", find: "{",
		with: "if zksimOn != 0 && m.zksimLock() { return };"},
	{file: "internal/sync/mutex.go", in: "(*Mutex).TryLock", find: "{",
		with: "if zksimOn != 0 { return m.zksimLock() };"},
	{file: "internal/sync/mutex.go", in: "(*Mutex).Lock", find: "if atomic.",
		with: "if zksimOn == 0 && atomic."},
	{file: "internal/sync/mutex.go", in: "(*Mutex).lockSlow", find: "}",
		with: "if zksimOn != 0 { zksimHold(&m.sema) }"},
	{file: "internal/sync/mutex.go", in: "(*Mutex).lockSlow", find: "runtime_nanotime()", times: 2,
		with: "zksimNanotime()"},
	{file: "internal/sync/mutex.go", in: "(*Mutex).Unlock", find: "new != 0",
		with: "new != 0 || zksimOn != 0"},
	{file: "internal/sync/mutex.go", in: "(*Mutex).unlockSlow", find: "{",
		with: "if zksimOn != 0 { zksimDrop(&m.sema); if new == 0 { return } };"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).RLock", find: "if rw.readerCount.Add(1) < 0",
		with: "if readers := rw.readerCount.Add(1); readers < 0 || zksimOn != 0"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).RLock",
		find: "runtime_SemacquireRWMutexR(&rw.readerSem, false, 0)",
		with: "zksimRLock(rw, readers)"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).TryRLock", find: "return true",
		with: "if zksimOn != 0 { zksimHold(&rw.writerSem) }; return true"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).TryRLock", find: "{",
		with: "if zksimOn != 0 && zksimTryRLock(rw) { return true };"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).RUnlock", find: "r < 0",
		with: "r < 0 || zksimOn != 0"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).rUnlockSlow", find: "{",
		with: "if zksimOn != 0 { zksimDrop(&rw.writerSem); if r >= 0 { return } };"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).Lock", find: "rw.w.Lock()",
		with: "rw.w.Lock(); if zksimOn != 0 { zksimHold(&rw.readerSem) }"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).TryLock",
		find: "if !rw.readerCount.CompareAndSwap(0,",
		with: "if zksimOn != 0 { zksimAwaitReaders(rw) }; if !rw.readerCount.CompareAndSwap(0,"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).TryLock", find: "return true",
		with: "if zksimOn != 0 { zksimHold(&rw.readerSem) }; return true"},
	{file: "sync/rwmutex.go", in: "(*RWMutex).Unlock", find: "rw.w.Unlock()",
		with: "if zksimOn != 0 { zksimDrop(&rw.readerSem) }; rw.w.Unlock()"},

	// the network
	{file: "net/dial.go", in: "(*Dialer).DialContext", find: "{",
		with: "if c, err, ok := d.zksimDial(ctx, network, address); ok { return c, err };"},
	{file: "net/lookup.go", in: "(*Resolver).LookupHost", find: "{",
		with: "if addrs, ok := zksimLookupHost(host); ok { return addrs, nil };"},
	{file: "net/lookup.go", in: "(*Resolver).lookupIPAddr", find: "{",
		with: "if addrs, ok := zksimLookupIPAddr(host); ok { return addrs, nil };"},
	{file: "net/lookup.go", in: "(*Resolver).LookupAddr", find: "{",
		with: "if names, err, ok := zksimLookupAddr(addr); ok { return names, err };"},
}

// added are the files of std with code of our own, and their places below GOROOT/src.
var added = map[string]string{
	"runtime.go.txt":       "runtime/zksim.go",
	"maps.go.txt":          "internal/runtime/maps/zksim.go",
	"internal_sync.go.txt": "internal/sync/zksim.go",
	"sync.go.txt":          "sync/zksim.go",
	"net.go.txt":           "net/zksim.go",
}

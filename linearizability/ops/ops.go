// Package ops has the names of the operations of each kind of object, and the inputs and outputs
// that are fixed words:
//
//	recorder.Call("a", ops.Offer, "x").OK(linearizability.Result{})
//	recorder.Call("b", ops.Poll, "").OK(linearizability.Result{Empty: true})
//
// A name is the Kind of a linearizability.Op. The comment of each constant describes Input and
// Output. An Input or Output that is not mentioned is "". Empty marks an operation that found
// nothing.
package ops

// Close is an operation of any object: the client releases everything that it holds.
const Close = "close"

// Locks. A release of any kind that succeeds without a hold has no effect, and is no violation: a
// caller may repeat a release until it succeeds.
const (
	Lock   = "lock"   // of a read-write lock Input is the mode; Token is the fencing token
	Unlock = "unlock" // likewise

	Use = "use" // read the fencing token of a hold once more; Input is that of its grant

	ReadMode  = "read"
	WriteMode = "write"
)

// Semaphores.
const (
	Acquire = "acquire" // a lease; Input tells several of one client apart
	Release = "release" // likewise; of a queue with locks: give the element in Input back
)

// Revocable locks: the time in which a client holds one, until it is asked to give it up.
const (
	Hold = "hold" // Output is the reason of its end

	Revoked = "revoked" // the client was asked
	Lost    = "lost"    // the lock was lost
	Over    = "over"    // the client no longer needed it
)

// Leader elections.
const (
	Lead   = "lead"   // until the client leads; Token is the epoch, the czxid of its znode
	Resign = "resign" // give leadership up
	Leader = "leader" // ask for the leader: its name in Output and its epoch in Token, or Empty
)

// Queues. The Input of an offer to a priority queue, a delay queue or a queue with ids is made by
// queue.Prioritized, Due or Identified.
const (
	Offer   = "offer"   // Input is the element
	Poll    = "poll"    // take the first element into Output, or find the queue Empty
	Take    = "take"    // wait for an element, then take it into Output
	Peek    = "peek"    // see the first element in Output, or find the queue Empty
	Ack     = "ack"     // of a queue with locks: the client is done with the element in Input
	Discard = "discard" // remove all elements with the id in Input; Output is their number
)

// Shared values. A value with a version is made by value.Versioned; a version may be left
// out where it is not known.
const (
	Read  = "read"  // Output is the value and its version, or Empty: it does not exist
	Write = "write" // Input is the value to set, Output that with its new version
	CAS   = "cas"   // Input is the value and the expected version, Output that with its new one;
	// of a register without versions Input is made by value.OldNew
	Remove = "remove" // the value, or the barrier, ceases to exist

	Refused = "refused" // Output of a CAS that found another version, and of a Remove of nothing
)

// Counters and generators of numbers.
const (
	Add  = "add"  // Input is the number to add, Output the value after that, or "" if not known
	Get  = "get"  // Output is the value
	Next = "next" // take a number; Output is the number
)

// Barriers. A barrier is removed by Remove.
const (
	Set   = "set"   // put it up; of a threshold barrier Input is the number of members
	Wait  = "wait"  // until it is down, or open
	IsSet = "isset" // Output is "true" or "false"
	Enter = "enter" // a double barrier; Input is the number of members
	Leave = "leave" // a double barrier; of a group Input is the instance
)

// Two-phase commits. Input begins with the name of the transaction; then come, after a blank, the
// site that it is about, and of a vote "yes" or "no": "t1 a yes".
const (
	Begin  = "begin" // Input is made by twophase.BeginInput
	Vote   = "vote"
	Await  = "await" // the decision, in Output, or Empty: there is no such transaction
	Done   = "done"  // a site has carried out the decision
	Forget = "forget"

	Commit = "commit" // Output of an Await
	Abort  = "abort"  // likewise
)

// Groups and service registries. An instance is a path below that of the object: of a group its
// member's name ("a"), of a registry service and instance ("web/a"). An instance leaves by Leave.
const (
	Join   = "join"   // register; Input is the instance and its data: "web/a=data"
	Update = "update" // of the data; Input likewise
	Evict  = "evict"  // delete another client's znode; Input is the instance
	Spoil  = "spoil"  // write into another client's znode; Input is the instance
	View   = "view"   // Output is the view: "a,b" of a group, "web/a=data" of a registry
	Pick   = "pick"   // Input is a service, Output the instance that was chosen, or Empty
)

// Caches. The output of a look is a cache.Look.
const (
	Ready  = "ready"  // wait until the cache has read everything once
	Look   = "look"   // read the cache
	Settle = "settle" // wait until faults are over and the cache is not stale, then look
)

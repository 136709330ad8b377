package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// ErrLeases is returned when the semaphore on the server has another number of leases than this
// handle, and when a caller wants more leases than there are, or less than one. It is wrapped
// together with the numbers.
var ErrLeases = errors.New("number of leases differs")

// Semaphore admits a fixed number of holders at once, one for each lease. One handle can hold
// several leases. Methods may be called from several goroutines.
//
// It guarantees:
//
//   - At the server no more leases are held than the semaphore has: the holders are the sessions
//     with the oldest live nodes. As with Lock, the own node is read once more before Acquire
//     returns.
//   - Order: waiters get leases in the order of their arrival.
//   - A release wakes one waiter: only the first waiter watches the leases, and each other waiter
//     waits for the one before it. A lease that becomes free while a waiter reads can wake that
//     waiter a second time, for nothing.
//   - All handles agree on the number of leases: it is stored at the server, and Acquire returns
//     ErrLeases if the handle was made with another number.
//   - Nothing is left behind, as with Lock: a lease goes with Release, with an Acquire that fails,
//     or with the session, even if replies are lost.
//
// When the connection is lost, a waiter goes on waiting and a lease stays held, as the session may
// live on. Lost is closed before the session can have expired, see SessionTimeout. When the session
// ends, a waiter begins again in the new one, and Lost of each lease is closed as soon as the
// client learns of the end. A done context ends the wait, but no lease.
//
// It cannot guarantee that a holder which is paused beyond the end of its session knows of the
// loss. A Token does not help here as it does with Lock: holders do not exclude each other.
//
// Layout: <path>, persistent, data = number of leases in decimal;
// <path>/leases/_c_<guid>-lease-<sequence>, ephemeral; <path>/lock, a Lock for the waiters. To
// change the number of leases, set the data while there are no waiters, and make new handles.
//
// Sources: Curator's InterProcessSemaphoreV2; CURATOR-335 and 462 (leases left behind).
type Semaphore struct {
	lifecycle
	leases int
	queue  *hold.Turnstile // of the waiters

	mu   sync.Mutex
	held []*Lease // not released yet, oldest first
}

// leaseMarker stands before the sequence number of a lease's node.
const leaseMarker = "lease-"

// NewSemaphore makes a handle for the semaphore at path; fewer than 1 lease means 1. path is
// created when needed and must be used for this semaphore only. It sends nothing. The options that
// matter are ACL, Data, SessionTimeout, RecheckEvery and Retry.
func NewSemaphore(conn Conn, path string, leases int, opts ...Option) *Semaphore {
	s := &Semaphore{lifecycle: newLifecycle(conn, "semaphore", path, opts), leases: max(1, leases)}
	s.queue = newLockLine(request.Join(path, "lock"), s.tasks.Opts)
	return s
}

func (s *Semaphore) dir() string { return request.Join(s.tasks.Path, "leases") }

// Acquire waits until a lease is held, ctx is done, or the server refuses. It outlives lost
// connections and ended sessions, as Lock of the type Lock does. After an error no lease is held,
// and its nodes are removed, in the background if need be.
func (s *Semaphore) Acquire(ctx context.Context) (*Lease, error) {
	return one(s.AcquireN(ctx, 1))
}

// AcquireN is Acquire for n leases, all or none. They are released one by one. It returns ErrLeases
// if the semaphore has fewer leases, and if n is less than 1.
//
// One caller at a time gathers its leases while all other callers wait, so calls of AcquireN cannot
// deadlock with each other. But callers that call AcquireN while they hold leases can wait for each
// other for ever.
func (s *Semaphore) AcquireN(ctx context.Context, n int) ([]*Lease, error) {
	leases, _, err := task.Run(ctx, s.tasks, func(
		r *request.Sender, t *task.Task[[]*Lease],
	) ([]*Lease, error) {
		if n < 1 || n > s.leases {
			return nil, fmt.Errorf("%w: %d are wanted, expected 1 to %d", ErrLeases, n, s.leases)
		}
		return request.WithRestarts(r, func() ([]*Lease, error) { return s.inTurn(r, t, n) })
	})
	return leases, s.tasks.Explain("acquire", err)
}

// TryAcquire is Acquire without the wait for other holders: it returns false if no lease is free.
// It does not join the queue, and may overtake a waiter. It does wait for the connection.
func (s *Semaphore) TryAcquire(ctx context.Context) (lease *Lease, ok bool, err error) {
	leases, _, err := task.Run(ctx, s.tasks, func(
		r *request.Sender, t *task.Task[[]*Lease],
	) ([]*Lease, error) {
		return request.WithRestarts(r, func() ([]*Lease, error) {
			if err := s.ensureSize(r); err != nil {
				return nil, err
			}
			held, err := s.attempt(r, nil)
			if held == nil {
				return nil, err
			}
			return s.keep(r, t, []*hold.Hold{held})
		})
	})
	lease, err = one(leases, s.tasks.Explain("try acquire", err))
	return lease, lease != nil, err
}

// Do is Do of the type Lock for one lease.
func (s *Semaphore) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	lease, err := s.Acquire(ctx)
	if err != nil {
		return err
	}
	return hold.Under(ctx, s.tasks, lease.hold, ErrLost, lease.Release, work)
}

// one returns the first lease, if there is one.
func one(leases []*Lease, err error) (*Lease, error) {
	if len(leases) == 0 {
		return nil, err
	}
	return leases[0], err
}

// Participants returns the holders of the leases, a Member for each lease, and the waiters in the
// order of their turns. A caller that is gathering several leases is among both. The waiters and
// the leases are listed one after the other, each at some moment during the call; members that
// leave before their node is read are left out. Participants waits for the connection.
func (s *Semaphore) Participants(ctx context.Context) (holders, waiters []Member, err error) {
	return participantsOf(ctx, s.tasks, func(r *request.Sender) (hold.Participants, error) {
		line, err := hold.ReadParticipants(
			r, s.queue.Dir, s.queue.Markers,
			func([]request.Numbered, int) bool { return false },
		)
		if err != nil {
			return hold.Participants{}, err
		}
		leases, err := hold.ReadParticipants(
			r, s.dir(), []string{leaseMarker}, func(_ []request.Numbered, own int) bool {
				return own < s.leases
			},
		)
		return hold.Participants{Holders: leases.Holders, Waiters: line.Waiters}, err
	})
}

// Close ends acquisitions under way, gives all leases back, and waits until nothing is left to
// clean up or ctx is done; in the latter case the clean-up goes on. Afterwards Acquire and
// TryAcquire return ErrClosed. It leaves the Conn open. It returns the first error by which the
// server has refused to remove a node of this handle.
func (s *Semaphore) Close(ctx context.Context) error {
	s.mu.Lock()
	s.tasks.Cancel(ErrClosed)
	held := slices.Clone(s.held)
	s.mu.Unlock()
	for _, l := range held {
		l.giveBack()
	}
	return s.tasks.Close(ctx)
}

// Lease is one of the leases of a Semaphore, held from Acquire to Release. Methods may be called
// from several goroutines.
type Lease struct {
	s       *Semaphore
	hold    *hold.Hold
	release *task.Task[struct{}] // nil: not released; guarded by the semaphore's mu
}

// Lost returns a channel that is closed when the lease has ended. The causes are Release, Close, a
// node that another client has deleted or changed, a session that has expired or was replaced, a
// closed Conn, and a connection that was down for too long.
//
// It is a hint, and can come late: see the limits in the package comment. A lost lease must be
// released, too.
func (l *Lease) Lost() <-chan struct{} { return l.hold.Ended }

// Token returns the czxid of the lease's node. Later leases have greater ones.
func (l *Lease) Token() int64 { return l.hold.Token }

// Path returns the path of the lease's node.
func (l *Lease) Path() string { return l.hold.Path }

// Release gives the lease back. It ends the lease and closes Lost before the first request. The
// deletion of the node is repeated until the server has confirmed it.
//
// Release returns nil after the confirmation. If ctx is done first, or from the start, it returns
// an error after a moment. The deletion then goes on in the background until the server confirms or
// refuses it, or the Conn is closed. A second call of Release waits for the same deletion.
func (l *Lease) Release(ctx context.Context) error {
	_, known, err := l.giveBack().Await(ctx)
	err = request.AmbiguousIf(!known || errors.Is(err, ErrConnClosed), err)
	return l.s.tasks.Explain("release lease of", err)
}

// giveBack begins the release, once.
func (l *Lease) giveBack() *task.Task[struct{}] {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.release != nil {
		return l.release
	}
	l.hold.End()
	l.s.held = slices.DeleteFunc(l.s.held, func(held *Lease) bool { return held == l })
	l.release = l.s.tasks.CleanUp(nil, l.hold.Release)
	return l.release
}

package fakezk

import (
	"errors"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
)

// ErrStopped is the error of dialing a stopped Server.
var ErrStopped = errors.New("fakezk: server is stopped")

// Server is an in-memory ZooKeeper, or an ensemble of several servers, that runs in real time, or
// in the virtual time of the testing/synctest bubble in which it was made. Its methods may be
// called from any goroutine. Use Start in tests and New elsewhere.
type Server struct {
	opts   Options
	bubble string // of the caller of New

	// mu guards the engine and the parts below. Three lock it: the exported methods of Server, the
	// front when a client connects, writes or goes, and an alarm when it rings. All other methods
	// of the parts are called with the lock held, and do not block. The fields of a part are used
	// by its own methods only. Goroutines that wait for a client or a logger have no lock, or that
	// of their own outbox.
	mu    sync.Mutex
	turns turns // of long work

	engine   *engine.Engine
	names    *sessionNames
	recorder *recorder
	links    *links    // who is connected
	words    *words    // the four-letter words
	pipeline *pipeline // the way of a request to the engine, and of its answers to the links
	faults   *injector // holds up the pipeline, and takes servers down
	absences *absences // which servers faults keep from the others
	ensemble *ensemble // which servers run and lead
	expiry   *expiry   // wakes the engine at its deadlines
	survey   *survey   // that a turn has interrupted, or nil
	front    *front    // lets clients in
}

// New returns a running server. Close it when done.
func New(opts Options) *Server {
	now := time.Now()
	opts = opts.withDefaults()
	s := &Server{opts: opts, bubble: bubbleNumber(), names: newSessionNames()}
	s.turns.mu = &s.mu
	s.recorder = newRecorder(opts, now, s.names)
	s.links = newLinks(opts, s.names, s.recorder)
	s.words = newWords(opts, now, s.links, &s.turns)
	cfg := opts.engineConfig()
	cfg.Observe = s.observe
	cfg.Interrupted = s.turns.interrupted
	servers := carry.NewServers()
	cfg.Silent = func(server int) bool { return servers.IsSilent(server, s.faults.now()) }
	s.engine = engine.New(cfg, now)
	s.words.engine = s.engine
	// These four call each other.
	s.pipeline, s.faults = &pipeline{}, &injector{}
	s.absences, s.ensemble = &absences{}, &ensemble{}
	s.expiry = &expiry{engine: s.engine, pipeline: s.pipeline, ensemble: s.ensemble}
	s.expiry.alarm = alarm{mu: &s.mu, ring: s.expiry.tick}
	*s.pipeline = pipeline{
		engine: s.engine, names: s.names, recorder: s.recorder, links: s.links, words: s.words,
		faults: s.faults, ensemble: s.ensemble,
	}
	*s.faults = injector{
		opts: opts, engine: s.engine, names: s.names, recorder: s.recorder, links: s.links,
		pipeline: s.pipeline, absences: s.absences, ensemble: s.ensemble, began: now,
	}
	s.faults.alarm = alarm{mu: &s.mu, ring: func() { s.faults.wake(); s.expiry.schedule() }}
	*s.ensemble = ensemble{
		engine: s.engine, recorder: s.recorder, links: s.links, pipeline: s.pipeline,
		faults: s.faults, absences: s.absences, stopped: make([]bool, opts.Servers),
	}
	servers.Serve(carry.Ensemble{
		Servers: opts.Servers, Leader: s.engine.Leader, Tick: opts.TickTime,
		Stopped: s.ensemble.isStopped,
	})
	*s.absences = absences{engine: s.engine, faults: s.faults, ensemble: s.ensemble,
		servers: servers, givesUp: map[int]time.Duration{}}
	s.front = newFront(s)
	if opts.Servers > 1 {
		s.ensemble.electFor(0)
	}
	return s
}

// observe is called with every reaction of the engine.
func (s *Server) observe(frameBytes int, r engine.Reaction) {
	s.words.count(frameBytes, r)
	if s.survey != nil {
		s.survey.note(r.Applied)
	}
}

// Close stops the server for good. It accepts no more connections, closes every connection after
// its queue is written (a client that does not read gets a second for that), and waits for the
// goroutines that served TCP and for the log.
func (s *Server) Close() error {
	s.turns.lockAndInterrupt()
	s.front.close()
	s.ensemble.stop(s.ensemble.all())
	s.faults.end()
	s.expiry.schedule()
	s.mu.Unlock()
	s.front.serving.Wait()
	s.mu.Lock()
	s.recorder.log.end()
	s.mu.Unlock()
	s.recorder.log.wait()
	return nil
}

package realzk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// ErrMissing is wrapped by the error of Launch if there is no Java or no ZooKeeper; the message
// tells how to get it.
var ErrMissing = errors.New("no ZooKeeper here")

// Server is a running ZooKeeper. Its methods may be called from any goroutine.
type Server struct {
	address string
	folder  string
	command []string   // that starts it, java first
	number  int        // in its ensemble, from 0
	between *between   // nil unless the ensemble is Cuttable
	mu      sync.Mutex // guards the fields below; held by Stop and Restart to their end
	process *process   // nil if the server was not started by this package
	stopped bool
	stopErr error
}

// Start returns a running server that is stopped when the test ends. It skips the
// test if Java or ZooKeeper is missing, or if ZKSIM_REAL_ZOOKEEPER names a server and
// the test asks for options. It fails the test if the server does not answer in time.
// If the test fails, it logs the end of the server's log.
func Start(t testing.TB, opts Options) *Server {
	t.Helper()
	if address := os.Getenv(givenServer); address != "" && !reflect.ValueOf(opts).IsZero() {
		t.Skipf("the test needs a fresh server with its own options, not the one of %s=%s",
			givenServer, address)
	}
	s, err := Launch(context.Background(), opts)
	switch {
	case errors.Is(err, ErrMissing):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	s.endWith(t)
	return s
}

// endWith stops the server when the test ends.
func (s *Server) endWith(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() {
			log := s.Log()
			t.Logf("the end of ZooKeeper's log:\n%s", log[max(0, len(log)-shownLog):])
		}
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// Launch starts a server and returns when it answers. The error wraps ErrMissing if
// Java or ZooKeeper is missing. ctx bounds the start only; call Stop at the end. The
// server of ZKSIM_REAL_ZOOKEEPER is used whatever the options are.
func Launch(ctx context.Context, opts Options) (*Server, error) {
	if address := os.Getenv(givenServer); address != "" {
		if err := waitUntilServing(ctx, address, nil); err != nil {
			return nil, fmt.Errorf("%s=%s: %w", givenServer, address, err)
		}
		return &Server{address: address}, nil
	}
	for try := 1; ; try++ {
		s, err := launch(ctx, opts)
		if err == nil || try == maxTries || !errors.Is(err, errPortTaken) {
			return s, err
		}
	}
}

const (
	givenServer = "ZKSIM_REAL_ZOOKEEPER"

	maxTries = 3
	shownLog = 2 << 10 // bytes
)

// Address is host:port, for a client.
func (s *Server) Address() string { return s.address }

// PID is the process ID of the server. It is 0 for a server that this package did not start.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return 0
	}
	return s.process.cmd.Process.Pid
}

// Ask returns the answer to a four-letter word.
func (s *Server) Ask(ctx context.Context, word string) (string, error) {
	return ask(ctx, s.address, word)
}

// Log is the end of the server's output, 64 KiB at most. It is empty for a server
// that this package did not start.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return ""
	}
	return s.process.log.String()
}

// DataDir is the folder of the server's snapshots and transaction logs (dataDir of
// its configuration). It is empty for a server that this package did not start.
func (s *Server) DataDir() string { return s.folder }

// Stop kills the server, waits for its end and deletes its folder. Later calls
// return the same error.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || s.stopped {
		return s.stopErr
	}
	s.stopped = true
	if err := errors.Join(s.process.kill(), os.RemoveAll(s.folder)); err != nil {
		s.stopErr = fmt.Errorf("stop ZooKeeper: %w", err)
	}
	return s.stopErr
}

// StandStill stops all work of the server, or lets it go on. One that was killed meanwhile is
// running. A server that this package did not start is an error.
func (s *Server) StandStill(still bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || s.stopped {
		return fmt.Errorf("stop the work of ZooKeeper: %w", errNotOurs)
	}
	return standStill(s.process.cmd, still)
}

// Restart kills the server, waits for its end and for the time down, and starts it
// again at the same address with the same data. It returns when the server answers.
// After an error no server runs. A server that this package did not start is an error.
func (s *Server) Restart(ctx context.Context, down time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || s.stopped {
		return fmt.Errorf("restart ZooKeeper: %w", errNotOurs)
	}
	if err := s.process.kill(); err != nil {
		return fmt.Errorf("restart ZooKeeper: %w", err)
	}
	select {
	case <-time.After(down):
	case <-ctx.Done():
		return fmt.Errorf("restart ZooKeeper: %w", ctx.Err())
	}
	if err := s.start(ctx); err != nil {
		return fmt.Errorf("restart ZooKeeper: %w", err)
	}
	return nil
}

var (
	errPortTaken = errors.New("the port was taken meanwhile")
	errNotOurs   = errors.New("it was not started here, or was stopped")
)

// launch makes one attempt on one free port.
func launch(ctx context.Context, opts Options) (*Server, error) {
	ports, err := freePorts(1)
	if err != nil {
		return nil, fmt.Errorf("start ZooKeeper: %w", err)
	}
	return launchAt(ctx, ports[0], 0, opts)
}

// launchAt starts a server on a port. Its id is its number in an ensemble, 0 for a single server.
func launchAt(ctx context.Context, port, id int, opts Options) (*Server, error) {
	java, classpath, err := find()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(opts.parentFolder(), "zksim-zookeeper-*")
	if err != nil {
		return nil, fmt.Errorf("start ZooKeeper: %w", err)
	}
	s := &Server{address: fmt.Sprintf("127.0.0.1:%d", port), folder: folder}
	if err := s.run(ctx, java, classpath, port, id, opts); err != nil {
		if s.process != nil && strings.Contains(s.Log(), "BindException") {
			err = errPortTaken
		}
		err = errors.Join(err, s.Stop(), os.RemoveAll(folder))
		return nil, fmt.Errorf("start ZooKeeper: %w", err)
	}
	return s, nil
}

// run writes the configuration and starts the server.
func (s *Server) run(
	ctx context.Context, java, classpath string, port, id int, opts Options,
) error {
	main := mainClass
	if id > 0 {
		main = ensembleClass
		if err := writeID(s.folder, id); err != nil {
			return err
		}
	}
	name := filepath.Join(s.folder, "zoo.cfg")
	if err := os.WriteFile(name, opts.config(s.folder, port), 0o666); err != nil {
		return err
	}
	s.command = append(append([]string{java}, opts.flags()...), "-cp", classpath, main, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.start(ctx)
}

// start starts the process and waits until it serves.
func (s *Server) start(ctx context.Context) error {
	var err error
	if s.process, err = begin(exec.Command(s.command[0], s.command[1:]...)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := waitUntilServing(ctx, s.address, s.process); err != nil {
		return err
	}
	return checkOwn(ctx, s.address, s.folder)
}

const (
	mainClass     = "org.apache.zookeeper.server.ZooKeeperServerMain"
	ensembleClass = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
	startTimeout  = 90 * time.Second // on a busy machine
)

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/record"
	"github.com/zksim/zksim/recipes"
)

// testLock is a lock that a real program uses.
type testLock interface {
	Lock(ctx context.Context) error
	Unlock(ctx context.Context) error
	Token() int64
}

// TestARealProgramIsRecordedAndJudged: four workers share a lock on a real ZooKeeper. The lock of
// package recipes passes; one that looks for the lock and then takes it, although another worker
// was faster, does not. The transaction log of the server is its side of the history.
func TestARealProgramIsRecordedAndJudged(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	server := realzk.Start(t, realzk.Options{})
	t.Run("a good lock", func(t *testing.T) {
		file := recordWorkers(t, server, func(conn *zk.Conn) testLock {
			return recipes.NewLock(conn, "/good")
		}, func(int) {})
		for _, flags := range []string{"", " --path /good --server-log " + server.DataDir()} {
			checks(t, command.ExitOK, "lock "+file+flags,
				"safety          ok        12 grants, never two owners at once", "fencing         ok ")
		}
	})
	t.Run("a good lock of several processes", func(t *testing.T) {
		files := recordApart(t, server, worker(t, func(conn *zk.Conn) testLock {
			return recipes.NewLock(conn, "/apart")
		}, func(int) {}))
		checks(t, command.ExitViolated, "lock"+files, "only with some clocks, and --server-log would "+
			"tell: ", "host4.jsonl: ", " were added to its times; it may be ", "undecided")
		flags := " --path /apart --server-log " + server.DataDir()
		neverAccused(t, "lock"+files+flags)
		for _, file := range strings.Fields(files) {
			text, err := os.ReadFile(file)
			check.OK(t, err)
			check.OK(t, os.WriteFile(file, token.ReplaceAll(text, nil), 0o600))
		}
		neverAccused(t, "lock"+files+flags)
	})
	t.Run("a queue", func(t *testing.T) {
		file := recordAll(t, server, func(name string, conn *zk.Conn, r *record.Recorder) {
			queue := recipes.NewQueue(conn, "/queue")
			for round := range 5 {
				element := fmt.Sprintf("%s-%d", name, round)
				do(r, conn, name, ops.Offer, element, func() (linearizability.Result, error) {
					return linearizability.Result{}, queue.Offer(t.Context(), []byte(element))
				})
				do(r, conn, name, ops.Poll, "", func() (linearizability.Result, error) {
					data, ok, err := queue.Poll(t.Context())
					return linearizability.Result{Output: string(data), Empty: !ok}, err
				})
			}
		})
		checks(t, command.ExitOK, "queue "+file+" --path /queue --items /queue/items --server-log "+
			server.DataDir(), "delivery        ok ")
		zksim(t.Context(), "check queue "+file+" --path /good --server-log "+server.DataDir()).fails(t,
			command.ExitInput, "the queue has another path, "+
				"the log is of another ensemble, or no call has its session")
		text, err := os.ReadFile(file)
		check.OK(t, err)
		text = regexp.MustCompile(`,"session":"[^"]*"`).ReplaceAll(text, nil)
		check.OK(t, os.WriteFile(file, text, 0o600))
		zksim(t.Context(), "check queue "+file+" --path /queue --server-log "+server.DataDir()).fails(t,
			command.ExitInput, "or no call has its session")
	})
	t.Run("a counter", func(t *testing.T) {
		file := recordAll(t, server, func(name string, conn *zk.Conn, r *record.Recorder) {
			counter := recipes.NewCounter(conn, "/counter")
			for range 5 {
				do(r, conn, name, ops.Add, "1", func() (linearizability.Result, error) {
					n, err := counter.Add(t.Context(), 1)
					return linearizability.Result{Output: fmt.Sprint(n)}, err
				})
			}
		})
		checks(t, command.ExitOK, "counter "+file+" --path /counter --server-log "+server.DataDir(),
			"delivery        ok ")
	})
	t.Run("clients with two locks", func(t *testing.T) {
		file := recordAll(t, server, func(name string, conn *zk.Conn, r *record.Recorder) {
			other := recipes.NewLock(conn, "/two")
			if err := errors.Join(other.Lock(t.Context()), other.Unlock(t.Context())); err != nil {
				t.Error(err)
			}
			worker(t, func(conn *zk.Conn) testLock { return recipes.NewLock(conn, "/one") },
				func(int) {})(name, conn, r)
		})
		checks(t, command.ExitOK, "lock "+file+" --path /one --server-log "+server.DataDir())
		zksim(t.Context(), "check lock "+file+" --path /two --server-log "+server.DataDir()).fails(t,
			command.ExitInput, "the znodes of the tokens are not there; they are at /one")
	})
	t.Run("clients that change nothing, or have no session", func(t *testing.T) {
		file := recordAll(t, server, func(name string, conn *zk.Conn, r *record.Recorder) {
			queue := recipes.NewQueue(conn, "/empty")
			do(r, conn, name, ops.Poll, "", func() (linearizability.Result, error) {
				_, ok, err := queue.Poll(t.Context())
				return linearizability.Result{Empty: !ok}, err
			})
		})
		checks(t, command.ExitOK, "queue "+file+" --path /good --server-log "+server.DataDir(),
			"No client of the history has changed a znode of /good: the verdicts rest on calls that")
		lines, err := os.ReadFile(recordWorkers(t, server, func(conn *zk.Conn) testLock {
			return recipes.NewLock(conn, "/some")
		}, func(int) {}))
		check.OK(t, err)
		text := token.ReplaceAllString(string(lines), "")
		calls := regexp.MustCompile(`"call":(\d+),"client":"worker-2"`).FindAllStringSubmatch(text, -1)
		for _, call := range calls {
			text = regexp.MustCompile(`("call":`+call[1]+`,"outcome":"ok"),"session":"[^"]*"`).
				ReplaceAllString(text, "$1")
		}
		file = filepath.Join(t.TempDir(), "some.jsonl")
		check.OK(t, os.WriteFile(file, []byte(text), 0o600))
		zksim(t.Context(), "check lock "+file+" --path /some --server-log "+server.DataDir()).fails(t,
			command.ExitInput, "no call of worker-2 has its session, and no token shows it: "+
				"it is not known which znodes are its own")
	})
	t.Run("a broken lock", func(t *testing.T) {
		var looked, held sync.WaitGroup
		looked.Add(workers)
		held.Add(workers)
		file := recordWorkers(t, server, func(conn *zk.Conn) testLock {
			return &hastyLock{conn: conn, path: "/bad", looked: &looked}
		}, func(round int) {
			if round == 0 { // work until the others hold it, too
				held.Done()
				held.Wait()
			}
		})
		page := filepath.Join(t.TempDir(), "page.html")
		checks(t, command.ExitViolated, "lock "+file+" --html "+page, "safety is violated: ")
		checks(t, command.ExitViolated, "lock "+file+" --path /bad --server-log "+server.DataDir(),
			"safety is violated: ", "node-created /bad for worker-")
		zksim(t.Context(), "check lock "+file+" --path /worse --server-log "+server.DataDir()).fails(t,
			command.ExitInput, "no znode there; it has changed /apart, /bad, "+
				"/counter, /good, /one, /queue, /some, /two")
		zksim(t.Context(), "check lock "+file+" --path /good --server-log "+server.DataDir()).fails(t,
			command.ExitInput, "the log is of another ensemble, or no call has its session")
		_, err := os.Stat(page)
		check.OK(t, err)
	})
	t.Run("a broken lock of several processes", func(t *testing.T) {
		var looked, held sync.WaitGroup
		looked.Add(workers)
		held.Add(workers)
		files := recordApart(t, server, worker(t, func(conn *zk.Conn) testLock {
			return &hastyLock{conn: conn, path: "/badapart", looked: &looked}
		}, func(round int) {
			if round == 0 {
				held.Done()
				held.Wait()
			}
		}))
		// Some grants made no znode, so that the sessions do not show which call made which.
		got := zksim(t.Context(), "check lock"+files+" --path /badapart --server-log "+server.DataDir())
		got.has(t, command.ExitViolated, "safety ")
	})
}

// neverAccused runs zksim check on a right lock. If the machine is slow the clocks are not known
// closely enough for an ok.
func neverAccused(t *testing.T, line string) {
	t.Helper()
	got := zksim(t.Context(), "check "+line)
	check.Contains(t, got.stdout, "host4.jsonl: ")
	check.Equal(t, strings.Contains(got.stdout, "violated"), false, "%s", got.stdout)
}

// checks runs zksim check, which must not complain.
func checks(t *testing.T, status int, line string, texts ...string) {
	t.Helper()
	got := zksim(t.Context(), "check "+line)
	got.has(t, status, texts...)
	check.Equal(t, got.stderr, "", "%s", line)
}

const workers = 4

// recordWorkers lets workers lock, hold and unlock three times each, and returns the recording.
func recordWorkers(
	t *testing.T, server *realzk.Server, open func(*zk.Conn) testLock, hold func(round int),
) string {
	return recordAll(t, server, worker(t, open, hold))
}

func worker(
	t *testing.T, open func(*zk.Conn) testLock, hold func(round int),
) func(string, *zk.Conn, *record.Recorder) {
	return func(name string, conn *zk.Conn, r *record.Recorder) {
		l := open(conn)
		for round := range 3 {
			do(r, conn, name, ops.Lock, "", func() (linearizability.Result, error) {
				err := l.Lock(t.Context())
				return linearizability.Result{Token: l.Token()}, err
			})
			hold(round)
			do(r, conn, name, ops.Unlock, "", func() (linearizability.Result, error) {
				return linearizability.Result{}, l.Unlock(t.Context())
			})
		}
	}
}

// recordApart is recordAll with a file for each worker. The clock of each is a minute behind that
// of the one before.
func recordApart(
	t *testing.T, server *realzk.Server, work func(string, *zk.Conn, *record.Recorder),
) (files string) {
	t.Helper()
	dir := t.TempDir()
	var all sync.WaitGroup
	for n := range workers {
		conn := connect(t, server)
		var lines bytes.Buffer
		recorder := record.New(&lines)
		file := filepath.Join(dir, fmt.Sprintf("host%d.jsonl", n+1))
		files += " " + file
		all.Go(func() {
			work(fmt.Sprintf("worker-%d", n+1), conn, recorder)
			if err := recorder.Close(); err != nil {
				t.Error(err)
			}
			first, rest, _ := strings.Cut(lines.String(), "\n")
			first = began.ReplaceAllStringFunc(clock.ReplaceAllString(first, ""), func(at string) string {
				right, err := time.Parse(time.RFC3339Nano, at)
				if err != nil {
					t.Error(err)
				}
				return right.Add(-time.Duration(n) * time.Minute).Format(time.RFC3339Nano)
			})
			if err := os.WriteFile(file, []byte(first+"\n"+rest), 0o600); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return files
}

var (
	began = regexp.MustCompile(`\d{4}-[^"]*`)
	clock = regexp.MustCompile(`,"clock":"[^"]*"`)
	token = regexp.MustCompile(`,"token":\d+`)
)

// recordAll lets workers work at the same time, and returns the recording.
func recordAll(
	t *testing.T, server *realzk.Server, work func(string, *zk.Conn, *record.Recorder),
) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "history.jsonl"))
	check.OK(t, err)
	recorder := record.New(file)
	var all sync.WaitGroup
	for n := range workers {
		conn := connect(t, server)
		all.Go(func() { work(fmt.Sprintf("worker-%d", n+1), conn, recorder) })
	}
	all.Wait()
	check.OK(t, recorder.Close())
	check.OK(t, file.Close())
	return file.Name()
}

// do records one operation.
func do(
	r *record.Recorder, conn *zk.Conn, client, kind, input string,
	operation func() (linearizability.Result, error),
) {
	call := r.Call(client, kind, input)
	result, err := operation()
	result.Session = conn.SessionID()
	if err != nil {
		call.Unknown(result, err)
		return
	}
	call.OK(result)
}

// hastyLock is broken: if no node is there it takes the lock, even if another client is faster in
// making the node. All clients look for the first time before any of them goes on.
type hastyLock struct {
	conn   *zk.Conn
	path   string
	looked *sync.WaitGroup
	again  bool
}

func (l *hastyLock) Lock(ctx context.Context) error {
	for ctx.Err() == nil {
		exists, _, err := l.conn.Exists(l.path)
		if !l.again {
			l.again = true
			l.looked.Done()
			l.looked.Wait()
		}
		if err != nil {
			return err
		}
		if exists {
			continue
		}
		_, err = l.conn.Create(l.path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		return nil
	}
	return ctx.Err()
}

func (l *hastyLock) Unlock(context.Context) error {
	if err := l.conn.Delete(l.path, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	return nil
}

func (l *hastyLock) Token() int64 { return 0 }

func connect(t *testing.T, server *realzk.Server) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{server.Address()}, 10*time.Second, zk.WithLogInfo(false))
	check.OK(t, err)
	t.Cleanup(conn.Close)
	return conn
}

package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/tree"
)

// A Command is zksim serve with its flags.
type Command struct {
	Addr    string `help:"Address to listen on, 127.0.0.1:2181 unless given; port 0 takes a free one." default:"127.0.0.1:2181" placeholder:"HOST:PORT"`
	Servers int    `help:"Servers of an ensemble, 1 to 7; they have ports that follow one another." default:"1"`

	TLSCert     string `help:"Certificate chain, PEM; clients must use TLS then." name:"tls-cert" placeholder:"FILE"`
	TLSKey      string `help:"Key of the certificate, PEM." name:"tls-key" placeholder:"FILE"`
	TLSClientCA string `help:"Certificate authorities, PEM; clients must show a certificate of theirs then." name:"tls-client-ca" placeholder:"FILE"`

	serverFlags `embed:""`

	Load        string   `help:"Tree to begin with: a file .yaml, .yml or .json, also one of zk-shell, or the data directory of a ZooKeeper." placeholder:"FILE"`
	LoadWithout []string `help:"Files of that directory that are left out, such as a damaged log.1a." placeholder:"NAME,..."`
	Dump        string   `help:"Tree file to write when the server stops." placeholder:"FILE"`
	Plan        string   `help:"File with one fault a line; # begins a comment." placeholder:"FILE"`
	Fault       []string `help:"A fault, in the form of a line of a plan; may be repeated." sep:"none" placeholder:"LINE"`

	Control         string `help:"Address of the control endpoint, HTTP with a page at /ui; off unless given." placeholder:"HOST:PORT"`
	ControlToken    string `help:"Token that requests to --control must have: Authorization: Bearer TOKEN. The variable keeps it off the list of processes. With --control-anywhere one is drawn and printed, unless it is none." env:"ZKSIM_CONTROL_TOKEN" placeholder:"TOKEN"`
	ControlAnywhere bool   `help:"Let --control be an address that other machines can reach."`

	LogFormat string `help:"Form of the log on stderr: text or json." enum:"text,json" default:"text"`
	LogLevel  string `help:"Least important level of the log: debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
}

// Help is the text of serve --help before the flags.
func (c *Command) Help() string {
	return "It answers as a standalone ZooKeeper 3.8.0 with zookeeper.extendedTypesEnabled=true " +
		"(TTL nodes) and zookeeper.4lw.commands.whitelist=* (all four-letter words); a real " +
		"server has neither by default. A server that loads a dump continues after its zxid, so " +
		"clients that live through the restart come back, with new sessions."
}

// Run serves until an interrupt.
func (c *Command) Run(env *command.Env) error {
	s, err := c.prepare(env)
	if err != nil {
		return err
	}
	return s.run(env.Context)
}

// serving is a server with its listeners, log and dump.
type serving struct {
	server     *fakezk.Server
	listeners  []net.Listener // by number of the server
	control    *control       // nil without --control
	namespaces namespaces     // of the control endpoint
	log        *slog.Logger
	dump       string // file name, "" for none
}

// prepare checks all input and then opens the ports.
func (c *Command) prepare(env *command.Env) (_ *serving, err error) {
	s, err := c.serving(env)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err := c.fill(env.Context, s.server); err != nil {
		return nil, err
	}
	if hasNoLog(c.Load) {
		s.log.Warn("the data directory has no log: the tree is that of its last snapshot; a server "+
			"with a dataLogDir has its log there", "dir", c.Load)
	}
	if err := c.injectPlan(s.server); err != nil {
		return nil, err
	}
	return s, c.listen(env, s)
}

// serving makes the server, which has no nodes and no ports so far.
func (c *Command) serving(env *command.Env) (*serving, error) {
	opts, err := c.options()
	if err != nil {
		return nil, err
	}
	tlsConfig, err := c.tlsConfig()
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	opts.Servers, opts.Logger, opts.Trace = c.Servers, c.logger(env), c.Control != ""
	s := &serving{server: fakezk.New(opts), log: opts.Logger, dump: c.Dump}
	s.namespaces = namespaces{opts: opts, tls: tlsConfig, failed: func(name string, err error) {
		s.log.Error("namespace ends", "namespace", name, "error", err)
	}}
	return s, nil
}

// check checks the flags that options and tlsConfig leave out.
func (c *Command) check() error {
	if c.Servers < 1 || c.Servers > fakezk.MaxServers {
		return fmt.Errorf("--servers: %d; expected 1 to %d", c.Servers, fakezk.MaxServers)
	}
	if err := checkPorts(c.Addr, c.Servers); err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	if err := checkDump(c.Dump); err != nil {
		return err
	}
	if c.ControlAnywhere && c.Control == "" {
		return errors.New("--control-anywhere goes with --control only")
	}
	if len(c.LoadWithout) > 0 && c.Load == "" {
		return errors.New("--load-without goes with --load only")
	}
	if c.Control != "" {
		if err := checkPorts(c.Control, 1); err != nil {
			return fmt.Errorf("--control: %w", err)
		}
	}
	return checkToken(c.ControlToken)
}

// fill loads the tree file of --load, until ctx is done.
func (c *Command) fill(ctx context.Context, server *fakezk.Server) error {
	if c.Load == "" {
		return nil
	}
	filled := make(chan error, 1)
	go func() { filled <- c.load(server) }()
	select {
	case err := <-filled:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Command) load(server *fakezk.Server) error {
	t, err := tree.ReadFile(c.Load, c.LoadWithout...)
	if err != nil {
		return fmt.Errorf("--load: %w", err)
	}
	if err := t.Load(server); err != nil {
		return fmt.Errorf("--load: %s: %w", c.Load, err)
	}
	return nil
}

// hasNoLog reports whether a data directory has snapshots alone.
func hasNoLog(dir string) bool {
	dir = strings.TrimSuffix(filepath.Clean(dir), "version-2")
	count := func(kind string) int {
		names, _ := filepath.Glob(filepath.Join(dir, "version-2", kind+".*")) // the pattern is right
		return len(names)
	}
	return count("snapshot") > 0 && count("log") == 0
}

// listen opens the ports and prints their addresses on stdout. Clients can connect once the last
// line is printed.
func (c *Command) listen(env *command.Env, s *serving) error {
	var err error
	if s.listeners, err = listenAll(c.Addr, c.Servers); err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	addresses := addressesOf(s.listeners)
	if s.namespaces.host, _, err = net.SplitHostPort(addresses[0]); err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	if c.Control != "" {
		if err := c.openControl(env, s); err != nil {
			return fmt.Errorf("--control: %w", err)
		}
	}
	addr := connectString(addresses)
	env.Printf("listening on %s\n", addr)
	if !isLoopback(s.listeners[0].Addr()) {
		s.log.Warn("other machines can reach this server, which is for tests and trusts everybody",
			"addr", addr)
	}
	s.listeners = withTLS(s.listeners, s.namespaces.tls)
	s.log.Info("start", "addr", addr, "tls", s.namespaces.tls != nil,
		"nodes", len(s.server.Tree()), "faults", len(s.server.Faults()))
	return nil
}

// openControl opens the port of the control endpoint and prints its address, and a token that it
// has drawn.
func (c *Command) openControl(env *command.Env, s *serving) (err error) {
	token, drawn := c.token()
	if s.control, err = listenControl(c.Control,
		&access{anywhere: c.ControlAnywhere, token: token}, s); err != nil {
		return err
	}
	addr := s.control.addr()
	env.Printf("control on %s\n", addr)
	if drawn {
		env.Printf("control token %s\n", token)
	}
	if !isLoopback(addr) {
		s.log.Warn("other machines can control this server", "addr", addr.String())
	}
	return nil
}

// noToken is the value of --control-token that asks for none.
const noToken = "none"

// token is the token that requests must have, "" for none. One is drawn if other machines may reach
// the endpoint, and nothing else was said.
func (c *Command) token() (token string, drawn bool) {
	switch {
	case c.ControlToken == noToken:
		return "", false
	case c.ControlToken == "" && c.ControlAnywhere:
		return rand.Text(), true
	}
	return c.ControlToken, false
}

// run serves until ctx is done or a listener fails, and then writes the dump. It ends clients and
// the control endpoint first: the dump has every change that the server acknowledged to them.
func (s *serving) run(ctx context.Context) error {
	failed := make(chan error, 2)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { failed <- s.server.Serve(s.listeners...) })
	if s.control != nil {
		running.Go(func() { failed <- s.control.serve() })
	}
	var broken error
	select {
	case <-ctx.Done():
	case broken = <-failed:
	}
	silenced := s.closeControl()
	s.server.Stop()
	dumped := s.writeDump()
	if err := errors.Join(broken, silenced, dumped, s.close()); err != nil {
		s.log.Error("stop", "error", err)
		return command.ErrViolated
	}
	s.log.Info("stop")
	return nil
}

// writeDump writes the file of --dump.
func (s *serving) writeDump() error {
	if s.dump == "" {
		return nil
	}
	t := tree.Of(s.server)
	n, err := tree.WriteFile(s.dump, t)
	if err != nil {
		return fmt.Errorf("--dump: %w", err)
	}
	s.log.Info("dump", "file", s.dump, "nodes", len(t.Nodes))
	if n > tree.MaxBytes {
		s.log.Warn("the dump is too long for --load", "file", s.dump, "bytes", n, "limit",
			tree.MaxBytes)
	}
	return nil
}

// closeControl ends the control endpoint, if there is one. It may be called twice.
func (s *serving) closeControl() error {
	if s.control == nil {
		return nil
	}
	return s.control.close()
}

// close ends everything that prepare and run began. It may be called twice.
func (s *serving) close() error {
	return errors.Join(s.closeControl(), s.namespaces.close(), s.server.Close(),
		closeAll(s.listeners))
}

// isLoopback reports whether only this machine can reach an address.
func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// logger is the log on stderr.
func (c *Command) logger(env *command.Env) *slog.Logger {
	level := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo,
		"warn": slog.LevelWarn, "error": slog.LevelError,
	}[c.LogLevel]
	opts := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(env.Errors, opts))
	}
	return slog.New(slog.NewTextHandler(env.Errors, opts))
}

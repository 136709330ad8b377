package fault

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/spelling"
)

// A Fault is one failure in a World or on a Server: its kind and its place. [Fault.String] prints
// it as one line, which [Parse] reads back.
//
// Exactly one of Request, Event and At is set. The other selectors narrow the count: Request 2 with
// Op "create" is the second create. Coordinates are logical, so a fault keeps its meaning when
// latencies change. Pings and handshakes are never counted.
type Fault struct {
	// Kind is the kind of failure.
	Kind Kind
	// For is how long, for kinds that last (see [Kinds]); else zero.
	For time.Duration
	// Code is the error of an Error, as the trace names it: NoAuth, BadVersion, OperationTimeout,
	// ... It is empty for all other kinds.
	Code string
	// Client is the client concerned: in a World an actor, on a Server a session, as S1, the name
	// of DialerAs, or 0x and its id in hexadecimal. Empty means any client for Request and Event,
	// and all of them for At.
	Client string
	// Conn counts the client's connections from 1; 0 means any.
	Conn int
	// Server is the number, from 1, of the server of the connection, in an ensemble of several; 0
	// means any. With At it is the server concerned.
	Server int
	// Request is the n-th request (from 1) that the other selectors match.
	Request int
	// Event is the n-th watch notification (from 1) that the other selectors match.
	Event int
	// At is a virtual time since the World began, or the time since Inject.
	At time.Duration
	// Op is an operation's name, as in the trace: create, getData, multi, ...
	Op string
	// Path is a glob: * matches within one path element, a trailing /** matches every descendant.
	// The path of a multi is the path of its first operation.
	Path string
}

// A Kind names the effect of a Fault.
type Kind string

// The kinds. "The request" is the one that the fault's coordinates
// select; with At there is none, and the fault acts at that time.
const (
	// DropRequest: the request is not applied and its connection is reset.
	DropRequest Kind = "drop-request"
	// DropReply: the request is applied, its reply and everything after it on
	// that connection is lost, and the connection is reset.
	DropReply Kind = "drop-reply"
	// Cut resets the connection: after the reply of the request was delivered,
	// before the event was delivered, or at the time.
	Cut Kind = "cut"
	// CutMidFrame delivers half of the reply or event, then resets.
	CutMidFrame Kind = "cut-mid-frame"
	// Stall holds all bytes of the connection, both ways, from the request (or
	// event, or time) on, for a while; then they flow in order.
	Stall Kind = "stall"
	// StallMidFrame delivers half of the reply or event and the rest, with all
	// that follows, after a while.
	StallMidFrame Kind = "stall-mid-frame"
	// Delay holds the request, or the event, and all later messages in the same direction, for a
	// while. Replies already under way are not held.
	Delay Kind = "delay"
	// Pause: a goroutine that waits for the reply to the request gets it a while after the request
	// was applied, although the client has the reply. All else in the client goes on: its other
	// goroutines, its watches and its pings, so that the session lives.
	Pause Kind = "pause"
	// Blackhole discards, without any sign, every byte of the client's connections from the request
	// on, for ever; dials hang for a while. On a Server, a dial that hangs is served when that
	// while is over, unless the client gave it up.
	Blackhole Kind = "blackhole"
	// Refuse resets the client's connections instead of applying the request, and its dials fail
	// for a while. On a Server the dials of one session fail at their handshake, since only the
	// handshake names the session.
	Refuse Kind = "refuse"
	// Expire ends the client's session at the server before the request is
	// applied; the connection is closed, as by a real server.
	Expire Kind = "expire"
	// LateReap is Expire, but the session's ephemerals stay for a while, and new sessions see them,
	// too. The guarantees of ZooKeeper allow it, and some code relies on more; a server of 3.8
	// deletes the nodes before it begins another session. So hunts and sweeps do not draw it.
	LateReap Kind = "late-reap-unlike-3.8"
	// Restart restarts the server before the request is applied: every
	// connection is reset, dials fail for a while, data and sessions stay.
	Restart Kind = "restart"
	// Crash ends the process of the client before the request is applied, and its memory is gone.
	// The server finds its connections closed; its sessions live until they expire.
	Crash Kind = "crash"
	// Respawn is Crash, and a new process of the client begins after a while.
	Respawn Kind = "respawn"

	// Error: the request is not applied, and its reply is the error of the Code. The reply keeps
	// its place among the others. A watch that the request asks for is not set. Hunts and sweeps do
	// not draw it, because no server returns any error at will.
	Error Kind = "error"

	// Lag: the server of the client applies no change for a while, and answers reads as before. If
	// it is the leader, the other servers do not. A write, a sync or a handshake through a server
	// that lags is answered when it has caught up; on a fakezk.Server it catches up at once, and
	// lags again.
	Lag Kind = "lag"
	// Isolate: the server of the client does not reach the other servers for a while.
	//
	// A follower answers reads from what it has; writes, syncs and handshakes wait. The leader
	// hears of no client of the server, and ends their sessions in time. A follower that is
	// isolated for five ticks, the usual syncLimit, by one fault or by several that overlap, gives
	// up: its connections are reset, and dials fail until it is back.
	//
	// If the server leads, all writes wait, and no session ends meanwhile. It goes on to answer
	// reads, syncs, pings and clients that come back with their sessions, from what it has. After
	// five ticks the others elect another leader. The old one believes to lead for one more tick:
	// what it answers then may be older than a write that the new leader has acknowledged. Then it
	// gives up, and has committed no write since.
	Isolate Kind = "isolate"
	// PauseServer: the server of the client stands still for a while, as in a long garbage
	// collection, or suspended with its machine: it reads nothing, sends nothing and applies
	// nothing. Dials succeed, and their handshakes wait. Then it goes on with all that has come
	// meanwhile. While the leader stands still all writes and syncs wait, and no session ends; then
	// those end at once whose time has run out. After five ticks, the usual syncLimit, the others
	// elect another leader without it. When it goes on it believes to lead for one more tick, and
	// answers as an isolated one. Then it closes its connections and joins the others. A follower
	// that has stood still for as long joins them anew, too, as soon as it goes on.
	//
	// Two things differ from a real server that stands still. Its connections end before it goes on
	// if all servers that can lead stand still or believe to lead. A Server closes a connection
	// without a handshake after 10 to 20 s, as always, also one whose handshake waits.
	PauseServer Kind = "pause-server"
	// Elect: the servers elect a leader before the request is applied, which is lost, and that
	// takes a while. Every connection is reset, and dials fail until the leader serves. No server
	// is down, no session ends meanwhile, and each has its full timeout then. The same server may
	// lead again.
	Elect Kind = "elect"
	// FailoverLose: the leader goes down for a while before the request is applied, which is lost.
	// Every connection is reset, and dials fail until another leader is elected.
	FailoverLose Kind = "failover-lose"
	// FailoverKeep is FailoverLose, but the request is applied before; its reply is lost.
	FailoverKeep Kind = "failover-keep"
)

// KindInfo describes a Kind for people and programs.
type KindInfo struct {
	Kind Kind
	// Lasts says that the kind needs a duration.
	Lasts bool
	// OnRequest, OnEvent and OnTime say which coordinates it takes.
	OnRequest, OnEvent, OnTime bool
	// Meaning is one line of text.
	Meaning string
}

var faultKinds = []KindInfo{
	{DropRequest, false, true, false, false,
		"the connection is reset before the request is applied"},
	{DropReply, false, true, false, false,
		"the request is applied; its reply is lost with the connection"},
	{Cut, false, true, true, true,
		"the connection is reset: after the reply, before the event, or at a time"},
	{CutMidFrame, false, true, true, false,
		"half of the reply or event arrives, then the connection is reset"},
	{Stall, true, true, true, true,
		"no bytes pass either way for D, then all are delivered"},
	{StallMidFrame, true, true, true, false,
		"half of the reply or event arrives, the rest D later"},
	{Delay, true, true, true, false,
		"the request or event arrives D later"},
	{Pause, true, true, false, false,
		"the caller gets its reply D later; its client goes on"},
	{Blackhole, true, true, false, true,
		"all bytes are lost without a reset, and dials hang, for D"},
	{Refuse, true, true, false, true,
		"the connection is reset, and dials fail for D"},
	{Expire, false, true, false, true,
		"the session expires at the server before the request is applied"},
	{Restart, true, true, false, true,
		"the server restarts: all connections are reset, dials fail for D"},
	{Crash, false, true, false, true,
		"the client's process dies, and its session is left to expire"},
	{Respawn, true, true, false, true,
		"the client's process dies, and a new one begins D later"},
}

// ensembleKinds act on an ensemble of several servers only.
var ensembleKinds = []KindInfo{
	{Lag, true, true, false, true,
		"the client's server is behind for D, and its reads are old; if it leads, the others are behind"},
	{Isolate, true, true, false, true,
		"the client's server does not reach the others for D: it answers reads, and writes wait"},
	{PauseServer, true, true, false, true,
		"the client's server stands still for D; if it led, it believes for a while that it still does"},
	{Elect, true, true, false, true,
		"all connections are reset, and the servers take D to elect a leader; dials fail meanwhile"},
	{FailoverLose, true, true, false, true,
		"the leader goes down for D before the request is applied"},
	{FailoverKeep, true, true, false, false,
		"the leader goes down for D after the request is applied"},
}

// givenKinds act where somebody has written them. No plan draws them.
var givenKinds = []KindInfo{
	{Error, false, true, false, false,
		"the reply is this error, such as NoAuth, and the request is not applied"},
	{LateReap, true, true, false, true,
		"the session expires; its nodes stay for D, as the guarantees allow and 3.8 never does"},
}

// Kinds lists all kinds, in a fixed order.
func Kinds() []KindInfo { return slices.Concat(faultKinds, givenKinds, ensembleKinds) }

// Weakest lists the kinds from the most common failure to the rarest. A plan is simpler with kinds
// that come earlier.
func Weakest() []Kind {
	return []Kind{
		DropRequest, DropReply, Cut, Delay, Stall, Expire, CutMidFrame, Refuse, StallMidFrame,
		Blackhole, Pause, LateReap, Restart, Crash, Respawn, Error, Lag, Isolate,
		PauseServer, Elect, FailoverLose, FailoverKeep,
	}
}

// KindsFor lists the kinds from which plans are drawn for an ensemble with this number of servers,
// in a fixed order: all that act there, but Error and LateReap.
func KindsFor(servers int) []KindInfo {
	if servers > 1 {
		return slices.Concat(faultKinds, ensembleKinds)
	}
	return slices.Clone(faultKinds)
}

// TakesCode reports whether a fault of the kind needs a Code.
func (k Kind) TakesCode() bool { return k == Error }

// NeedsWorld reports whether the kind acts within the process of a client. Only a World can do
// that.
func (k Kind) NeedsWorld() bool { return k.EndsProcess() || k == Pause }

// EndsProcess reports whether the kind ends the process of a client.
func (k Kind) EndsProcess() bool { return k == Crash || k == Respawn }

// NeedsEnsemble reports whether the kind acts on an ensemble of several servers only.
func (k Kind) NeedsEnsemble() bool {
	return slices.ContainsFunc(ensembleKinds, func(i KindInfo) bool { return i.Kind == k })
}

// strikesServer reports whether the kind acts on one server, or on its connections, at a time.
func (k Kind) strikesServer() bool {
	return slices.Contains([]Kind{Cut, Stall, Blackhole, Refuse, Restart, Lag, Isolate,
		PauseServer}, k)
}

// Info is what is known of the kind; false if there is no such kind.
func (k Kind) Info() (KindInfo, bool) {
	for _, info := range Kinds() {
		if info.Kind == k {
			return info, true
		}
	}
	return KindInfo{}, false
}

// String is the one-line form that Parse reads.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(string(f.Kind))
	if f.For != 0 {
		fmt.Fprintf(&b, " %s", f.For)
	}
	if f.Code != "" {
		fmt.Fprintf(&b, " %s", f.Code)
	}
	text := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, " %s=%s", key, value)
		}
	}
	number := func(key string, n int) {
		if n != 0 {
			fmt.Fprintf(&b, " %s=%d", key, n)
		}
	}
	text("client", f.Client)
	number("conn", f.Conn)
	number("server", f.Server)
	text("op", f.Op)
	text("path", f.Path)
	number("request", f.Request)
	number("event", f.Event)
	if f.At != 0 {
		text("at", f.At.String())
	}
	return b.String()
}

// Parse reads the one-line form of a Fault. Its error names the wrong word and the expected one.
func Parse(line string) (Fault, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Fault{}, fmt.Errorf("fault is empty; expected a kind such as %q", DropReply)
	}
	f := Fault{Kind: Kind(words[0])}
	if _, ok := f.Kind.Info(); !ok {
		return Fault{}, unknownKind(words[0])
	}
	words = words[1:]
	if len(words) > 0 && !strings.Contains(words[0], "=") {
		if err := f.setArgument(words[0]); err != nil {
			return Fault{}, err
		}
		words = words[1:]
	}
	seen := map[string]bool{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || value == "" {
			return Fault{}, fmt.Errorf("fault %q: word %q is not key=value", line, word)
		}
		if seen[key] {
			return Fault{}, fmt.Errorf("fault %q: %s is given twice", line, key)
		}
		seen[key] = true
		if err := f.set(key, value); err != nil {
			return Fault{}, fmt.Errorf("fault %q: %w", line, err)
		}
	}
	return f, f.Validate()
}

// setArgument reads the word behind the kind.
func (f *Fault) setArgument(word string) (err error) {
	if f.Kind.TakesCode() {
		f.Code = word // Validate knows the codes
		return nil
	}
	f.For, err = parseDuration("duration", word)
	return err
}

func (f *Fault) set(key, value string) (err error) {
	switch key {
	case "client":
		f.Client = value
	case "op":
		f.Op = value
	case "path":
		f.Path = value
	case "conn":
		f.Conn, err = parseOrdinal(key, value)
	case "server":
		f.Server, err = parseOrdinal(key, value)
	case "request":
		f.Request, err = parseOrdinal(key, value)
	case "event":
		f.Event, err = parseOrdinal(key, value)
	case "at":
		f.At, err = parseDuration(key, value)
	default:
		return fmt.Errorf(
			"unknown selector %q; expected client, conn, server, op, path, request, event or at",
			key)
	}
	return err
}

func parseOrdinal(key, value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > 1_000_000_000 {
		return 0, fmt.Errorf("%s=%s: expected a whole number from 1", key, value)
	}
	return n, nil
}

func parseDuration(key, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 || d > MostDuration {
		return 0, fmt.Errorf(
			"%s %q: expected a positive duration of at most %s, such as 1.5s or 200ms",
			key, value, MostDuration)
	}
	return d, nil
}

// MostDuration is the greatest length of a fault, and the latest time of one.
const MostDuration = 24 * time.Hour

// Validate returns an error for an invalid Fault.
func (f Fault) Validate() error {
	info, ok := f.Kind.Info()
	if !ok {
		return unknownKind(string(f.Kind))
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("fault %q: %s", f.String(), fmt.Sprintf(format, args...))
	}
	points := 0
	for _, given := range []bool{f.Request != 0, f.Event != 0, f.At != 0} {
		if given {
			points++
		}
	}
	switch {
	case points != 1:
		return wrong("expected exactly one of request=, event= and at=")
	case f.Request != 0 && !info.OnRequest, f.Event != 0 && !info.OnEvent,
		f.At != 0 && !info.OnTime:
		return wrong("%s takes %s", f.Kind, info.coordinates())
	case info.Lasts && f.For <= 0:
		return wrong("%s needs a duration, as in %q", f.Kind, string(f.Kind)+" 2s ...")
	case !info.Lasts && f.For != 0:
		return wrong("%s takes no duration", f.Kind)
	case f.Kind.TakesCode() && f.Code == "":
		return wrong("%s needs a code, as in %q; expected one of %s", f.Kind,
			string(f.Kind)+" NoAuth ...", strings.Join(codeNames(), ", "))
	case f.Kind.TakesCode() && proto.ErrorNamed(f.Code) == proto.OK:
		return wrong("no error is called %q%s; expected one of %s", f.Code,
			spelling.Meant(f.Code, codeNames()), strings.Join(codeNames(), ", "))
	case !f.Kind.TakesCode() && f.Code != "":
		return wrong("%s takes no code", f.Kind)
	case f.At != 0 && (f.Op != "" || f.Path != "" || f.Conn != 0):
		return wrong("op, path and conn do not go with at=")
	case f.At != 0 && f.Server != 0 && !f.Kind.strikesServer():
		return wrong("server and at do not go together with %s", f.Kind)
	case f.Event != 0 && f.Op != "":
		return wrong("op does not go with event=")
	case strings.ContainsFunc(f.Client+f.Op+f.Path, unicode.IsSpace):
		return wrong("client, op and path hold no white space")
	case f.For > MostDuration || f.At > MostDuration:
		return wrong("durations are %s at most", MostDuration)
	case f.Op != "" && !proto.IsOp(f.Op):
		return wrong("no operation is called %q; create, delete, exists, getData, setData, "+
			"getChildren2 and multi are some", f.Op)
	case f.Request < 0 || f.Event < 0 || f.Conn < 0 || f.Server < 0 || f.At < 0:
		return wrong("coordinates count from 1")
	}
	if _, err := path.Match(f.Path, "/"); err != nil {
		return wrong("path is not a glob: %v", err)
	}
	return nil
}

func (i KindInfo) coordinates() string {
	var words []string
	for _, c := range []struct {
		ok   bool
		word string
	}{{i.OnRequest, "request="}, {i.OnEvent, "event="}, {i.OnTime, "at="}} {
		if c.ok {
			words = append(words, c.word)
		}
	}
	return strings.Join(words, " or ")
}

func unknownKind(name string) error {
	return fmt.Errorf("unknown fault kind %q%s; expected one of %s", name,
		spelling.Meant(name, kindNames()), strings.Join(kindNames(), ", "))
}

func kindNames() (names []string) {
	for _, info := range Kinds() {
		names = append(names, string(info.Kind))
	}
	return names
}

func codeNames() (names []string) {
	for _, code := range proto.Errors() {
		names = append(names, code.String())
	}
	return names
}

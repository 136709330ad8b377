package judgingtest

import (
	"fmt"
	"strconv"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
)

// Notation is how a family writes the steps of a history as text: phrases between semicolons, in
// the order of their steps. Most begin with a client, "a", or with a client and the number of its
// session, "a@2". The client "server" is no client. The parts of a phrase happen one after another:
//
//	lock(read)            a call begins
//	creates x=data        a znode is created; "owns" makes an ephemeral one
//	stores x=data         the data of a znode changes
//	deletes x, deletes x,y, deletes x!7
//	                      znodes are deleted, in one transaction, and fire 7 notifications
//	ok, failed, unknown, not-held
//	                      the client's last call returns; "take ok" chooses its last take.
//	                      "-> x" is ok with an output, "empty" ok without an element, and
//	                      "ok@2#7" ok in session 2 with token 7.
//	told lost, told lost#7   a notice, about the hold with token 7
//	told expired@2        a notice, about session 2
//	starts, expires x,y   a session starts, or expires with its znodes
//	watches x             a watch of the client is left at rest
//	waits take x, waits take x 9
//	                      a take is left at rest, which watches x, or has polled it 9 times
//
// Three phrases have no client. "pass 9" lets steps pass, "rest x=data y" says that these znodes
// are all that is left at rest, and "unlogged" says that the log of the server is missing. The path of
// a znode is below Dir, unless it begins with a slash; a dot is Dir itself.
type Notation struct {
	Dir     string
	Path    func(name string) string  // of a znode, instead of a name below Dir
	Session func(client string) int64 // nil: the code of its letter
	// Phrases are the family's own parts, with {client} and, for the words behind one, {words}. If
	// these are "x#5" or "x=data", {name} stands for x, and {rest} for what follows the mark.
	Phrases map[string]string
	// Sessions and Tokens are set if a call that changed something returns its session, and one
	// that created an ephemeral znode returns its czxid.
	Sessions, Tokens bool
}

var notices = map[string]lin.NoticeKind{
	"connected": lin.Connected, "disconnected": lin.Disconnected, "expired": lin.SessionExpired,
	"lost": lin.LockLost, "unanswered": lin.Unanswered, "paused": lin.Paused,
	"resumed": lin.Resumed, "died": lin.Died,
}

// phrase is a phrase that is being played.
type phrase struct {
	*Fixture
	Notation
	client  string
	session int64
	kind    string // of the call that returns next; "": any
	words   []string
}

// Play adds steps to a history.
func (f *Fixture) Play(n Notation, steps string) {
	for text := range strings.SplitSeq(steps, ";") {
		p := phrase{Fixture: f, Notation: n, words: split(text)}
		if len(p.words) > 0 {
			p.play()
		}
	}
}

// split splits a phrase at spaces outside of brackets.
func split(text string) (words []string) {
	open := false
	for _, w := range strings.Fields(text) {
		if open {
			words[len(words)-1] += " " + w
		} else {
			words = append(words, w)
		}
		last := words[len(words)-1]
		open = strings.Count(last, "(") > strings.Count(last, ")")
	}
	return words
}

// next takes the next word.
func (p *phrase) next() string {
	word := p.words[0]
	p.words = p.words[1:]
	return word
}

func (p *phrase) play() {
	switch subject := p.next(); subject {
	case "pass":
		p.Step += number(p.next())
		return
	case "rest":
		p.rest()
		return
	case "unlogged":
		p.H.Server = nil
		return
	case "server":
	default:
		client, session, chosen := strings.Cut(subject, "@")
		p.client, p.session = client, p.sessionOf(client)
		if chosen {
			p.session = number(session)
		}
	}
	for len(p.words) > 0 {
		if template, ok := p.Phrases[p.words[0]]; ok {
			p.words = split(fill(template, p.client, strings.Join(p.words[1:], " ")))
		}
		p.part(p.next())
	}
	if p.kind != "" {
		panic("no part of a step, or the kind of a call that does not return: " + p.kind)
	}
}

// fill fills in a phrase of a family.
func fill(template, client, words string) string {
	name, rest := words, ""
	if i := strings.IndexAny(words, "#@="); i >= 0 {
		name, rest = words[:i], words[i+1:]
	}
	return strings.NewReplacer("{client}", client, "{words}", words, "{name}", name, "{rest}", rest).
		Replace(template)
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (p *phrase) sessionOf(client string) int64 {
	if p.Notation.Session != nil {
		return p.Notation.Session(client)
	}
	return int64(client[0])
}

// node is the path and the data of "name=data".
func (p *phrase) node(word string) (path, data string) {
	name, data, _ := strings.Cut(word, "=")
	switch {
	case strings.HasPrefix(name, "/"):
		return name, data
	case name == ".":
		return p.Dir, data
	case p.Path != nil:
		return p.Path(name), data
	}
	return p.Dir + "/" + name, data
}

func (p *phrase) part(word string) {
	kind, input, call := strings.Cut(strings.TrimSuffix(word, ")"), "(")
	word, token, _ := strings.Cut(word, "#")
	word, session, _ := strings.Cut(word, "@")
	switch word {
	case "creates", "owns", "stores":
		p.change(word)
	case "deletes":
		p.deletes()
	case "ok", "failed", "unknown", "not-held", "->", "empty":
		p.returns(word, session, token)
	case "told":
		kind, token, about := strings.Cut(p.next(), "#")
		kind, session, ofSession := strings.Cut(kind, "@")
		if notices[kind] == 0 {
			panic("no notice: " + kind)
		}
		p.Told(p.client, notices[kind])
		if about {
			p.H.Notices[len(p.H.Notices)-1].Token = number(token)
		}
		if ofSession {
			p.H.Notices[len(p.H.Notices)-1].Session = number(session)
		}
	case "starts":
		p.Starts(p.client, p.session)
	case "expires":
		p.Expires(p.session, p.paths()...)
	case "watches":
		path, _ := p.node(p.next())
		p.left().Watches = append(p.left().Watches, lin.WatchAtRest{Client: p.client, Path: path})
	case "waits":
		op := p.next()
		path, _ := p.node(p.next())
		wait := lin.Wait{Client: p.client, Op: op, Path: path}
		if len(p.words) > 0 {
			wait.Polls = int(number(p.next()))
		}
		wait.Refused, p.words = strings.Join(p.words, " "), nil
		p.left().Waiting = append(p.left().Waiting, wait)
	default:
		if call {
			p.Call(p.client, kind, input)
			return
		}
		if p.kind != "" {
			panic("no part of a step: " + p.kind)
		}
		p.kind = word
	}
}

func (p *phrase) change(word string) {
	e := lin.ServerEvent{Kind: lin.NodeCreated, Client: p.client, Session: p.session}
	if e.Path, e.Data = p.node(p.next()); word == "stores" {
		e.Kind = lin.DataChanged
	} else if word == "owns" {
		e.Owner = p.session
	}
	p.Server(e)
}

// paths are those of the next word, if there is one.
func (p *phrase) paths() (list []string) {
	if len(p.words) > 0 {
		for name := range strings.SplitSeq(p.next(), ",") {
			path, _ := p.node(name)
			list = append(list, path)
		}
	}
	return list
}

func (p *phrase) deletes() {
	names, notified, fires := strings.Cut(p.words[0], "!")
	p.words[0] = names
	first := p.Step + 1
	for _, path := range p.paths() {
		e := lin.ServerEvent{
			Kind: lin.NodeDeleted, Client: p.client, Session: p.session, Path: path,
		}
		if fires {
			e.Notified = int(number(notified))
		}
		p.Server(e)
		p.H.Server[len(p.H.Server)-1].Zxid = first
	}
}

// returns ends the client's last call, or the last one of the chosen kind.
func (p *phrase) returns(word, session, token string) {
	ops, op := p.H.Ops, len(p.H.Ops)-1
	for op >= 0 && (ops[op].Client != p.client || !ops[op].Pending() ||
		p.kind != "" && ops[op].Kind != p.kind) {
		op--
	}
	if op < 0 {
		panic(fmt.Sprintf("%s: no %s call is under way", p.client, p.kind))
	}
	p.kind = ""
	outcome, r := lin.OpOK, lin.Result{}
	switch word {
	case "failed":
		outcome = lin.OpFailed
	case "unknown":
		outcome = lin.OpUnknown
	case "not-held":
		outcome = lin.OpNotHeld
	}
	for _, e := range p.H.Server {
		if e.Step > ops[op].Call && e.Client == p.client && outcome == lin.OpOK {
			if p.Sessions {
				r.Session = e.Session
			}
			if p.Tokens && e.Kind == lin.NodeCreated && e.Owner != 0 {
				r.Token = e.Czxid
			}
		}
	}
	if session != "" {
		r.Session = number(session)
	}
	if token != "" {
		r.Token = number(token)
	}
	if word == "ok" && len(p.words) > 0 && (p.words[0] == "->" || p.words[0] == "empty") {
		word = p.next()
	}
	if r.Empty = word == "empty"; word == "->" {
		r.Output = p.next()
	}
	p.Ret(op, outcome, r)
}

func (p *phrase) left() *lin.Leftovers {
	if p.Left == nil {
		p.Left = &lin.Leftovers{}
	}
	return p.Left
}

// rest adds the znodes at rest. Ephemeral ones are those of the history.
func (p *phrase) rest() {
	left := p.left()
	for len(p.words) > 0 {
		var n lin.NodeAtRest
		n.Path, n.Data = p.node(p.next())
		for _, e := range p.H.Server {
			if e.Kind == lin.NodeCreated && e.Path == n.Path && e.Owner != 0 {
				n.Owner, n.Czxid = e.Owner, e.Czxid
			}
		}
		left.Nodes = append(left.Nodes, n)
	}
}

package fakezk

import (
	"fmt"
	"io"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
)

// pipeline is the way of a request to the engine, and of its answers to the links. Faults hold it
// up: they take what passes, and call process, answerWord or a sink when it goes on.
type pipeline struct {
	engine   *engine.Engine
	names    *sessionNames
	recorder *recorder
	links    *links
	words    *words
	faults   *injector
	ensemble *ensemble
}

// receive takes bytes that a client sent. Garbage ends the connection. If the link is full, it
// returns the bytes that it has not handled; the caller offers them again later. If they are a
// four-letter word, the caller answers it without the lock.
func (p *pipeline) receive(l *link, b []byte) (rest, word []byte) {
	if k, ok := l.sink.(*memorySink); ok {
		k.noteInput(b)
	}
	now := time.Now()
	for l.served {
		if l.conn != nil && l.conn.Ignores() {
			return nil, nil
		}
		if !l.wordChecked {
			if word, known := l.firstWord(b); known {
				if p.faults.takeWord(l, word) {
					word = nil
				}
				return nil, word
			}
		}
		frame, rest, err := l.frames.Next(b)
		if err != nil {
			p.recorder.garbage(l, err.Error())
		}
		if err != nil && !p.faults.takeGarbage(l) {
			p.hangUp(l)
		}
		if frame == nil {
			return nil, nil
		}
		if !p.faults.takeFrame(l, frame) {
			p.process(l, frame, now)
		}
		b = rest
		if l.sink.Full() {
			return b, nil
		}
	}
	return nil, nil
}

// answerWord answers the word of a link, and closes the connection. It must be called without the
// lock.
func (p *pipeline) answerWord(l *link, word []byte) {
	text := p.words.answer(l, word)
	p.words.turns.mu.Lock()
	defer p.words.turns.mu.Unlock()
	if l.served {
		p.endWord(l, text)
	}
}

// endWord sends the answer to a word, and closes the connection.
func (p *pipeline) endWord(l *link, text []byte) {
	p.emit(l, engine.Output{Conn: l.id, Frame: text, Close: true}, nil)
	p.engine.Drop(l.id)
}

// process lets the engine handle a frame.
func (p *pipeline) process(l *link, frame []byte, now time.Time) {
	p.finish(l, frame, p.engine.Handle(l.id, frame, now), nil)
}

// finish notes the reaction of the engine to a frame, and sends its output. A fault, if given,
// damages the output on the same connection.
func (p *pipeline) finish(l *link, frame []byte, r engine.Reaction, damage *carry.Armed) {
	p.recorder.request(l, &r.Request)
	p.noteApplied(r.Applied)
	if r.Request.Handshake {
		p.expectWatches(l, &r)
	}
	for _, out := range r.Out {
		if to := p.links.served(out.Conn); to == l {
			p.emit(l, out, damage)
		} else if to != nil {
			p.emit(to, out, nil)
		}
	}
	if r.Request.Handshake {
		p.endHandshake(l, frame, r.Request.Session)
	}
	p.ensemble.follow()
}

// endHandshake notes the session of a connection, which is 0 if the handshake was refused.
func (p *pipeline) endHandshake(l *link, frame []byte, session int64) {
	if session != 0 {
		l.session = session
		l.name, l.number = p.names.connect(session, l.peer.client, l.sink)
		l.setSession()
	}
	p.recorder.handshake(l, frame, p.engine.Store())
}

// deliver carries out a reaction of the engine.
func (p *pipeline) deliver(r engine.Reaction) {
	p.noteApplied(r.Applied)
	for _, out := range r.Out {
		if l := p.links.served(out.Conn); l != nil {
			p.emit(l, out, nil)
		}
	}
	p.ensemble.follow()
}

// submit applies a request of the server itself. Of a multi, the code is that of the first
// operation that failed.
func (p *pipeline) submit(req proto.Request, now time.Time) proto.ErrCode {
	res, reaction := p.engine.Submit(req, now)
	p.deliver(reaction)
	if multi, ok := res.Reply.(proto.MultiReply); ok {
		for _, part := range multi.Results {
			if part.Err != proto.OK {
				return part.Err
			}
		}
	}
	return res.Err
}

// mustSubmit applies a request that cannot fail.
func (p *pipeline) mustSubmit(req proto.Request, now time.Time) {
	if code := p.submit(req, now); code != proto.OK {
		panic(fmt.Sprintf("fakezk: the server's own %s of %s is refused: %s", req.Op(),
			proto.PathOf(req), code))
	}
}

// noteApplied notes the sessions that began and ended.
func (p *pipeline) noteApplied(applied []engine.Applied) {
	p.recorder.applied(applied)
	p.names.note(applied)
}

// emit sends one output on its link, with the damage that a fault does to it.
func (p *pipeline) emit(l *link, out engine.Output, damage *carry.Armed) {
	if out.Event != nil {
		if k, ok := l.sink.(*memorySink); ok {
			k.events++
		}
		p.recorder.notification(l, out.Event)
	}
	if p.faults.takeOutput(l, out, damage) {
		return
	}
	if out.Frame != nil {
		l.sink.Deliver(out.Frame)
	}
	if out.Close {
		p.links.leave(l)
		l.sink.Fail(io.EOF)
	}
}

// gone notes that a client closed its end. A client that is half gone may still read. The result
// reports whether the client is half gone and a fault has put off the end of the connection.
func (p *pipeline) gone(l *link, half bool) (onHold bool) {
	if p.faults.active() && l.conn != nil {
		return p.faults.takeGone(l, half) && half
	}
	p.drop(l)
	return false
}

// hangUp closes a connection, whatever is on hold.
func (p *pipeline) hangUp(l *link) {
	if !p.faults.takeHangUp(l) {
		p.drop(l)
		l.sink.Fail(io.EOF)
	}
}

// drop forgets a connection, if it is known.
func (p *pipeline) drop(l *link) {
	p.engine.Drop(l.id)
	p.links.leave(l)
}

package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Splitter cuts a byte stream into frames: a big-endian int32 length, then that many bytes. It
// keeps only the bytes of an incomplete frame that have arrived, so that a length alone reserves
// nothing.
type Splitter struct {
	Max int
	buf []byte // the beginning of a frame, or a whole one that next returned
	got bool   // buf is a whole one
}

// Partial is the beginning of an incomplete frame, its length included.
func (s *Splitter) Partial() []byte { return s.buf }

// Feed adds bytes and calls handle with each complete frame, without its
// length. A frame is valid during the call only. A length that is negative or
// over the limit is an error, after which the stream is useless.
func (s *Splitter) Feed(p []byte, handle func(frame []byte)) error {
	for {
		frame, rest, err := s.Next(p)
		if frame == nil {
			return err
		}
		handle(frame)
		p = rest
	}
}

// Begun reports whether a frame has begun in earlier bytes. If not, the frames of the next
// bytes lie within them.
func (s *Splitter) Begun() bool { return len(s.buf) > 0 && !s.got }

// Next takes the next frame off p, in which earlier bytes may have begun it. A nil frame says that
// p is used up, or useless if there is an error. The frame is valid until the next call.
func (s *Splitter) Next(p []byte) (frame, rest []byte, err error) {
	s.release()
	if len(s.buf) > 0 {
		return s.complete(p)
	}
	if len(p) < 4 {
		s.keep(p)
		return nil, nil, nil
	}
	end, err := frameEnd(p, s.Max)
	if err != nil {
		return nil, nil, err
	}
	if len(p) < end {
		s.keep(p)
		return nil, nil, nil
	}
	return p[4:end:end], p[end:], nil
}

// complete goes on with the frame in buf. Each byte is copied once, and moved only when buf grows.
func (s *Splitter) complete(p []byte) (frame, rest []byte, err error) {
	if missing := 4 - len(s.buf); missing > 0 {
		n := min(missing, len(p))
		s.keep(p[:n])
		p = p[n:]
	}
	if len(s.buf) < 4 {
		return nil, nil, nil
	}
	end, err := frameEnd(s.buf, s.Max)
	if err != nil {
		return nil, nil, err
	}
	n := min(end-len(s.buf), len(p))
	s.keep(p[:n])
	if len(s.buf) < end {
		return nil, nil, nil
	}
	s.got = true
	return s.buf[4:end:end], p[n:], nil
}

// frameEnd is where the frame that begins p ends.
func frameEnd(p []byte, max int) (int, error) {
	n := int(int32(binary.BigEndian.Uint32(p)))
	if n < 0 || n > max {
		return 0, fmt.Errorf("frame length %d is not within 0 and %d", n, max)
	}
	return 4 + n, nil
}

// ReadPacket reads a frame of up to max bytes, and returns it with its length before it. It returns
// io.EOF at the end of the stream, and io.ErrUnexpectedEOF at one within a frame.
func ReadPacket(r io.Reader, max int) ([]byte, error) {
	packet := make([]byte, 4)
	if _, err := io.ReadFull(r, packet); err != nil {
		return nil, err
	}
	end, err := frameEnd(packet, max)
	if err != nil {
		return nil, err
	}
	packet = append(packet, make([]byte, end-4)...)
	if _, err = io.ReadFull(r, packet[4:]); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return packet, err
}

func (s *Splitter) keep(p []byte) { s.buf = append(s.buf, p...) }

// keptBytes is how large a buffer an idle connection may hold on to.
const keptBytes = 512

// release forgets the frame that next returned from buf.
func (s *Splitter) release() {
	if !s.got {
		return
	}
	s.got = false
	if cap(s.buf) > keptBytes {
		s.buf = nil
	}
	s.buf = s.buf[:0]
}

// MaxFrameLimit is above every limit of a frame's length. Four-letter words, read as
// a length, are above it.
const MaxFrameLimit = 1 << 30

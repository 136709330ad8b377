package fakezk

import (
	"encoding/binary"
	"fmt"
)

// frameSplitter cuts a byte stream into frames: a big-endian int32 length, then
// that many bytes.
type frameSplitter struct {
	max int
	buf []byte
}

// feed adds bytes and calls handle with each complete frame, without its
// length. A frame is valid during the call only. A length that is negative or
// over the limit is an error, after which the stream is useless.
func (s *frameSplitter) feed(p []byte, handle func(frame []byte)) error {
	if len(s.buf) > 0 {
		s.buf = append(s.buf, p...)
		p = s.buf
	}
	for len(p) >= 4 {
		n := int(int32(binary.BigEndian.Uint32(p)))
		if n < 0 || n > s.max {
			return fmt.Errorf("frame length %d is not within 0 and %d", n, s.max)
		}
		if len(p)-4 < n {
			break
		}
		handle(p[4 : 4+n])
		p = p[4+n:]
	}
	s.keep(p)
	return nil
}

// keep stores the incomplete rest for the next feed.
func (s *frameSplitter) keep(rest []byte) {
	if len(rest) == 0 {
		if cap(s.buf) > 64<<10 {
			s.buf = nil
		}
		s.buf = s.buf[:0]
		return
	}
	s.buf = append(s.buf[:0], rest...)
}

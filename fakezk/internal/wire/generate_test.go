package wire

import (
	"reflect"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Generators of the parts of records.
var (
	anyString = rapid.OneOf(rapid.String(), rapid.Just(""), rapid.Just("\x00"))
	somePaths = []string{"", "/", "/a/b", "rel", proto.NullPath}
	anyPath   = rapid.OneOf(rapid.SampledFrom(somePaths), anyString)
	anyBytes  = nullable(rapid.Byte())
	anyPaths  = nullable(anyPath)
	anyACL    = nullable(rapid.Custom(func(t *rapid.T) proto.ACL {
		return proto.ACL{
			Perms:  rapid.Int32().Draw(t, "perms"),
			Scheme: anyString.Draw(t, "scheme"),
			ID:     rapid.OneOf(anyString, rapid.Just(proto.Null)).Draw(t, "id"),
		}
	}))
)

func nullable[T any](of *rapid.Generator[T]) *rapid.Generator[[]T] {
	return rapid.OneOf(rapid.Just([]T(nil)), rapid.Just([]T{}), rapid.SliceOfN(of, 1, 4))
}

// fill draws the fields of a record, its lists of texts from a generator of their own. An operation
// code stays as it is.
func fill(t *rapid.T, v reflect.Value, lists *rapid.Generator[[]string]) {
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		switch field.Interface().(type) {
		case proto.OpCode:
		case proto.Stat:
			fill(t, field, lists)
		case bool:
			field.SetBool(rapid.Bool().Draw(t, name))
		case int32, proto.ErrCode:
			field.SetInt(int64(rapid.Int32().Draw(t, name)))
		case int64:
			field.SetInt(rapid.Int64().Draw(t, name))
		case string:
			generator := anyString
			if name == "Path" {
				generator = anyPath
			}
			field.SetString(generator.Draw(t, name))
		case []byte:
			field.SetBytes(anyBytes.Draw(t, name))
		case []proto.ACL:
			field.Set(reflect.ValueOf(anyACL.Draw(t, name)))
		case []string:
			field.Set(reflect.ValueOf(lists.Draw(t, name)))
		case []proto.ID:
			field.Set(reflect.ValueOf(rapid.SliceOf(rapid.Make[proto.ID]()).Draw(t, name)))
		default:
			t.Fatalf("no generator for field %s of %s", name, v.Type())
		}
	}
}

// zeros are a body in which every number is 0, and every text and list empty.
var zeros = make([]byte, 100)

// anyRequest draws a request.
func anyRequest(t *rapid.T, op proto.OpCode) proto.Request {
	switch op {
	case proto.OpMulti:
		return &proto.Multi{Ops: anyOps(t, proto.OpCreate, proto.OpCreate2, proto.OpCreateContainer,
			proto.OpCreateTTL, proto.OpDelete, proto.OpSetData, proto.OpCheck)}
	case proto.OpMultiRead:
		return &proto.MultiRead{Ops: anyOps(t, proto.OpGetData, proto.OpGetChildren)}
	}
	req, err := DecodeRequest(op, zeros)
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	fill(t, reflect.ValueOf(req).Elem(), anyPaths)
	switch r := req.(type) { // fields that are not on the wire
	case *proto.Create:
		if op != proto.OpCreateTTL {
			r.TTL = 0
		}
	case *proto.SetWatches:
		if op != proto.OpSetWatches2 {
			r.PersistentWatches, r.RecursiveWatches = nil, nil
		}
	case *proto.DeleteContainer: // its path is not decoded
		r.Path = "\x00"
	}
	return req
}

func anyOps(t *rapid.T, of ...proto.OpCode) []proto.Request {
	var ops []proto.Request
	for range rapid.IntRange(0, 5).Draw(t, "ops") {
		ops = append(ops, anyRequest(t, rapid.SampledFrom(of).Draw(t, "op")))
	}
	return ops
}

// anyReply draws a successful reply to op, nil if it has no body.
func anyReply(t *rapid.T, op proto.OpCode) proto.Reply {
	if op == proto.OpMulti || op == proto.OpMultiRead {
		return anyMultiReply(t)
	}
	sample, err := DecodeReply(op, zeros)
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	if sample == nil {
		return nil
	}
	reply := reflect.New(reflect.TypeOf(sample)).Elem()
	fill(t, reply, rapid.SliceOf(anyString)) // a server sends neither null lists nor null names
	return reply.Interface().(proto.Reply)
}

func anyMultiReply(t *rapid.T) proto.Reply {
	answered := []proto.OpCode{
		proto.OpCreate, proto.OpCreate2, proto.OpSetData, proto.OpDelete, proto.OpCheck,
		proto.OpError, proto.OpGetData, proto.OpGetChildren,
	}
	var m proto.MultiReply
	for range rapid.IntRange(0, 5).Draw(t, "results") {
		res := proto.OpResult{Op: rapid.SampledFrom(answered).Draw(t, "op")}
		if res.Op == proto.OpError {
			res.Err = proto.ErrCode(rapid.Int32().Draw(t, "err"))
		} else {
			res.Reply = anyReply(t, res.Op)
		}
		m.Results = append(m.Results, res)
	}
	return m
}

package wire

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// TestEveryPathIsMapped: a guest of a running ensemble (package realworld) would otherwise change
// nodes of others.
func TestEveryPathIsMapped(t *testing.T) {
	move := func(p string) string { return "/moved" + p }
	for _, op := range implementedOps() {
		req := requestWithPaths(t, op)
		proto.MapPaths(req, move)
		areMoved(t, op, reflect.ValueOf(req))
		if reply := replyWithPaths(t, op); reply != nil {
			reply = proto.MapReplyPaths(reply, move)
			areMoved(t, op, reflect.ValueOf(reply))
		}
	}
}

func requestWithPaths(t *testing.T, op proto.OpCode) (req proto.Request) {
	t.Helper()
	var err error
	switch op {
	case proto.OpMulti:
		req = &proto.Multi{Ops: []proto.Request{&proto.Create{}, &proto.Check{}}}
	case proto.OpMultiRead:
		req = &proto.MultiRead{Ops: []proto.Request{&proto.GetData{}}}
	default:
		req, err = DecodeRequest(op, zeros)
		check.OK(t, err)
	}
	onPaths(reflect.ValueOf(req), setPath)
	return req
}

func replyWithPaths(t *testing.T, op proto.OpCode) proto.Reply {
	t.Helper()
	if op == proto.OpMulti || op == proto.OpMultiRead {
		return proto.MultiReply{Results: []proto.OpResult{{Reply: proto.PathReply{Path: "/p"}}}}
	}
	sample, err := DecodeReply(op, zeros)
	check.OK(t, err)
	if sample == nil {
		return nil
	}
	reply := reflect.New(reflect.TypeOf(sample))
	onPaths(reply, setPath)
	return reply.Elem().Interface().(proto.Reply)
}

func setPath(path reflect.Value) { path.SetString("/p") }

func areMoved(t *testing.T, op proto.OpCode, v reflect.Value) {
	t.Helper()
	onPaths(v, func(path reflect.Value) {
		if !strings.HasPrefix(path.String(), "/moved/p") {
			t.Errorf("%s: the path %q in %s is not moved; path.go of proto has no case for it", op,
				path, v.Type())
		}
	})
}

// noPaths are the fields with texts that are no paths.
var noPaths = []string{"Scheme", "ID", "Joining", "Leaving", "NewMembers", "Names", "ACL", "IDs"}

// onPaths calls f with each path in a record. Lists of paths get one path if they have none.
func onPaths(v reflect.Value, f func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			onPaths(v.Elem(), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !slices.Contains(noPaths, v.Type().Field(i).Name) {
				onPaths(v.Field(i), f)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.String && v.Len() == 0 && v.CanSet() {
			v.Set(reflect.ValueOf([]string{""}))
		}
		for i := range v.Len() {
			onPaths(v.Index(i), f)
		}
	case reflect.String:
		f(v)
	}
}

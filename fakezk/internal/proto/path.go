package proto

// PathOf is the path that a request is about; for a multi, that of its first operation.
func PathOf(req Request) string {
	switch r := req.(type) {
	case *Create:
		return r.Path
	case *Delete:
		return r.Path
	case *DeleteContainer:
		return r.Path
	case *Exists:
		return r.Path
	case *GetData:
		return r.Path
	case *SetData:
		return r.Path
	case *GetACL:
		return r.Path
	case *SetACL:
		return r.Path
	case *GetChildren:
		return r.Path
	case *GetAllChildrenNumber:
		return r.Path
	case *GetEphemerals:
		return r.Prefix
	case *Sync:
		return r.Path
	case *Check:
		return r.Path
	case *AddWatch:
		return r.Path
	case *Watches:
		return r.Path
	case *Multi:
		return pathOfFirst(r.Ops)
	case *MultiRead:
		return pathOfFirst(r.Ops)
	}
	return ""
}

func pathOfFirst(ops []Request) string {
	if len(ops) == 0 {
		return ""
	}
	return PathOf(ops[0])
}

package recipes

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// Instance is one provider of a service.
type Instance struct {
	Service string // "web"; with dynamic DNS a domain
	ID      string // among the instances of the service, such as "10.0.0.7:8080"
	Data    []byte // for its users

	// Session and Czxid are set by a ServiceRegistry, and ignored by a Registration. Session is the
	// session that owns the node. Czxid is the zxid of the registration, greater for each later
	// registration.
	Session int64
	Czxid   int64
}

// compareInstances orders by service and ID.
func compareInstances(a, b Instance) int {
	return strings.Compare(request.Join(a.Service, a.ID), request.Join(b.Service, b.ID))
}

// equalInstances reports whether two instances are the same registration with the same data.
func equalInstances(a, b Instance) bool {
	return a.Service == b.Service && a.ID == b.ID && a.Czxid == b.Czxid &&
		bytes.Equal(a.Data, b.Data)
}

// cloneInstances copies instances, so that a caller may change them.
func cloneInstances(list []Instance) []Instance {
	list = slices.Clone(list)
	for n := range list {
		list[n].Data = bytes.Clone(list[n].Data)
	}
	return list
}

// ServiceRegistry is a view of the instances of all services. It is kept up to date by watches on
// the list of services, on the list of instances of each, and on the data of each instance. Each
// instance registers with a Registration. The ZooKeeper literature calls this a service registry,
// or dynamic DNS.
//
// It guarantees:
//
//   - It shows each instance as it was at one moment, and never goes back to an earlier moment.
//     Different instances may be shown as of different moments.
//   - A change that lasts shows soon: after a notification and one to three replies, or after a
//     disconnection as soon as the client is connected again. If two losses of the connection in a
//     row hide a change from the client (see NodeCache), it shows at the next recheck.
//   - A failed read is never taken for a missing instance. If the server refuses the read of an
//     instance or the list of a service, the instances concerned show as they were last, or not at
//     all. Other instances are still followed. Err returns the refusal, and the read is repeated
//     soon. A service without instances is not shown.
//
// When the connection is lost or the session ends, the last view stays, and Stale returns true.
// When the Conn is closed the view ends. A done context ends only the wait for the first view.
//
// It cannot guarantee that an instance it shows can be reached. A dead instance shows until its
// session has expired and the client's server knows of the expiry. An instance that is cut off from
// the ensemble only does not show after its session has expired, though it may serve. Keep the
// session timeout short, and handle errors of the instances.
//
// Layout: <path>/<service>/<id>, ephemeral, data = that of the instance. Services are container
// nodes, which the server removes some time after their last instance has gone. A ServiceRegistry
// deletes nothing. The options that matter are RecheckEvery and Retry (for the pauses).
//
// Sources: Curator's ServiceDiscovery and ServiceCache; "dynamic DNS" in Junqueira and Reed,
// "ZooKeeper", and in the articles that follow it, where consumers delete services and race with
// providers; Vitess issues 15632 and 17076 (a failed read is taken for a deletion).
type ServiceRegistry struct {
	*follower[[]Instance]
	services map[string]map[string]Instance // of the loop: by service and ID
}

// NewServiceRegistry makes a view of the registry at path. It sends nothing. The first call of All,
// Instances or Services begins to follow the registry.
func NewServiceRegistry(conn Conn, path string, opts ...Option) *ServiceRegistry {
	v := &ServiceRegistry{services: map[string]map[string]Instance{}}
	same := func(a, b []Instance) bool { return slices.EqualFunc(a, b, equalInstances) }
	v.follower = newFollower(newTasks(conn, "service registry", path, opts), v.read, same)
	return v
}

// All returns the instances of all services, sorted by service and ID. It waits for the first view;
// later calls return at once and send nothing.
func (v *ServiceRegistry) All(ctx context.Context) ([]Instance, error) {
	all, err := v.look(ctx, "look at")
	return cloneInstances(all), err
}

// Instances returns the instances of a service, sorted by ID, or none if the service is unknown. It
// waits as All does.
func (v *ServiceRegistry) Instances(ctx context.Context, service string) ([]Instance, error) {
	all, err := v.look(ctx, "look up "+service+" in")
	var list []Instance
	for _, i := range all {
		if i.Service == service {
			list = append(list, i)
		}
	}
	return cloneInstances(list), err
}

// Services returns the names of the services that have instances, sorted. It waits as All does.
func (v *ServiceRegistry) Services(ctx context.Context) ([]string, error) {
	all, err := v.look(ctx, "list services of")
	var list []string
	for _, i := range all {
		list = append(list, i.Service)
	}
	return slices.Compact(list), err
}

// read is one step of the loop: it reads the paths that are due, from the top.
func (v *ServiceRegistry) read(r *request.Sender, d task.Due) ([]Instance, error) {
	if err := v.readServices(r, d); err != nil {
		return nil, err
	}
	var all []Instance
	for _, service := range slices.Sorted(maps.Keys(v.services)) {
		if err := v.readInstances(r, d, service); err != nil {
			return nil, err
		}
		for _, i := range v.services[service] {
			if i.ID != "" { // it was read
				all = append(all, i)
			}
		}
	}
	slices.SortFunc(all, compareInstances)
	return all, nil
}

// readServices lists the services, if the list is due. A service has a nil map until its instances
// are listed for the first time.
func (v *ServiceRegistry) readServices(r *request.Sender, d task.Due) error {
	if !d.Has(v.tasks.Path) {
		return nil
	}
	found, err := v.loop.Listing(r, v.tasks.Path)
	if err != nil {
		return err
	}
	maps.DeleteFunc(
		v.services, func(service string, _ map[string]Instance) bool {
			return !slices.Contains(found, service)
		},
	)
	for _, service := range found {
		if _, known := v.services[service]; !known {
			v.services[service] = nil
		}
	}
	return nil
}

// readInstances lists the instances of a service and reads them, as far as they are due. If the
// service is gone, its creation need not be watched: the watch on the list of services has fired or
// will fire.
func (v *ServiceRegistry) readInstances(r *request.Sender, d task.Due, service string) error {
	dir := request.Join(v.tasks.Path, service)
	listed := v.services[service]
	if listed == nil || d.Has(dir) {
		found, err := v.loop.ChildrenOf(r, dir)
		switch {
		case errors.Is(err, zk.ErrNoNode):
			delete(v.services, service)
			return nil
		case task.Refused(r.Ctx, err): // the known instances may have changed all the same
			found, err = slices.Sorted(maps.Keys(listed)), v.loop.Tolerate(r.Ctx, dir, err)
		}
		if err != nil {
			return err
		}
		listed = map[string]Instance{}
		for _, id := range found {
			listed[id] = v.services[service][id]
		}
	}
	v.services[service] = listed
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		if listed[id].ID != "" && !d.Has(request.Join(dir, id)) {
			continue
		}
		if err := v.readInstance(r, service, id); err != nil {
			return err
		}
	}
	return nil
}

// readInstance reads one instance.
func (v *ServiceRegistry) readInstance(r *request.Sender, service, id string) error {
	path := request.Join(request.Join(v.tasks.Path, service), id)
	data, stat, err := v.loop.DataOf(r, path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		delete(v.services[service], id) // the watch on the list has fired, or will
		return nil
	case err != nil:
		return v.loop.Tolerate(r.Ctx, path, err)
	}
	v.services[service][id] = Instance{service, id, data, stat.EphemeralOwner, stat.Czxid}
	return nil
}

// Registration is an instance of this process in a ServiceRegistry, from Register to Close.
//
// It has the guarantees and the limits of a PersistentNode. After the end of a session the instance
// comes back by itself, with its newest data. After Close it does not come back. An instance of the
// same name that belongs to another session is left alone until it is gone.
//
// Layout: <registry>/<service>/<id>, ephemeral, below container nodes.
//
// Sources: as for ServiceRegistry and PersistentNode.
type Registration struct{ named }

// NewRegistration makes a handle for an instance in the registry at path. It sends nothing;
// Register does. The options that matter are ACL, RecheckEvery and Retry; Containers is always set.
func NewRegistration(conn Conn, path string, i Instance, opts ...Option) *Registration {
	opts = append(slices.Clone(opts), Containers())
	bad := errors.Join(checkName("service", i.Service), checkName("id", i.ID))
	node := request.Join(request.Join(path, i.Service), i.ID)
	return &Registration{newNamed(conn, "instance", node, i.Data, opts, bad)}
}

// Register registers the instance and waits until the server knows it. After an error the handle
// goes on trying to register it, until Close. An error that wraps ErrOccupied says that the name is
// taken.
func (g *Registration) Register(ctx context.Context) error { return g.keep(ctx, "register") }

// Update changes the data of the instance, registers the instance if it was not registered before,
// and waits until the server has the data. After an error the handle goes on trying to write the
// new data.
func (g *Registration) Update(ctx context.Context, data []byte) error {
	if g.bad != nil {
		return g.node.tasks.Explain("update", g.bad)
	}
	return g.node.Set(ctx, data)
}

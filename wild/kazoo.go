package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wvanbergen/kazoo-go"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// kazooGroup is a group of consumers of kazoo-go. What a consumer subscribes to is its data.
func kazooGroup() scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		conf := kazoo.NewConfig()
		conf.Timeout = scenario.SessionTimeout
		k, err := kazoo.NewKazoo([]string{env.Address}, conf)
		check(err)
		context.AfterFunc(env.Context, func() { _ = k.Close() })
		group := k.Consumergroup("zksim")
		return &kazooMember{group, group.Instance(env.Name)}
	}, object.MembershipClaims{About: "a group of kazoo-go", Path: "/consumers/zksim/ids",
		Instance: kazooInstance}).Named("kazoo-go")
}

type kazooMember struct {
	group    *kazoo.Consumergroup
	instance *kazoo.ConsumergroupInstance
}

func (m *kazooMember) Join(_ context.Context, data string) error {
	return m.instance.Register([]string{data})
}

func (m *kazooMember) Leave(context.Context) error {
	err := m.instance.Deregister()
	if errors.Is(err, kazoo.ErrInstanceNotRegistered) {
		return nil
	}
	return err
}

func (m *kazooMember) View(context.Context) (string, error) {
	list, err := m.group.Instances()
	var shown []string
	for _, i := range list {
		r, err := i.Registration()
		if errors.Is(err, kazoo.ErrInstanceNotRegistered) {
			continue // it has gone meanwhile
		}
		if err != nil {
			return "", err
		}
		shown = append(shown, i.ID+"="+subscription(r))
	}
	slices.Sort(shown)
	return strings.Join(shown, ","), err
}

func kazooInstance(znode, data string) (name, value string, ok bool) {
	var r kazoo.Registration
	err := json.Unmarshal([]byte(data), &r)
	return path.Base(znode), subscription(&r), err == nil
}

func subscription(r *kazoo.Registration) string {
	return strings.Join(slices.Sorted(maps.Keys(r.Subscription)), "")
}

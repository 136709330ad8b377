"""Tests of kazoo's Lock with the fixture of conftest.py."""

import threading


def test_lock_survives_a_lost_reply(zookeeper):
    client = zookeeper.client()
    client.ensure_path("/lock")
    fault = zookeeper.inject("drop-reply op=create path=/lock/* request=1")
    assert client.Lock("/lock", "a").acquire(timeout=20)
    zookeeper.await_fault(fault)
    assert len(client.get_children("/lock")) == 1


def test_lock_goes_on_when_its_holder_expires(zookeeper):
    holder, waiter = zookeeper.client(), zookeeper.client()
    assert holder.Lock("/lock", "a").acquire(timeout=20)
    got = threading.Event()

    def wait():
        with waiter.Lock("/lock", "b"):
            got.set()

    thread = threading.Thread(target=wait)
    thread.start()
    # the waiter watches the node of the holder
    zookeeper.call("GET", "/history?op=exists&session=S2&kind=request&wait=20s")
    zookeeper.expire(holder)
    assert got.wait(20)
    thread.join()


def test_another_test_sees_nothing_of_it(zookeeper):
    assert [node["path"] for node in zookeeper.call("GET", "/tree")] == ["/"]

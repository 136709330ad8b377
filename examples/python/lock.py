"""A lock that survives a lost reply: kazoo over zksim serve.

    zksim serve --addr 127.0.0.1:2181 --control 127.0.0.1:8080
    python3 lock.py 127.0.0.1:2181 127.0.0.1:8080

The control endpoint loses the reply of the create of kazoo's Lock. kazoo looks
for a node with its random prefix, finds the node, and takes the lock: one node,
no deadlock. Then the session of another holder expires, and the waiter gets the
lock.
"""

import json
import logging
import sys
import threading
import time
import urllib.request

from kazoo.client import KazooClient
from kazoo.retry import KazooRetry

LOCK = "/example/python/lock"


def control(address, method, path, body=None):
    """Asks the control endpoint of zksim serve."""
    request = urllib.request.Request("http://%s%s" % (address, path), method=method)
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(request, data=data, timeout=10) as reply:
        return json.load(reply)


def connect(server):
    retry = KazooRetry(max_tries=10, delay=0.05, max_delay=0.5)
    client = KazooClient(hosts=server, timeout=10, connection_retry=retry, command_retry=retry)
    client.start(timeout=10)
    return client


def survive_lost_reply(client, endpoint):
    client.ensure_path(LOCK)
    control(endpoint, "POST", "/faults", {"line": "drop-reply op=create path=%s/* request=1" % LOCK})
    lock = client.Lock(LOCK, "a")
    assert lock.acquire(timeout=20), "not acquired"
    nodes = client.get_children(LOCK)
    assert len(nodes) == 1, nodes
    faults = control(endpoint, "GET", "/faults")
    assert faults[-1]["fired"], faults
    print("the reply of the create was lost; the lock is held with one node")
    return lock


def hand_over(first, second, endpoint):
    """Expires the holder's session while the other waits."""
    got = threading.Event()

    def wait():
        with second.Lock(LOCK, "b"):
            got.set()

    waiter = threading.Thread(target=wait)
    waiter.start()
    while len(first.get_children(LOCK)) < 2:
        time.sleep(0.01)
    control(endpoint, "POST", "/expire", {"session": "0x%x" % first.client_id[0]})
    assert got.wait(20), "the lock did not go on"
    waiter.join()
    print("the holder's session expired; the waiter has the lock")


def main(server, endpoint):
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)  # it warns of what is done to it
    first, second = connect(server), connect(server)
    try:
        survive_lost_reply(first, endpoint)
        hand_over(first, second, endpoint)
    finally:
        first.stop()
        second.stop()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: lock.py ZOOKEEPER CONTROL, each as HOST:PORT")
    main(*sys.argv[1:])

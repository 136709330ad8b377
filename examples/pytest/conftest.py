"""A ZooKeeper for each test: the fixture zookeeper, over zksim serve.

One zksim serve is started for all tests, or the one at ZKSIM_CONTROL is used. Each
test has a namespace of it: a server of its own, so tests may run at the same time.
"""

import json
import os
import subprocess
import urllib.error
import urllib.request

import pytest
from kazoo.client import KazooClient
from kazoo.retry import KazooRetry


class ZooKeeper:
    """The server of one test."""

    def __init__(self, endpoint, addr):
        self.endpoint, self.addr, self.clients = endpoint, addr, []

    def call(self, method, path, body=None):
        """Asks the control endpoint. The page docs/control.md has all requests."""
        request = urllib.request.Request(self.endpoint + path, method=method)
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, data=data, timeout=60) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            raise ValueError(error.read().decode()) from None

    def client(self):
        """A connected client, which is closed at the end of the test."""
        retry = KazooRetry(max_tries=10, delay=0.05, max_delay=0.5)
        client = KazooClient(self.addr, connection_retry=retry, command_retry=retry)
        self.clients.append(client)
        client.start(timeout=20)
        return client

    def inject(self, line):
        """Arms a fault, such as "drop-reply op=create request=1", and returns its number."""
        return self.call("POST", "/faults", {"line": line})["armed"][0]["number"]

    def await_fault(self, number):
        """Waits until a fault has fired: one that never does tests nothing."""
        fault = self.call("GET", "/faults/%d?wait=20s" % number)
        came = {r["op"] for r in self.call("GET", "/history?kind=request")["records"]}
        assert fault["fired"], "not fired: %s; the requests that came: %s" % (fault["line"], ", ".join(sorted(came)))

    def expire(self, client):
        """Ends the session of a client."""
        self.call("POST", "/expire", {"session": "0x%x" % client.client_id[0]})


@pytest.fixture(scope="session")
def zksim():
    """The address of the control endpoint."""
    if "ZKSIM_CONTROL" in os.environ:
        yield "http://" + os.environ["ZKSIM_CONTROL"]
        return
    command = [os.environ.get("ZKSIM", "zksim"), "serve", "--addr=127.0.0.1:0", "--control=127.0.0.1:0"]
    try:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        pytest.fail("%s: put zksim on the PATH, or its name into the variable ZKSIM" % error)
    with server:
        line = server.stdout.readline()  # control on HOST:PORT
        if not line.startswith("control on "):
            pytest.fail("%s: it has not served, see its error above" % " ".join(command))
        yield "http://" + line.split()[-1]
        server.terminate()


@pytest.fixture
def zookeeper(zksim):
    """A ZooKeeper that nobody else uses."""
    namespace = ZooKeeper(zksim, None).call("POST", "/namespaces")
    server = ZooKeeper("%s/namespaces/%s" % (zksim, namespace["name"]), namespace["addr"])
    yield server
    for client in server.clients:
        client.stop()
        client.close()
    ZooKeeper(zksim, None).call("DELETE", "/namespaces/" + namespace["name"])

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A ZooKeeper for each test, over zksim serve.
 *
 * <pre>
 * {@literal @}RegisterExtension
 * ZksimExtension zookeeper = new ZksimExtension();
 * </pre>
 *
 * One zksim serve is started for all tests, or the one at the variable ZKSIM_CONTROL is used. Each
 * test has a namespace of it: a server of its own, so tests may run at the same time.
 */
public class ZksimExtension implements BeforeEachCallback, AfterEachCallback {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static String endpoint;

    private final List<CuratorFramework> clients = new ArrayList<>();
    private String namespace;
    private String address;

    /** The address of the control endpoint. */
    private static synchronized String endpoint() throws IOException {
        if (endpoint == null && System.getenv("ZKSIM_CONTROL") != null) {
            endpoint = "http://" + System.getenv("ZKSIM_CONTROL");
        } else if (endpoint == null) {
            String zksim = System.getenv().getOrDefault("ZKSIM", "zksim");
            Process server = new ProcessBuilder(zksim, "serve", "--addr=127.0.0.1:0", "--control=127.0.0.1:0")
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            Runtime.getRuntime().addShutdownHook(new Thread(server::destroy));
            String line = new BufferedReader(new InputStreamReader(server.getInputStream())).readLine();
            if (line == null || !line.startsWith("control on ")) {
                throw new IOException(zksim + " serve has not served, see its error above");
            }
            endpoint = "http://" + line.substring(line.lastIndexOf(' ') + 1); // control on HOST:PORT
        }
        return endpoint;
    }

    @Override
    public void beforeEach(ExtensionContext context) throws Exception {
        String made = send("POST", endpoint() + "/namespaces", "");
        namespace = field(made, "name");
        address = field(made, "addr");
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        clients.forEach(CuratorFramework::close);
        send("DELETE", endpoint() + "/namespaces/" + namespace, "");
    }

    /** The connect string of the test's server. */
    public String address() {
        return address;
    }

    /** A connected client, which is closed at the end of the test. */
    public CuratorFramework client() throws InterruptedException {
        CuratorFramework client = CuratorFrameworkFactory.newClient(address, 10_000, 10_000, new ExponentialBackoffRetry(50, 8));
        clients.add(client);
        client.start();
        client.blockUntilConnected();
        return client;
    }

    /** Asks the control endpoint. The page docs/control.md has all requests. */
    public String call(String method, String path, String body) throws Exception {
        return send(method, endpoint() + "/namespaces/" + namespace + path, body);
    }

    /** Arms a fault, such as "drop-reply op=create request=1", and returns its number. */
    public String inject(String line) throws Exception {
        return field(call("POST", "/faults", line), "number");
    }

    /** Waits until a fault has fired: one that never does tests nothing. */
    public void awaitFault(String number) throws Exception {
        String fault = call("GET", "/faults/" + number + "?wait=20s", "");
        if (!field(fault, "fired").equals("true")) {
            throw new AssertionError("not fired: " + field(fault, "line") + "; the requests that came: "
                + call("GET", "/history?kind=request", ""));
        }
    }

    /** Ends the session of a client. */
    public void expire(CuratorFramework client) throws Exception {
        long session = client.getZookeeperClient().getZooKeeper().getSessionId();
        call("POST", "/expire", "{\"session\":\"0x" + Long.toHexString(session) + "\"}");
    }

    private static String send(String method, String address, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(address))
            .method(method, HttpRequest.BodyPublishers.ofString(body)).build();
        HttpResponse<String> reply = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
        if (reply.statusCode() > 299) {
            throw new IllegalStateException(method + " " + address + ": " + reply.body());
        }
        return reply.body();
    }

    /** The first field of that name in an answer, so that the example needs no JSON library. */
    private static String field(String json, String name) {
        Matcher found = Pattern.compile("\"" + name + "\": \"?([^\",\n]*)").matcher(json);
        if (!found.find()) {
            throw new IllegalStateException("no " + name + " in " + json);
        }
        return found.group(1);
    }
}

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;

public class Receive {
  /** In production, a table with the primary key id. Store each key by reference, product and key id, in the same transaction. */
  static final ConcurrentHashMap<String, String> EVENTS = new ConcurrentHashMap<>();

  static void saveOnce(String id, String event) {
    if (EVENTS.putIfAbsent(id, event) == null) System.out.println("received " + id);
  }

  static int receive(Webhook webhook, com.sun.net.httpserver.HttpExchange exchange) {
    try {
      var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      webhook.verify(body, exchange.getRequestHeaders());
      saveOnce(exchange.getRequestHeaders().getFirst("webhook-id"), body);
      return 204; // only after the commit
    } catch (WebhookVerificationException wrong) {
      return 401;
    } catch (Exception failed) {
      return 500;
    }
  }

  public static void main(String[] args) throws Exception {
    var webhook = new Webhook(System.getenv("DELIVERY_SECRET"));
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 8088), 0);
    server.createContext(
        "/events",
        exchange -> {
          exchange.sendResponseHeaders(receive(webhook, exchange), -1);
          exchange.close();
        });
    server.setExecutor(Executors.newCachedThreadPool()); // otherwise one slow request would block the others
    server.start();
  }
}

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

public class Receive {
  /**
   * Yours, in one transaction: INSERT INTO events (id, event) VALUES (?, ?) ON CONFLICT DO NOTHING, and likewise each key by
   * reference, product and key id.
   */
  static void saveOnce(String id, String event) {
    throw new UnsupportedOperationException("not written yet");
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
    server.setExecutor(Executors.newCachedThreadPool()); // else one slow sender holds all the others up
    server.start();
  }
}

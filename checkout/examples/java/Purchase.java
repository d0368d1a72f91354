import io.temporal.api.enums.v1.WorkflowIdConflictPolicy;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowExecutionAlreadyStarted;
import io.temporal.client.WorkflowOptions;
import io.temporal.common.converter.GlobalDataConverter;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

public class Purchase {
  public record Item(String productId, int quantity) {}

  public record Sale(String referenceId, List<Item> items) {}

  /** Starts or finds the purchase of a sale. On any exception except IllegalStateException (other items), repeat the call. */
  static void purchase(WorkflowClient client, Sale sale) {
    var options =
        WorkflowOptions.newBuilder()
            .setWorkflowId("purchase-" + sale.referenceId())
            .setTaskQueue("fulfilment")
            .setWorkflowIdReusePolicy(WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
            .setWorkflowIdConflictPolicy(WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_FAIL)
            .build();
    try {
      client.newUntypedWorkflowStub("purchaseWorkflow", options).start(sale);
    } catch (WorkflowExecutionAlreadyStarted already) {
      var first = client.fetchHistory(options.getWorkflowId()).getEvents().get(0);
      var input = first.getWorkflowExecutionStartedEventAttributes().getInput();
      var known = GlobalDataConverter.get().fromPayloads(0, Optional.of(input), Sale.class, Sale.class);
      if (!Set.copyOf(known.items()).equals(Set.copyOf(sale.items()))) {
        throw new IllegalStateException(sale.referenceId() + " bought other items: " + known.items());
      }
    }
  }

  public static void main(String[] args) {
    var server = WorkflowServiceStubsOptions.newBuilder().setTarget("localhost:7233").build();
    var service = WorkflowServiceStubs.newServiceStubs(server);
    var client = WorkflowClient.newInstance(service);
    purchase(client, new Sale("SHOP-1", List.of(new Item("demo-instant", 1))));
    System.out.println(client.newUntypedWorkflowStub("purchase-SHOP-1").getResult(Map.class)); // waits until the purchase ends
    service.shutdown();
  }
}

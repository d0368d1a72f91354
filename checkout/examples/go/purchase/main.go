package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
)

type Item struct {
	ProductID string `json:"productId"`
	Quantity  int    `json:"quantity"`
}

type Sale struct {
	ReferenceID string `json:"referenceId"`
	Items       []Item `json:"items"`
}

var errOtherItems = errors.New("the reference bought other items")

// purchase starts or finds the purchase of a sale. On any error except errOtherItems, repeat the call.
func purchase(ctx context.Context, c client.Client, sale Sale) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	id := "purchase-" + sale.ReferenceID
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                                       id,
		TaskQueue:                                "fulfilment",
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy:                 enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, "purchaseWorkflow", sale)
	var already *serviceerror.WorkflowExecutionAlreadyStarted
	if !errors.As(err, &already) {
		return err
	}
	event, err := c.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
	if err != nil {
		return err
	}
	var known Sale
	input := event.GetWorkflowExecutionStartedEventAttributes().GetInput()
	if err := converter.GetDefaultDataConverter().FromPayloads(input, &known); err != nil {
		return err
	}
	if !slices.Equal(sorted(known.Items), sorted(sale.Items)) {
		return errOtherItems
	}
	return nil
}

func sorted(items []Item) []Item {
	return slices.SortedFunc(slices.Values(items), func(a, b Item) int { return strings.Compare(a.ProductID, b.ProductID) })
}

func main() {
	c, err := client.Dial(client.Options{HostPort: "localhost:7233", Namespace: "default"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	sale := Sale{ReferenceID: "SHOP-1", Items: []Item{{ProductID: "demo-instant", Quantity: 1}}}
	if err := purchase(context.Background(), c, sale); err != nil {
		log.Fatal(err)
	}
	var result struct{ Outcome string }
	// Get waits until the purchase ends.
	if err := c.GetWorkflow(context.Background(), "purchase-SHOP-1", "").Get(context.Background(), &result); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Outcome)
}

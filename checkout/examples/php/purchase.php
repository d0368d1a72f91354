<?php
require 'vendor/autoload.php';

use Temporal\Client\GRPC\ServiceClient;
use Temporal\Client\WorkflowClient;
use Temporal\Client\WorkflowOptions;
use Temporal\Common\IdReusePolicy;
use Temporal\Common\WorkflowIdConflictPolicy;
use Temporal\Exception\Client\WorkflowExecutionAlreadyStartedException;

/** Starts or finds the purchase of a sale. Throws DomainException if the items differ. On any other exception, repeat the call. */
function purchase(WorkflowClient $client, array $sale): void
{
    $options = WorkflowOptions::new()
        ->withWorkflowId('purchase-' . $sale['referenceId'])
        ->withTaskQueue('fulfilment')
        ->withWorkflowIdReusePolicy(IdReusePolicy::RejectDuplicate)
        ->withWorkflowIdConflictPolicy(WorkflowIdConflictPolicy::Fail);
    try {
        $client->start($client->newUntypedWorkflowStub('purchaseWorkflow', $options), $sale);
    } catch (WorkflowExecutionAlreadyStartedException $already) {
        foreach ($client->getWorkflowHistory($already->getExecution(), pageSize: 1) as $event) {
            $payloads = $event->getWorkflowExecutionStartedEventAttributes()->getInput()->getPayloads();
            $known = json_decode($payloads[0]->getData(), true);
            break;
        }
        if (itemsOf($known) !== itemsOf($sale)) {
            throw new DomainException($sale['referenceId'] . ' bought other items');
        }
    }
}

function itemsOf(array $sale): array
{
    $items = array_column($sale['items'], 'quantity', 'productId');
    ksort($items, SORT_STRING);
    return $items;
}

$client = WorkflowClient::create(ServiceClient::create('localhost:7233'));
purchase($client, ['referenceId' => 'SHOP-1', 'items' => [['productId' => 'demo-instant', 'quantity' => 1]]]);
print_r($client->newUntypedRunningWorkflowStub('purchase-SHOP-1')->getResult('array')); // waits until the purchase ends

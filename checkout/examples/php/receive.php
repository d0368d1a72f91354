<?php
http_response_code(500); // until the event is stored: otherwise PHP may answer 200 after an error
require 'vendor/autoload.php';

use StandardWebhooks\Exception\WebhookVerificationException;
use StandardWebhooks\Webhook;

$secret = getenv('DELIVERY_SECRET') ?: throw new RuntimeException('DELIVERY_SECRET is not set');
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
try {
    $event = (new Webhook($secret))->verify(file_get_contents('php://input'), [
        'webhook-id' => $id,
        'webhook-timestamp' => $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '',
        'webhook-signature' => $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '',
    ]);
} catch (WebhookVerificationException) {
    http_response_code(401);
    exit;
}
if (!is_array($event)) throw new RuntimeException('PHP cannot decode the event'); // half a surrogate pair, for example
$database = new PDO('sqlite:events.db'); // after an exception, the worker sends the event again
$database->exec('CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, event TEXT NOT NULL)');
$database->exec('CREATE TABLE IF NOT EXISTS keys (sale, product, id, value, PRIMARY KEY (sale, product, id))');
$database->beginTransaction();
$database->prepare('INSERT INTO events VALUES (?, ?) ON CONFLICT DO NOTHING')->execute([$id, json_encode($event)]);
$insertKey = $database->prepare('INSERT INTO keys VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
foreach ($event['data']['lines'] ?? [] as $line) {
    foreach ($line['keys'] ?? [] as $key) {
        $insertKey->execute([$event['data']['referenceId'], $line['productId'], $key['id'], $key['value']]);
    }
}
$database->commit();
http_response_code(204); // only after the commit

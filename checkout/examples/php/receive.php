<?php
require 'vendor/autoload.php';

use StandardWebhooks\Exception\WebhookVerificationException;
use StandardWebhooks\Webhook;

$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
try {
    $event = (new Webhook(getenv('DELIVERY_SECRET')))->verify(file_get_contents('php://input'), [
        'webhook-id' => $id,
        'webhook-timestamp' => $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '',
        'webhook-signature' => $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '',
    ]);
} catch (WebhookVerificationException) {
    http_response_code(401);
    exit;
}
$database = new PDO('sqlite:events.db'); // an exception is a 500, and the event comes again
$database->exec('CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, event TEXT NOT NULL)');
$database->prepare('INSERT INTO events VALUES (?, ?) ON CONFLICT DO NOTHING')->execute([$id, json_encode($event)]);
// Yours: each key by reference, product and key id, in the same transaction.
http_response_code(204); // only after the commit

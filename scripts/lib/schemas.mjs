import { createRequire } from 'node:module';
import { z } from 'zod';

const load = createRequire(import.meta.url);

const DESCRIPTION =
  'The worker posts these events to DELIVERY_URL, signed with Standard Webhooks (https://www.standardwebhooks.com). Each event is ' +
  'delivered at least once, with the same webhook-id. Later versions may add types and fields. See docs/checkout.md.';

/**
 * The content of docs/schemas by file name, generated from the worker's own contracts in `dist`.
 *
 * @returns {Record<string, object>}
 */
export function schemaFiles() {
  const { purchaseInput, purchaseResult } = load('../../dist/contracts/purchase.js');
  return {
    'purchase-input.schema.json': z.toJSONSchema(purchaseInput, { io: 'input' }),
    'purchase-result.schema.json': z.toJSONSchema(purchaseResult, { io: 'input' }),
    'events.openapi.json': eventsDocument(),
  };
}

/** The events as an OpenAPI document of webhooks. */
export function eventsDocument() {
  /** @type {Record<string, { summary: string, data: z.ZodType }>} */
  const events = load('../../dist/contracts/events.js').EVENTS;
  const webhooks = Object.entries(events).map(([type, { summary }]) => [type, { post: operation(type, summary) }]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Events of the fulfilment worker',
      version: '1',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    webhooks: Object.fromEntries(webhooks),
    components: { schemas: componentSchemas(events), parameters: PARAMETERS, responses: RESPONSES },
  };
}

/** @type {(type: string, summary: string) => object} */
function operation(type, summary) {
  return {
    operationId: nameOf(type),
    summary,
    security: [],
    parameters: Object.keys(PARAMETERS).map((name) => reference('parameters', name)),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: reference('schemas', nameOf(type)), examples: examplesOf(type) } },
    },
    responses: {
      '2XX': reference('responses', 'received'),
      410: reference('responses', 'never'),
      default: reference('responses', 'again'),
    },
  };
}

/** @type {(type: string) => Record<string, { value: object }>} */
function examplesOf(type) {
  return Object.fromEntries(samplesOf(type).map((value, index) => [`sample${index + 1}`, { value }]));
}

/**
 * The sample bodies of an event.
 *
 * @type {(type: string) => { type: string, timestamp: string, data: object }[]}
 */
export function samplesOf(type) {
  const { EVENT_SAMPLES } = load('../../dist/contracts/event-samples.js');
  return EVENT_SAMPLES.filter((/** @type {{ type: string }} */ sample) => sample.type === type);
}

const PARAMETERS = {
  'webhook-id': header(
    'webhook-id',
    'The same for every attempt, and for events with the same type, reference, order, keys and subject (the hold, notice, finding or ' +
      'reconciliation that an event is about). Times, texts and amounts may differ.',
    'string',
  ),
  'webhook-timestamp': header('webhook-timestamp', 'When this attempt was signed: seconds since 1970.', 'integer'),
  'webhook-signature': header(
    'webhook-signature',
    'One v1,BASE64 for each secret in use, separated by spaces.',
    'string',
  ),
};

const RESPONSES = {
  received: { description: 'Received and stored.' },
  never: {
    description:
      'The event is rejected permanently. If it is the outcome of a purchase, the purchase is held for an operator.',
  },
  again: { description: 'The worker retries with increasing delays. For how long depends on the event.' },
};

/** @type {(name: string, description: string, type: string) => object} */
function header(name, description, type) {
  return { name, in: 'header', required: true, description, schema: { type } };
}

/**
 * A schema for each event, and those of the parts that several have.
 *
 * @type {(events: Record<string, { data: z.ZodType }>) => Record<string, object>}
 */
function componentSchemas(events) {
  const { eventKey, eventLine } = load('../../dist/contracts/events.js');
  /** @type {z.core.$ZodRegistry<{ id: string }>} */
  const registry = z.registry();
  registry.add(eventKey, { id: 'Key' });
  registry.add(eventLine, { id: 'Line' });
  for (const [type, { data }] of Object.entries(events)) {
    const timestamp = z.string().meta({ format: 'date-time', description: 'When this attempt was made.' });
    registry.add(z.looseObject({ type: z.literal(type), timestamp, data }), { id: nameOf(type) });
  }
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => reference('schemas', id).$ref });
  const named = Object.entries(schemas).map(([id, { $schema: _dialect, $id: _uri, ...schema }]) => [id, schema]);
  return Object.fromEntries(named);
}

/** @type {(kind: string, name: string) => { $ref: string }} */
function reference(kind, name) {
  return { $ref: `#/components/${kind}/${name}` };
}

/**
 * `PurchaseDelivered` of `purchase.delivered`.
 *
 * @type {(type: string) => string}
 */
function nameOf(type) {
  return type.replaceAll(/(?:^|[._])([a-z])/g, (_, first) => first.toUpperCase());
}

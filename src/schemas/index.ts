import { z } from 'zod';
import { EVENTS, key, line } from './events';
import { purchaseInput, purchaseResult } from './purchase';

/** What docs/schemas holds, by the names of its files. `npm run docs` writes them. */
export function schemaFiles(): Record<string, object> {
  return {
    'purchase-input.schema.json': z.toJSONSchema(purchaseInput, { io: 'input' }),
    'purchase-result.schema.json': z.toJSONSchema(purchaseResult, { io: 'input' }),
    'events.openapi.json': eventsDocument(),
  };
}

const DESCRIPTION =
  'What a worker posts to DELIVERY_URL, signed by Standard Webhooks (https://www.standardwebhooks.com). Each event comes at least ' +
  'once, under the same webhook-id and with the same body. Types and fields may be added. docs/checkout.md explains it.';

/** The events as an OpenAPI document of webhooks. */
function eventsDocument(): object {
  const webhooks = Object.entries(EVENTS).map(
    ([type, { summary }]) => [type, { post: operation(type, summary) }] as const,
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Events of the fulfilment worker',
      version: '1',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    webhooks: Object.fromEntries(webhooks),
    components: { schemas: componentSchemas(), parameters: PARAMETERS, responses: RESPONSES },
  };
}

function operation(type: string, summary: string): object {
  return {
    operationId: nameOf(type),
    summary,
    security: [],
    parameters: Object.keys(PARAMETERS).map((name) => reference('parameters', name)),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: reference('schemas', nameOf(type)) } },
    },
    responses: {
      '2XX': reference('responses', 'received'),
      '410': reference('responses', 'never'),
      default: reference('responses', 'again'),
    },
  };
}

const PARAMETERS = {
  'webhook-id': header(
    'webhook-id',
    'Names the event: the same for every attempt, and never used for another.',
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
  never: { description: 'The event is held for an operator.' },
  again: { description: 'Tried again, with growing pauses, for at least 24 hours; then held.' },
};

function header(name: string, description: string, type: string): object {
  return { name, in: 'header', required: true, description, schema: { type } };
}

/** A schema for each event, and those of the parts that several have. */
function componentSchemas(): Record<string, object> {
  const registry = z.registry<{ id: string }>();
  registry.add(key, { id: 'Key' });
  registry.add(line, { id: 'Line' });
  for (const [type, { data }] of Object.entries(EVENTS)) {
    const timestamp = z
      .string()
      .meta({ format: 'date-time', description: 'When it happened; the same for every attempt.' });
    registry.add(z.object({ type: z.literal(type), timestamp, data }), { id: nameOf(type) });
  }
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => reference('schemas', id).$ref });
  const named = Object.entries(schemas).map(
    ([id, { $schema: _dialect, $id: _uri, ...schema }]) => [id, schema] as const,
  );
  return Object.fromEntries(named);
}

function reference(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

/** `PurchaseDelivered` of `purchase.delivered`. */
function nameOf(type: string): string {
  return type.replaceAll(/(?:^|[._])([a-z])/g, (_, first: string) => first.toUpperCase());
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv, { type ValidateFunction } from 'ajv/dist/2020';
import type { CheckoutEvent } from '../../src/contracts/events';

type Schema = Record<string, unknown>;

/** The schemas of docs/schemas, compiled at the first use. */
let compiled: { event: (type: string) => ValidateFunction | undefined; result: ValidateFunction } | undefined;

/**
 * The violations of docs/schemas/events.openapi.json in events that a checkout received. Undocumented fields count too,
 * although the document tells receivers to ignore them.
 */
export function undocumentedEvents(events: readonly CheckoutEvent[]): string[] {
  return events.flatMap((event) => {
    const validate = schemas().event(event.type);
    return validate ? faultsOf(validate, event, event.type) : [`there is no event ${event.type}`];
  });
}

/** The violations of docs/schemas/purchase-result.schema.json in the result of a purchase. */
export function undocumentedResult(result: unknown): string[] {
  return faultsOf(schemas().result, result, 'result');
}

/** Whether the input of a purchase is valid under docs/schemas/purchase-input.schema.json. */
export function isDocumentedInput(input: unknown): boolean {
  return new Ajv().compile(withoutDialect('purchase-input.schema.json'))(input);
}

function faultsOf(validate: ValidateFunction, value: unknown, name: string): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${name}${instancePath} ${message}: ${JSON.stringify(params)}`,
  );
}

function schemas() {
  if (compiled) return compiled;
  const ajv = new Ajv({ allErrors: true, formats: { 'date-time': (text: string) => !Number.isNaN(Date.parse(text)) } });
  ajv.addVocabulary(['openapi', 'info', 'webhooks', 'components']);
  ajv.addSchema(closed(withoutDialect('events.openapi.json')), 'events');
  const { webhooks } = withoutDialect('events.openapi.json') as { webhooks: Record<string, Webhook> };
  compiled = {
    result: ajv.compile(closed(withoutDialect('purchase-result.schema.json'))),
    event(type) {
      const reference = webhooks[type]?.post.requestBody.content['application/json'].schema.$ref;
      return reference === undefined ? undefined : ajv.getSchema(`events${reference}`);
    },
  };
  return compiled;
}

interface Webhook {
  post: { requestBody: { content: { 'application/json': { schema: { $ref: string } } } } };
}

function withoutDialect(file: string): Schema {
  const text = readFileSync(join(__dirname, '../../docs/schemas', file), 'utf8');
  const { $schema: _dialect, ...schema } = JSON.parse(text) as Schema;
  return schema;
}

/** The schema, changed so that objects with named fields allow no others. */
function closed<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    return 'properties' in value && 'type' in value ? { ...value, additionalProperties: false } : value;
  }) as T;
}

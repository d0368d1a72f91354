import { format } from 'prettier';
import { eventsDocument, samplesOf } from './schemas.mjs';

/** @typedef {{ type?: string, const?: string, enum?: string[], $ref?: string, anyOf?: Schema[], items?: Schema, description?: string, properties?: Record<string, Schema>, required?: string[], additionalProperties?: unknown }} Schema */

/** @typedef {{ type: string, summary: string, forms: Schema[] }} Event */

/**
 * The list of events in docs/checkout.md: each with the `data` of its samples. Events with the same fields share one, and
 * the events that a checkout ignores have none.
 */
export async function eventSamples() {
  const types = eventList().flatMap(({ type }) => (type.startsWith('purchase.') ? [type] : []));
  const shapes = [...new Set(types.map(shapeOf))];
  const parts = shapes.map(async (shape) => {
    const [first = '', ...others] = types.filter((type) => shapeOf(type) === shape);
    const names = [first, ...others].map(nameWithDifference).join(', ');
    const samples = samplesOf(first).map(async ({ data }) => fenced(data));
    return [`**${names}**`, ...(await Promise.all(samples))];
  });
  return [(await Promise.all(parts)).flat().join('\n\n')];
}

/**
 * The same for events about a sale whose samples differ only in their values and in `outcome`.
 *
 * @type {(type: string) => string}
 */
function shapeOf(type) {
  const [sample, ...others] = samplesOf(type);
  const isAboutSale = others.length === 0 && sample && 'lines' in sample.data;
  return isAboutSale ? `sale ${JSON.stringify(sample).includes('"keys"')} ${'orderId' in sample.data}` : type;
}

/** @type {(type: string) => string} */
function nameWithDifference(type) {
  const [sample] = samplesOf(type);
  const isLate = sample && 'lines' in sample.data && !('outcome' in sample.data);
  return `\`${type}\`${isLate ? ' (without `outcome`)' : ''}`;
}

/** The body of docs/reference/events.md: the events with their fields, and the meaning of each field. */
export function eventReference() {
  const events = eventList();
  const fieldsOf = (/** @type {Event} */ { forms }) => forms.map(fieldNames).join('; or ');
  const rows = events.map((event, index) => {
    const fields = fieldsOf(event);
    const before = events[index - 1];
    return `| \`${event.type}\` | ${event.summary} | ${before && fieldsOf(before) === fields ? 'the same' : fields} |`;
  });
  return ['| type | when | fields of `data` |', '|---|---|---|', ...rows, '', '## Fields', '', ...fieldRows(events)];
}

/** @returns {Event[]} */
function eventList() {
  const { webhooks, components } = /** @type {any} */ (eventsDocument());
  return Object.entries(webhooks).map(([type, { post }]) => {
    const { data } = components.schemas[post.operationId].properties;
    return { type, summary: post.summary, forms: data.anyOf ?? [data] };
  });
}

/** @type {(value: object) => Promise<string>} */
async function fenced(value) {
  return `\`\`\`json\n${await format(JSON.stringify(value), { parser: 'json', printWidth: 120 })}\`\`\``;
}

/** @type {(form: Schema) => string} */
function fieldNames({ properties = {}, required = [] }) {
  const names = Object.keys(properties);
  return names.map((name) => (required.includes(name) ? `\`${name}\`` : `\`${name}?\``)).join(', ');
}

/** @type {(events: Event[]) => string[]} */
function fieldRows(events) {
  const { Line, Key } = /** @type {any} */ (eventsDocument()).components.schemas;
  /** @type {Map<string, string>} */
  const rows = new Map();
  const add = (/** @type {string} */ prefix, /** @type {Schema} */ { properties = {} }) => {
    for (const [name, schema] of Object.entries(properties)) {
      // A field's description differs in events without a sale. The first one is used.
      const row = `| \`${prefix}${name}\` | ${typeOf(schema)} | ${schema.description ?? ''} |`;
      if (!rows.has(prefix + name)) rows.set(prefix + name, row);
    }
  };
  for (const form of events.flatMap(({ forms }) => forms)) add('', form);
  add('lines[].', Line);
  add('lines[].keys[].', Key);
  return ['| field | type | meaning |', '|---|---|---|', ...rows.values()];
}

/** @type {(schema: Schema) => string} */
function typeOf({ type, const: value, enum: values, $ref, anyOf, items, additionalProperties }) {
  if (value !== undefined) return 'text';
  if (values) return values.map((one) => `\`${one}\``).join(', ');
  if ($ref) return $ref.split('/').at(-1)?.toLowerCase() ?? '';
  if (anyOf) return anyOf.map(typeOf).join(' or ');
  if (items) return `list of: ${typeOf(items)}`;
  if (type === 'object' && additionalProperties) return 'names and values';
  return { string: 'text' }[type ?? ''] ?? type ?? '';
}

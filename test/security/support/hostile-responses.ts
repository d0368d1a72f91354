import type { Reply } from '../../support/http-server';
import type { Envelope, OrderData } from './hostile-partner';

/** A response to a read of an order that quotes secrets: `said` is all of them, `key` one key of the order. */
export type HostileResponse = (said: string, plain: Envelope<OrderData>, key: string) => Reply;

const json = (value: unknown, status = 200): Reply => ({ status, json: value });
const text = (body: string, status = 200): Reply => ({ status, body });
const raw = (afterStatus: string, then?: 'reset' | 'hold'): Reply => ({
  raw: `HTTP/1.1 200 OK\r\n${afterStatus}`,
  then,
});

/** The text as a valid header value. */
export function headerText(said: string): string {
  return said.replace(/[^\x21-\x7e]+/g, '_');
}

/** Error statuses, pages, headers and partial responses. */
export const BROKEN_RESPONSES: Record<string, HostileResponse> = {
  'an error body': (said, plain) =>
    json({ ...plain, status: 500, success: false, details: { data: { code: said, message: said } } }, 500),
  "a proxy's page": (said) => text(`<html><pre>x-api-key: ${said}</pre>`, 502),
  'a page with status 200': (said) => text(`<html>${said}</html>`),
  'a failure in the envelope': (said, plain) => {
    const details = { data: { message: said }, extensions: { trace_id: headerText(said) } };
    return json({ ...plain, success: false, details });
  },
  'an error status in the envelope': (said, plain) => json({ ...plain, status: 503, message: said }),
  'access denied': (said) => text(said, 401),
  'access forbidden': (said) => json({ message: said }, 403),
  'not found': (said) => json({ message: said }, 404),
  'too many requests': (said) => {
    const headers = { 'retry-after': headerText(said), 'x-echo': headerText(said) };
    return { status: 429, headers, body: said };
  },
  'a redirect': (said) => {
    const headers = { location: `http://127.0.0.1:1/?${encodeURIComponent(said)}` };
    return { status: 307, headers, body: said };
  },
  'a reason phrase': (said) => ({ raw: `HTTP/1.1 500 ${headerText(said)}\r\ncontent-length: 0\r\n\r\n` }),
  'no HTTP': (said) => ({ raw: `${said}\r\n\r\n` }),
  'a header that is none': (said) => raw(`${said}\r\n\r\n{}`),
  'a length that is none': (said) => raw(`content-length: ${said}\r\n\r\n{}`),
  'a chunk that is none': (said) => raw(`transfer-encoding: chunked\r\n\r\n${said}\r\n`),
  'half JSON': (_, plain, key) => {
    const whole = JSON.stringify(plain);
    const upToTheKey = whole.slice(0, whole.indexOf(JSON.stringify(key)) + key.length);
    return raw(`content-type: application/json\r\n\r\n${upToTheKey}`);
  },
  'JSON that stops being JSON at the key': (said) => text(`{"status":200,"details":${said}`),
  'a key alone': (_, __, key) => text(`x${key}`),
  'a key that is no UTF-8': (_, plain, key) => ({
    headers: { 'content-type': 'application/json' },
    body: Buffer.concat([Buffer.from(JSON.stringify(plain).replace(JSON.stringify(key), `"${key}`)), Buffer.of(0xff)]),
  }),
  'a reset in the body': (said) => raw(`content-length: 9999\r\n\r\n${said}`, 'reset'),
  'a body that never ends': (said) => raw(`content-length: 9999\r\n\r\n${said}`, 'hold'),
};

/** Each has one field with another type or form than documented, and a secret in it. */
export const WRONG_FIELDS: Record<string, HostileResponse> = {
  status: (said, plain) => json({ ...plain, status: said }),
  success: (said, plain) => json({ ...plain, success: said }),
  details: (said, plain) => json({ ...plain, details: said }),
  'details.data': (said, plain) => json({ ...plain, details: { data: said } }),
  ...ofOrder('id', (said) => ({ id: said })),
  ...ofOrder('status', (said) => ({ status: [said] })),
  ...ofOrder('an unknown status', (_, __, key) => ({ status: key })),
  ...ofOrder('products', (said) => ({ products: said })),
  ...ofOrder('products.0', (said) => ({ products: [said] })),
  ...ofOrder('total_debit', (said) => ({ total_debit: said })),
  ...ofOrder('balance', (said) => ({ balance: said })),
  ...ofOrder('balance.credit_limit', (said) => ({ balance: { credit_limit: said } })),
  ...ofProduct('id', (said) => ({ id: { [said]: said } })),
  ...ofProduct('title', (said) => ({ title: [said] })),
  ...ofProduct('quantity', (said) => ({ quantity: said })),
  ...ofProduct('keys', (said) => ({ keys: said })),
  ...ofProduct('keys.0', (said) => ({ keys: [said] })),
  ...ofProduct('keys.0.value', (said) => ({ keys: [{ value: { [said]: said }, type: 'text' }] })),
  ...ofProduct('keys.0.type', (said) => ({ keys: [{ value: said, type: { [said]: 1 } }] })),
};

function ofOrder(
  field: string,
  change: (said: string, order: OrderData, key: string) => object,
): Record<string, HostileResponse> {
  return {
    [`details.data: ${field}`]: (said, plain, key) => {
      const { details } = plain;
      const data = { ...details.data, ...change(said, details.data, key) };
      return json({ ...plain, details: { ...details, data } });
    },
  };
}

function ofProduct(field: string, change: (said: string) => object): Record<string, HostileResponse> {
  return ofOrder(`products.0.${field}`, (said, { products }) => ({
    products: products.map((product) => ({ ...product, ...change(said) })),
  }));
}

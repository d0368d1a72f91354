import type { Reply } from '../../support/http-server';
import type { Envelope, OrderData } from './hostile-partner';

/** An answer to a look at an order that quotes what must stay secret: `said` is all of it, `key` one key of the order. */
export type HostileAnswer = (plain: Envelope<OrderData>, key: string, said: string) => Reply;

const json = (value: unknown, status = 200): Reply => ({ status, json: value });
const text = (body: string, status = 200): Reply => ({ status, body });

/** A text that a header may carry. */
export function headerText(said: string): string {
  return said.replace(/[^\x21-\x7e]+/g, '_');
}

/** Error statuses, pages, headers and half answers. */
export const BROKEN_ANSWERS: Record<string, HostileAnswer> = {
  'an error body': (plain, _key, said) =>
    json({ ...plain, status: 500, success: false, details: { data: { code: said, message: said } } }, 500),
  "a proxy's page": (_plain, _key, said) => text(`<html><pre>x-api-key: ${said}</pre>`, 502),
  'a page with status 200': (_plain, _key, said) => text(`<html>${said}</html>`),
  'a failure in the envelope': (plain, _key, said) =>
    json({
      ...plain,
      success: false,
      details: { data: { message: said }, extensions: { trace_id: headerText(said) } },
    }),
  'an error status in the envelope': (plain, _key, said) => json({ ...plain, status: 503, message: said }),
  'access refused': (_plain, _key, said) => text(said, 401),
  'access forbidden': (_plain, _key, said) => json({ message: said }, 403),
  'not found': (_plain, _key, said) => json({ message: said }, 404),
  'too many requests': (_plain, _key, said) => ({
    status: 429,
    headers: { 'retry-after': headerText(said), 'x-echo': headerText(said) },
    body: said,
  }),
  'a redirect': (_plain, _key, said) => ({
    status: 307,
    headers: { location: `http://127.0.0.1:1/?${encodeURIComponent(said)}` },
    body: said,
  }),
  'a reason phrase': (_plain, _key, said) => ({ raw: `HTTP/1.1 500 ${headerText(said)}\r\ncontent-length: 0\r\n\r\n` }),
  'no HTTP': (_plain, _key, said) => ({ raw: `${said}\r\n\r\n` }),
  'a header that is none': (_plain, _key, said) => ({ raw: `HTTP/1.1 200 OK\r\n${said}\r\n\r\n{}` }),
  'a length that is none': (_plain, _key, said) => ({ raw: `HTTP/1.1 200 OK\r\ncontent-length: ${said}\r\n\r\n{}` }),
  'a chunk that is none': (_plain, _key, said) => ({
    raw: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${said}\r\n`,
  }),
  'half JSON': (plain, key) => {
    const whole = JSON.stringify(plain);
    const upToTheKey = whole.slice(0, whole.indexOf(JSON.stringify(key)) + key.length);
    return { raw: `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n${upToTheKey}` };
  },
  'JSON that stops being JSON at the key': (_plain, _key, said) => text(`{"status":200,"details":${said}`),
  'a key alone': (_plain, key) => text(`x${key}`),
  'a key that is no UTF-8': (plain, key) => ({
    headers: { 'content-type': 'application/json' },
    body: Buffer.concat([Buffer.from(JSON.stringify(plain).replace(JSON.stringify(key), `"${key}`)), Buffer.of(0xff)]),
  }),
  'a reset in the body': (_plain, _key, said) => ({
    raw: `HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n${said}`,
    then: 'reset',
  }),
  'a body that never ends': (_plain, _key, said) => ({
    raw: `HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n${said}`,
    then: 'hold',
  }),
};

/** One field each that has another type or form than the document's, with a secret in it. */
export const WRONG_FIELDS: Record<string, HostileAnswer> = {
  status: (plain, _key, said) => json({ ...plain, status: said }),
  success: (plain, _key, said) => json({ ...plain, success: said }),
  details: (plain, _key, said) => json({ ...plain, details: said }),
  'details.data': (plain, _key, said) => json({ ...plain, details: { data: said } }),
  ...ofOrder('id', (_, __, said) => ({ id: said })),
  ...ofOrder('status', (_, __, said) => ({ status: [said] })),
  ...ofOrder('an unknown status', (_, key) => ({ status: key })),
  ...ofOrder('products', (_, __, said) => ({ products: said })),
  ...ofOrder('products.0', (_, __, said) => ({ products: [said] })),
  ...ofOrder('total_debit', (_, __, said) => ({ total_debit: said })),
  ...ofOrder('balance', (_, __, said) => ({ balance: said })),
  ...ofOrder('balance.credit_limit', (_, __, said) => ({ balance: { credit_limit: said } })),
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
  change: (order: OrderData, key: string, said: string) => object,
): Record<string, HostileAnswer> {
  return {
    [`details.data: ${field}`]: (plain, key, said) => {
      const data = { ...plain.details.data, ...change(plain.details.data, key, said) };
      return json({ ...plain, details: { ...plain.details, data } });
    },
  };
}

function ofProduct(field: string, change: (said: string) => object): Record<string, HostileAnswer> {
  return ofOrder(`products.0.${field}`, (order, _key, said) => ({
    products: order.products.map((product) => ({ ...product, ...change(said) })),
  }));
}

import { join } from 'node:path';
import type { LedgerReport } from '../sandbox';
import { projectRoot } from './paths';
import { freePort, startProgram } from './processes';

/** The number of requests that the partner received. */
export interface PartnerRequests {
  place: number;
  keys: number;
  orders: number;
  products: number;
}

/** The sandbox as a separate process, with no artificial delay. */
export interface SandboxProcess {
  url: string;
  requests(): Promise<PartnerRequests>;
  ledger(): Promise<LedgerReport>;
  /** Completes the order now. */
  complete(orderId: string): Promise<void>;
  /** Adds orders of the last `days` days that belong to no purchase. */
  addPastOrders(count: number, days: number): Promise<void>;
  stop(): Promise<void>;
}

/** @param speed how many times faster than real time orders age. */
export async function startSandboxProcess(speed: number): Promise<SandboxProcess> {
  const port = await freePort();
  const program = startProgram(process.execPath, [join(projectRoot, 'sandbox/dist/main.js')], {
    PORT: String(port),
    SANDBOX_SPEED: String(speed),
    SANDBOX_BALANCE: '1000000000',
  });
  await program.untilWritten('listens on');
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    requests: () => call<PartnerRequests>('GET', `${url}/admin/requests`),
    ledger: () => call<LedgerReport>('GET', `${url}/admin/books?keys=1`),
    complete: (orderId) => call('PATCH', `${url}/admin/orders/${orderId}`, { status: 'COMPLETED' }),
    addPastOrders: (count, days) => call('POST', `${url}/admin/history`, { count, days }),
    stop: () => program.stop(),
  };
}

async function call<T>(method: string, url: string, body?: unknown): Promise<T> {
  const response = await fetch(url, { method, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

export function totalOf({ place, keys, orders, products }: PartnerRequests): number {
  return place + keys + orders + products;
}

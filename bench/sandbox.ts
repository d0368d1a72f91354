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

/** A request that the partner received. */
export interface PartnerRequest {
  /** When it arrived. */
  at: string;
  path: string;
  /** Only of a placement. */
  referenceId?: string;
  /** How long the partner took to respond, ms. */
  respondedAfterMs?: number;
}

/** The sandbox as a separate process, which responds at once unless told otherwise. */
export interface SandboxProcess {
  url: string;
  requests(): Promise<PartnerRequests>;
  /** At least the last 10,000, oldest first. */
  log(): Promise<readonly PartnerRequest[]>;
  /** From now on waits this long before each response. */
  respondAfter(ms: number): Promise<void>;
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
    log: async () => (await call<{ log: PartnerRequest[] }>('GET', `${url}/admin/requests?log=1`)).log,
    async respondAfter(ms) {
      for (const operation of ['place', 'keys', 'orders', 'products'])
        await call('POST', `${url}/admin/faults`, { operation, times: 'always', action: { type: 'delay', ms } });
    },
    ledger: () => call<LedgerReport>('GET', `${url}/admin/ledger?keys=1`),
    complete: (orderId) => call('PATCH', `${url}/admin/orders/${orderId}`, { status: 'COMPLETED' }),
    addPastOrders: (count, days) => call('POST', `${url}/admin/history`, { count, days }),
    stop: () => program.stop(),
  };
}

async function call<T>(method: string, url: string, body?: unknown): Promise<T> {
  const response = await fetch(url, { method, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

export function totalOf({ place, keys, orders, products }: PartnerRequests): number {
  return place + keys + orders + products;
}

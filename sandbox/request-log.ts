import type { IncomingMessage } from 'node:http';
import type { Operation } from './faults';

const KEPT = 10_000;

/** One call that arrived. Of its headers only the names are kept. */
export interface LoggedRequest {
  at: string;
  /** Connections are numbered as they are opened. */
  connection: number;
  method: string;
  path: string;
  operation?: Operation;
  referenceId?: string;
  headers: string[];
}

/** How often the interface was called, whether or not the call was answered or allowed. */
export type RequestReport = ReturnType<RequestLog['report']>;

export class RequestLog {
  /** Calls to anything else outside the admin routes are `unknown`. */
  readonly #counts = { place: 0, keys: 0, orders: 0, products: 0, unknown: 0 };
  /** How many place-orders were read, by their reference. */
  readonly #placed = new Map<string, number>();
  #log: LoggedRequest[] = [];
  /** Connections opened, those of the admin routes included. */
  connections = 0;

  arrived(request: IncomingMessage, connection: number, at: string, operation?: Operation): LoggedRequest {
    this.#counts[operation ?? 'unknown'] += 1;
    const logged: LoggedRequest = {
      at,
      connection,
      method: request.method ?? '',
      path: request.url ?? '',
      operation,
      headers: Object.keys(request.headers),
    };
    this.#log.push(logged);
    if (this.#log.length > 2 * KEPT) this.#log = this.#log.slice(-KEPT);
    return logged;
  }

  /** The body of a place-order has been read. */
  placed(logged: LoggedRequest, referenceId: string): void {
    logged.referenceId = referenceId;
    this.#placed.set(referenceId, (this.#placed.get(referenceId) ?? 0) + 1);
  }

  placedWith(referenceId: string): number {
    return this.#placed.get(referenceId) ?? 0;
  }

  report() {
    const placedByReference = [...this.#placed].map(([referenceId, requests]) => ({ referenceId, requests }));
    return { connections: this.connections, ...this.#counts, placedByReference };
  }

  /** The last 10,000 calls or more, oldest first. */
  log(): readonly LoggedRequest[] {
    return this.#log;
  }
}

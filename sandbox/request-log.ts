import type { IncomingMessage } from 'node:http';
import type { Operation } from './faults';

const MIN_KEPT = 10_000;

/** A call that was received. Only the names of its headers are kept. */
export interface LoggedRequest {
  at: string;
  /** Connections are numbered in the order they were opened. */
  connection: number;
  method: string;
  path: string;
  operation?: Operation;
  referenceId?: string;
  headers: string[];
  /** From the arrival of the headers until the response was written, ms; undefined without a complete response. */
  respondedAfterMs?: number;
}

/** Counts of calls to the API, including calls that were rejected or got no response. */
export type RequestReport = ReturnType<RequestLog['report']>;

export class RequestLog {
  /** `unknown` counts calls to any other path, except admin routes. */
  readonly #counts = { place: 0, keys: 0, orders: 0, products: 0, unknown: 0 };
  /** Number of place-order requests by reference. */
  readonly #placed = new Map<string, number>();
  #log: LoggedRequest[] = [];
  /** Number of connections opened, including those to admin routes. */
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
    if (this.#log.length > 2 * MIN_KEPT) this.#log = this.#log.slice(-MIN_KEPT);
    return logged;
  }

  /** Counts a place-order request once its body has been read. */
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

  /** At least the last 10,000 calls, oldest first. */
  log(): readonly LoggedRequest[] {
    return this.#log;
  }
}

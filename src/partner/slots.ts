import { performance } from 'node:perf_hooks';
import type { PartnerOperation } from './error-kind';
import { PartnerError } from './errors';
import type { PartnerObserver } from './observer';
import { type QueueTurn, RequestQueue } from './request-queue';
import type { RequestPriority } from './slot-schedule';

/** How a group of requests waits for its slots under `PARTNER_MAX_RPS`. */
export interface RequestTurn {
  priority: RequestPriority;
  /** The same at each new try of the same thing, so that it keeps its place when it is told to come later. */
  key?: string;
  /** Epoch ms: since when it is due; of the same priority, the oldest due goes first. Default: now. */
  due?: number;
  /** Epoch ms: a slot that comes later is of no use. Default: it waits as long as it takes. */
  notAfter?: number;
  /** Ends the waiting. */
  signal?: AbortSignal;
}

/** A turn that has begun. */
export interface OpenTurn {
  turn: QueueTurn;
  signal: AbortSignal | undefined;
}

interface SlotOptions {
  /** Without it there is no ceiling, and nobody waits. */
  maxRequestsPerSecond?: number;
  /** Epoch ms. */
  now: () => number;
  observer?: PartnerObserver;
}

/** The slots of one process: the queue in the partner's terms. */
export function openSlots({ maxRequestsPerSecond, now, observer }: SlotOptions) {
  const queue = maxRequestsPerSecond === undefined ? undefined : openQueue(maxRequestsPerSecond);
  let closed = false;
  const onQueueClock = (epochMs: number) => performance.now() + epochMs - now();

  function open({ priority, key, due = now(), notAfter = Infinity, signal }: RequestTurn): OpenTurn {
    const turn = { priority, key, due: onQueueClock(due), notAfter: onQueueClock(notAfter) };
    return { turn: queue?.open(turn) ?? turn, signal };
  }

  return {
    async inTurn<T>(wanted: RequestTurn, work: (opened: OpenTurn) => Promise<T>): Promise<T> {
      const opened = open(wanted);
      const end = () => queue?.end(opened.turn);
      wanted.signal?.addEventListener('abort', end);
      try {
        return await work(opened);
      } finally {
        wanted.signal?.removeEventListener('abort', end);
        end();
      }
    },

    /**
     * Waits until a request may be sent. Without a turn it is a poll that waits as long as it takes.
     *
     * @param notAfter epoch ms; if it is of no use later than that.
     * @throws PartnerError `too-late`, with `permitInMs`; `closed`.
     */
    async wait(
      operation: PartnerOperation,
      { isWrite, notAfter = Infinity }: { isWrite: boolean; notAfter: number | undefined },
      opened: OpenTurn = open({ priority: 'poll' }),
    ): Promise<void> {
      const isOver = () => closed || opened.signal?.aborted === true;
      if (isOver()) throw new PartnerError('closed', 'the client is closed', { operation });
      const began = performance.now();
      const answer = await queue?.slot(opened.turn, isWrite ? 'write' : 'read', onQueueClock(notAfter));
      if (answer) observer?.slotWaited(opened.turn.priority, answer.granted, performance.now() - began);
      if (isOver()) throw new PartnerError('closed', 'the client is closed', { operation });
      if (answer?.granted === false) throw tooLate(operation, answer.permitInMs);
    },

    close(): void {
      closed = true;
      queue?.close();
    },
  };
}

function openQueue(perSecond: number): RequestQueue {
  return new RequestQueue(perSecond, {
    now: () => performance.now(),
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  });
}

function tooLate(operation: PartnerOperation, permitInMs: number | undefined): PartnerError {
  const when = permitInMs === undefined ? '' : `; one may come in ${Math.ceil(permitInMs / 1000)} s`;
  return new PartnerError('too-late', `not sent, no slot under PARTNER_MAX_RPS in time${when}`, {
    operation,
    permitInMs,
  });
}

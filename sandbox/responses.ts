import type { Now } from './clock';
import type { Reply } from './http';
import { seededRandom } from './seeded-random';

type Fields = Record<string, unknown>;

/** The envelope around every response of the partner's API. */
export interface Envelope {
  status: number;
  success: boolean;
  details: { data: Fields; extensions: Fields };
}

/** Builds the responses of the API. Each has its own trace id and the current time. */
export class Responses {
  #made = 0;

  constructor(
    private readonly seed: string,
    private readonly now: Now,
  ) {}

  success(data: Fields, extensions: Fields = {}): Reply {
    return { status: 200, body: this.#envelope(200, true, data, extensions) };
  }

  /** The partner's document shows no errors. These use the same envelope with `success: false`, a code and a message. */
  error(status: number, code: string, message: string, headers?: Record<string, string>): Reply {
    return { status, headers, body: this.#envelope(status, false, { code, message }) };
  }

  #envelope(status: number, success: boolean, data: Fields, extensions: Fields = {}): Envelope {
    this.#made += 1;
    const trace = seededRandom(this.seed, 'trace', this.#made).string('0123456789abcdef', 32);
    const timestamp = new Date(this.now()).toISOString();
    return { status, success, details: { data, extensions: { trace_id: trace, timestamp, ...extensions } } };
  }
}

import type { Now } from './clock';
import type { Answer } from './http';
import { seededRandom } from './seeded-random';

type Fields = Record<string, unknown>;

/** The envelope around every answer of the partner's interface. */
export interface Envelope {
  status: number;
  success: boolean;
  details: { data: Fields; extensions: Fields };
}

/** Makes the answers of the interface; each one bears a trace id of its own and the time. */
export class Answers {
  #made = 0;

  constructor(
    private readonly seed: string,
    private readonly now: Now,
  ) {}

  success(data: Fields, extensions: Fields = {}): Answer {
    return { status: 200, body: this.#envelope(200, true, data, extensions) };
  }

  /** The partner's document shows no error; this is the envelope again, `success: false`, with a code and a sentence. */
  error(status: number, code: string, message: string, headers?: Record<string, string>): Answer {
    return { status, headers, body: this.#envelope(status, false, { code, message }) };
  }

  #envelope(status: number, success: boolean, data: Fields, extensions: Fields = {}): Envelope {
    this.#made += 1;
    const trace = seededRandom(this.seed, 'trace', this.#made).string('0123456789abcdef', 32);
    const timestamp = new Date(this.now()).toISOString();
    return { status, success, details: { data, extensions: { trace_id: trace, timestamp, ...extensions } } };
  }
}

import type { FigureName } from '../figures';
import type { Side } from '../sides';

/** One round of one side. */
export interface Run {
  cli: string;
  side: Side;
  progress(detail: string): void;
}

/** The figures of one round, each in its own unit. */
export type Measured = Partial<Record<FigureName, number>>;

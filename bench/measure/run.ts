import type { FigureName } from '../figures';
import type { Side } from '../sides';

/** One round of one side. */
export interface Run {
  cli: string;
  side: Side;
  progress(detail: string): void;
}

/** What a round has measured, each in the unit of its figure. */
export type Measured = Partial<Record<FigureName, number>>;

import type { Brake } from '../../src/activities/brake';

/** A brake that is open, whatever is reported to it. */
export const NO_BRAKE: Brake = {
  check: async () => ({ closed: undefined, confirmed: async () => undefined, report() {}, end() {} }),
  isClosed: async () => false,
};

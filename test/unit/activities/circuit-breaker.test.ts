import { type Admission, createCircuitBreaker, type PartnerHealth } from '../../../src/activities/circuit-breaker';

const FIRST_PAUSE = 30_000;
const MAX_PAUSE_MS = 600_000;

function breakerAt() {
  let time = 0;
  const changes: (string | undefined)[] = [];
  const breaker = createCircuitBreaker({
    firstDelayMs: FIRST_PAUSE,
    maxDelayMs: MAX_PAUSE_MS,
    onChange: (reason) => changes.push(reason),
    now: () => time,
  });
  const tryAdmission = (referenceId: string): Admission | undefined => {
    const admitted = breaker.admit(referenceId);
    return 'paused' in admitted ? undefined : admitted;
  };
  const admission = (referenceId: string): Admission => {
    const admitted = tryAdmission(referenceId);
    if (!admitted) throw new Error(`${referenceId} is paused`);
    return admitted;
  };
  return {
    changes,
    pass: (ms: number) => void (time += ms),
    admission,
    tryAdmission,
    try: (referenceId: string, health: PartnerHealth) => admission(referenceId).end(health, 'no response'),
    fail: (...referenceIds: string[]) => referenceIds.forEach((one) => admission(one).end('FAILING', 'no response')),
    isPaused: (referenceId: string) => tryAdmission(referenceId) === undefined,
  };
}

/** A breaker that has just been opened by five failed purchases. */
function openBreaker(breaker = breakerAt()) {
  breaker.fail('A', 'B', 'C', 'D', 'E');
  return breaker;
}

describe('a closed circuit breaker', () => {
  it('opens when five different purchases in a row fail, gives the reason, and stops requests that are about to be sent', () => {
    const breaker = breakerAt();
    const underWay = breaker.admission('Z');
    breaker.fail('A', 'B', 'C', 'D');
    expect([underWay.pauseReason(), breaker.isPaused('E')]).toEqual([undefined, false]);
    breaker.fail('E');
    expect([underWay.pauseReason(), breaker.isPaused('F')]).toEqual(['no response', true]);
    expect(breaker.changes).toEqual(['no response']);
  });

  it('stays closed if a single purchase fails again and again', () => {
    const breaker = breakerAt();
    breaker.fail(...Array.from({ length: 20 }, () => 'A'), 'B', 'C', 'D');
    expect(breaker.isPaused('E')).toBe(false);
  });

  it('starts counting again after a success, but not after an inconclusive result', () => {
    const breaker = breakerAt();
    breaker.fail('A', 'B', 'C', 'D');
    breaker.try('E', 'HEALTHY');
    breaker.fail('F', 'G', 'H', 'I');
    breaker.try('J', 'UNKNOWN');
    expect(breaker.isPaused('K')).toBe(false);
    breaker.fail('K');
    expect(breaker.isPaused('L')).toBe(true);
  });
});

describe('an open circuit breaker', () => {
  it('lets a single trial request through after its delay, no second one meanwhile, and closes if the trial succeeds', () => {
    const breaker = openBreaker();
    breaker.pass(FIRST_PAUSE - 1);
    expect(breaker.isPaused('F')).toBe(true);
    breaker.pass(1);
    const trial = breaker.admission('F');
    expect([trial.pauseReason(), breaker.isPaused('G')]).toEqual([undefined, true]);
    trial.end('HEALTHY');
    expect([breaker.isPaused('G'), breaker.isPaused('H')]).toEqual([false, false]);
    expect(breaker.changes).toEqual(['no response', undefined]);
  });

  it('doubles its delay after each failed trial, up to ten minutes', () => {
    const breaker = openBreaker();
    const delays = Array.from({ length: 7 }, (_, trial) => {
      let admitted = breaker.tryAdmission(`T${trial}`);
      let waited = 0;
      for (; !admitted; waited++) {
        breaker.pass(FIRST_PAUSE);
        admitted = breaker.tryAdmission(`T${trial}`);
      }
      admitted.end('FAILING');
      return waited;
    });
    expect(delays).toEqual([1, 2, 4, 8, 16, 20, 20]);
  });

  it('offers the trial to the next purchase at once if the result is inconclusive', () => {
    const breaker = openBreaker();
    breaker.pass(FIRST_PAUSE);
    breaker.try('F', 'UNKNOWN');
    expect(breaker.isPaused('G')).toBe(false);
  });

  it('prefers another purchase for the next trial, and repeats a failed one only if no other is waiting', () => {
    const breaker = openBreaker();
    breaker.pass(FIRST_PAUSE);
    breaker.fail('sick');
    expect(breaker.isPaused('healthy')).toBe(true);
    breaker.pass(2 * FIRST_PAUSE);
    expect(breaker.isPaused('sick')).toBe(true);
    breaker.try('healthy', 'UNKNOWN');
    breaker.fail('sick');
  });

  it('does not wait for a purchase that stopped asking, because it has ended or moved to another worker', () => {
    const breaker = openBreaker();
    breaker.pass(FIRST_PAUSE);
    breaker.fail('sick');
    expect(breaker.isPaused('gone')).toBe(true);
    breaker.pass(MAX_PAUSE_MS + 1);
    expect(breaker.isPaused('sick')).toBe(false);
  });

  it.each<[string, PartnerHealth, delayMs: number]>([
    ['is closed by the success', 'HEALTHY', 0],
    ['does not stay open longer because of the failure', 'FAILING', FIRST_PAUSE],
  ])('%s of a request that was sent before the breaker opened', (_, health, delayMs) => {
    const breaker = breakerAt();
    const underWay = breaker.admission('Z');
    openBreaker(breaker).pass(delayMs);
    underWay.end(health, 'timed out');
    expect(breaker.isPaused('F')).toBe(false);
  });
});

import { simulate, WAIT_MS } from './simulated-queue';

type Priority = Parameters<ReturnType<typeof simulate>['open']>[0];

/** So many requests of each kind that come at once and wait as long as it takes, at one slot a second; and what was sent. */
async function sentOf(counts: Partial<Record<Priority, number>>, slots: number): Promise<string[]> {
  const { clock, sent, send, open } = simulate(1);
  for (const [priority, count = 0] of Object.entries(counts)) {
    for (let index = 0; index < count; index++) void send(open(priority as Priority), 'read', priority);
  }
  await clock.runUntil((slots - 1) * 1_000);
  return sent.map(({ what }) => what);
}

describe('the slots under a ceiling of requests', () => {
  it('come at even distances, the first at once, and a quiet hour allows no burst', async () => {
    const { clock, sent, send, open } = simulate(4);
    for (let count = 0; count < 3; count++) void send(open('poll'), 'read', 'poll');
    await clock.runUntil(3_600_000);
    clock.freeze(3_600_000);
    for (let count = 0; count < 2; count++) void send(open('poll'), 'read', 'poll');
    await clock.runUntil(8_000_000);
    expect(sent.map(({ at }) => at % 3_600_000)).toEqual([0, 250, 500, 500, 750]);
  });

  it('are shared: of 40, the reconciliation has one in twenty, placements and orders already paid for half of the rest', async () => {
    const sent = await sentOf({ poll: 50, placement: 50, reconciliation: 50 }, 40);
    const countOf = (priority: Priority) => sent.filter((what) => what === priority).length;
    expect([countOf('placement'), countOf('poll'), countOf('reconciliation')]).toEqual([19, 19, 2]);
  });

  it('go to whoever waits, if nobody else does', async () => {
    expect(await sentOf({ reconciliation: 3 }, 3)).toHaveLength(3);
    expect(await sentOf({ placement: 3 }, 3)).toHaveLength(3);
  });

  it('go to deliveries, then searches, then polls; each fourth to the oldest due, so that no poll starves', async () => {
    const { clock, sent, send, open } = simulate(1);
    const waiting = ['poll', 'poll', 'search', 'search', 'delivery', 'delivery', 'delivery'] as const;
    for (const [due, priority] of waiting.entries()) void send(open(priority, Infinity, { due }), 'read', priority);
    await clock.runUntil(10_000);
    // The first that came found the slot free.
    expect(sent.map(({ what }) => what)).toEqual([
      'poll',
      'delivery',
      'delivery',
      'poll',
      'delivery',
      'search',
      'search',
    ]);
  });

  it('go to the oldest due of its kind, not to who asked first', async () => {
    const { clock, sent, send, open } = simulate(1);
    for (const due of [0, 30, 10, 20]) void send(open('poll', Infinity, { due }), 'read', `due ${due}`);
    await clock.runUntil(10_000);
    expect(sent.map(({ what }) => what)).toEqual(['due 0', 'due 10', 'due 20', 'due 30']);
  });

  it('go to a write before everything else, because its search is done', async () => {
    const { clock, sent, send, open } = simulate(1);
    const placing = open('placement');
    await send(placing, 'read', 'search');
    for (const priority of ['delivery', 'reconciliation', 'placement'] as const)
      void send(open(priority), 'read', priority);
    void send(placing, 'write', 'write');
    await clock.runUntil(1_000);
    expect(sent.map(({ what }) => what)).toEqual(['search', 'write']);
  });
});

describe('who can have no slot in time', () => {
  it('is told so at once, and keeps none: the next in time has it', async () => {
    const { clock, sent, send, open } = simulate(1);
    const answers = [0, 500, 1_000, 1_500].map((waitMs) => send(open('poll', waitMs), 'read', `within ${waitMs}`));
    await clock.runUntil(0);
    expect(await answers[1]).toBeGreaterThan(0);
    expect(await answers[3]).toBeGreaterThan(0);
    await clock.runUntil(5_000);
    expect(sent).toEqual([
      { at: 0, what: 'within 0' },
      { at: 1_000, what: 'within 1000' },
    ]);
  });

  it('leaves when something more urgent takes the slot that it had hoped for', async () => {
    const { clock, sent, send, open } = simulate(1);
    void send(open('poll'), 'read', 'first');
    const poll = send(open('poll', 1_500), 'read', 'poll');
    void send(open('delivery'), 'read', 'delivery');
    expect(await poll).toBeGreaterThan(0);
    await clock.runUntil(5_000);
    expect(sent.map(({ what }) => what)).toEqual(['first', 'delivery']);
  });

  it('is never sent after its process was frozen: the slot goes to who can still use it', async () => {
    const { clock, sent, send, open } = simulate(1);
    await send(open('poll'), 'read', 'first');
    const waiting = ['placement', 'delivery', 'poll'].map((priority) =>
      send(open(priority as Priority, 5_000), 'read', priority),
    );
    void send(open('reconciliation'), 'read', 'reconciliation');
    clock.freeze(60_000);
    await clock.runUntil(70_000);
    expect(await Promise.all(waiting)).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
    expect(sent).toEqual([
      { at: 0, what: 'first' },
      { at: 60_000, what: 'reconciliation' },
    ]);
  });

  it('is out with its turn, and with the queue', async () => {
    const { queue, send, open } = simulate(0.001);
    await send(open('poll'), 'read', 'first');
    const [ended, closed] = [open('poll'), open('poll')];
    const [ofEnded, ofClosed] = [send(ended, 'read', 'ended'), send(closed, 'read', 'closed')];
    queue.end(ended);
    expect(queue.waiting).toBe(1);
    queue.close();
    expect(await Promise.all([ofEnded, ofClosed])).toEqual([Infinity, Infinity]);
  });

  it('keeps its place for when it comes back, and is told a time behind those before it', async () => {
    const { clock, sent, send, open } = simulate(1);
    void send(open('poll'), 'read', 'first');
    const told = ['a', 'b', 'c'].map((key, due) => send(open('poll', 500, { key, due }), 'read', key));
    const times = (await Promise.all(told)).map(Number);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    await clock.runUntil(500);
    clock.freeze(100);
    for (const key of ['new', 'c', 'b', 'a']) void send(open('poll', Infinity, { key }), 'read', key);
    await clock.runUntil(10_000);
    expect(sent.map(({ what }) => what)).toEqual(['first', 'a', 'b', 'c', 'new']);
  });
});

describe('a placement', () => {
  it('does not begin its search where only the search has a slot in time', async () => {
    const { sent, send, open } = simulate(1);
    expect(await send(open('placement', 900), 'read', 'search')).toBeGreaterThan(0);
    expect(sent).toEqual([]);
  });

  it('does not begin its search where one that takes as long as the last leaves no time for the write', async () => {
    const { clock, sent, send, open } = simulate(10);
    const slow = open('placement', WAIT_MS);
    void send(slow, 'read', 'search');
    await clock.runUntil(0);
    clock.freeze(4_500);
    void send(slow, 'write', 'write');
    for (let count = 0; count < 20; count++) void send(open('placement', 5_000), 'read', 'next search');
    await clock.runUntil(10_000);
    const begun = sent.filter(({ what }) => what === 'next search');
    expect(begun.length).toBeGreaterThan(0);
    expect(begun.filter(({ at }) => at > 4_500 + 500)).toEqual([]);
  });

  it('counts the writes of those that have begun', async () => {
    const { clock, sent, send, open } = simulate(1);
    // Ten seconds hold five searches and their writes, however long the searches take.
    for (let count = 0; count < 20; count++) void send(open('placement', 10_000), 'read', 'search');
    await clock.runUntil(20_000);
    expect(sent.length).toBeLessThanOrEqual(6);
  });

  it.each([
    ['quick searches', 50, 240],
    ['searches of a second and a half, the longest that PARTNER_TIMEOUT allows', 1_500, 250],
    ['searches that take nearly all the time of an attempt', 7_000, 360],
  ])(
    'finishes, and so does its delivery, under 60 at once and %s, with few requests in vain',
    async (_, searchMs, most) => {
      const { clock, sent, read, place } = simulate(2);
      let finished = 0;
      const purchase = async (key: string) => {
        await place(key, searchMs);
        await clock.sleep(5_000);
        await read('poll', key);
        await read('delivery', key);
        finished += 1;
      };
      for (let index = 0; index < 60; index++) void purchase(`${index}`);
      // 240 requests at two a second take 120 s.
      await clock.runUntil(1.5 * 120_000);
      expect(finished).toBe(60);
      expect(sent.length).toBeLessThanOrEqual(most);
    },
  );
});

it('1,000 open orders at 5 requests a second are all polled, as often as each other, without a slot in vain', async () => {
  const { clock, sent, queue, read } = simulate(5);
  let most = 0;
  const watch = async (key: string) => {
    for (;;) {
      await read('poll', key);
      most = Math.max(most, queue.waiting);
      await clock.sleep(30_000);
    }
  };
  for (let index = 0; index < 1_000; index++) void watch(`${index}`);
  await clock.runUntil(600_000);

  const polls = new Map<string, number>();
  for (const { what } of sent) polls.set(what, (polls.get(what) ?? 0) + 1);
  expect(sent.length).toBeGreaterThanOrEqual(2_990);
  expect(polls.size).toBe(1_000);
  const counts = [...polls.values()];
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
  // The others are not in the worker: their activity slots are free for placements.
  expect(most).toBeLessThanOrEqual(WAIT_MS / 200);
});

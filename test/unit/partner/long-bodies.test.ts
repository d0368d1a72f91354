import { LongBodies } from '../../../src/partner/long-bodies';
import { startServer } from '../../support/http-server';
import { waitUntil } from '../../support/wait-until';
import { clientOf, envelope, NEW_ORDER, orderData } from './fixtures';

/** More than the buffers of a connection hold: who does not read it keeps its server from sending it. */
const LONG = 12 * 1024 * 1024;
const AT_ONCE = 4;

/** A partner that sends all but the end of long orders, until it is told to; and answers placements at once. */
async function partnerOfLongOrders() {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const counts = { asked: 0, sentAllButTheEnd: 0 };
  const server = await startServer({
    respond(request) {
      if (request.method === 'POST') return { json: envelope({ id: 'o-1' }) };
      const id = request.path.split('/')[2] ?? '';
      const body = Buffer.from(JSON.stringify(envelope(orderData(id), { padding: 'A'.repeat(LONG) })));
      return async (socket) => {
        counts.asked += 1;
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
        socket.write(body.subarray(0, -1), () => (counts.sentAllButTheEnd += 1));
        await ended;
        socket.write(body.subarray(-1));
      };
    },
  });
  return { server, counts, end };
}

it('long answers are read a few at a time, none is refused for it, and the answer to a placement never waits', async () => {
  const { server, counts, end } = await partnerOfLongOrders();
  const partner = clientOf(server.url, { timeoutMs: 50_000 });
  const ids = ['o-1', 'o-2', 'o-3', 'o-4', 'o-5', 'o-6'];
  const reading = Promise.all(ids.map((id) => partner.getOrder(id)));
  await waitUntil(
    'all are asked for, and some are read',
    () => counts.asked === 6 && counts.sentAllButTheEnd >= AT_ONCE,
  );
  // Time enough for the others, if anybody read them.
  for (let count = 0; count < 50; count++) await partner.placeOrder(NEW_ORDER);
  expect(counts.sentAllButTheEnd).toBe(AT_ONCE);

  end();
  expect((await reading).map(({ data }) => data.id)).toEqual(ids);
});

describe('the places of those who read a long answer', () => {
  it('go on in the order of arrival, also when one who waits gives up', () => {
    const places = new LongBodies();
    const wentOn: string[] = [];
    const [first, ...others] = Array.from({ length: AT_ONCE }, () => places.enter(() => undefined));
    expect([first, ...others].map((place) => place?.mayRead)).toEqual([true, true, true, true]);
    const waiting = ['a', 'b', 'c'].map((name) => places.enter(() => wentOn.push(name)));
    expect(waiting.map(({ mayRead }) => mayRead)).toEqual([false, false, false]);

    waiting[0]?.leave();
    first?.leave();
    expect(wentOn).toEqual(['b']);
    waiting[1]?.leave();
    expect(wentOn).toEqual(['b', 'c']);
    for (const place of [...others, waiting[2]]) place?.leave();
    const again = Array.from({ length: AT_ONCE + 1 }, () => places.enter(() => undefined).mayRead);
    expect(again).toEqual([true, true, true, true, false]);
  });
});

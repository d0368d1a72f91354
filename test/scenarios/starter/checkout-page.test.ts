import { execFile, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { closeAtEnd, temporaryFolder } from '../../support/clean-up';
import { freePort } from '../../support/free-port';
import { startReadyWorker, workerEnvOf } from '../../support/processes';
import { TEST_SIGNING_SECRET } from '../../support/settings';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

const PAGE = readFileSync(join(__dirname, '../../../docs/checkout.md'), 'utf8');
const run = promisify(execFile);

/** The code blocks of a language under a heading of the page. */
function blocks(heading: string, language: string): string[] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, code = '']) => code);
}

/** The text with this test's values for those that the page has. Each must stand there. */
function withValues(text: string, values: Record<string, string>): string {
  return Object.entries(values).reduce((changed, [shown, actual]) => {
    if (!changed.includes(shown)) throw new Error(`${shown} does not stand in:\n${text}`);
    return changed.replaceAll(shown, actual);
  }, text);
}

describe('docs/checkout.md, followed to the letter with curl', () => {
  const env = sharedEnvironment({ sandbox: { agePerPollMs: 30_000 } });
  const [start = '', startedWith = '', follow = '', wait = ''] = blocks('curl', 'sh');
  const [started = '', again = '', ended = ''] = blocks('curl', 'json');

  it('starts a purchase, recognises a repeated start, shows the items, and waits for the end', async () => {
    const referenceId = env.reference();
    const server = { 'localhost:7243': process.env.TEST_TEMPORAL_HTTP_ADDRESS ?? '' };
    const curl = async (command: string, values: Record<string, string> = {}) => {
      const script = withValues(command, { 'SHOP-CURL-1': referenceId, ...server, ...values });
      return JSON.parse((await run('sh', ['-c', script])).stdout) as unknown;
    };
    const shown = (answer: string) =>
      JSON.parse(answer.replaceAll('SHOP-CURL-1', referenceId), (_, value: unknown) =>
        value === '…' ? expect.any(String) : value,
      ) as object;
    const queue = { '"fulfilment"': JSON.stringify(env.taskQueue) };

    expect(await curl(start, queue)).toMatchObject(shown(started));
    expect(await curl(start, queue)).toMatchObject(shown(again));
    const input = [{ referenceId, items: [{ productId: 'demo-instant', quantity: 1 }] }];
    const { history } = (await curl(startedWith)) as { history: { events: unknown[] } };
    expect(history.events[0]).toMatchObject({ workflowExecutionStartedEventAttributes: { input } });
    const end = await waitUntil('it has ended', async () => {
      const answer = (await curl(wait)) as { history: { events?: unknown[] } };
      return answer.history.events?.length ? answer : undefined;
    });
    expect(end).toMatchObject(shown(ended));
    const [, delivered] = /`(\w+=)` is `"DELIVERED"`/.exec(PAGE) ?? [];
    expect(await curl(follow)).toMatchObject({
      workflowExecutionInfo: { searchAttributes: { indexedFields: { PurchaseState: { data: delivered } } } },
    });
    expect(env.eventTypes(referenceId)).toEqual(['purchase.delivered']);
  });
});

const python = process.env.TEST_PYTHON ?? '';
const describeWithPython = python ? describe : describe.skip;

describeWithPython(`docs/checkout.md, followed to the letter with Python${python ? '' : ' [no Python here]'}`, () => {
  const env = sharedEnvironment({ sandbox: { agePerPollMs: 30_000 }, worker: false });
  const [purchase = '', receive = ''] = blocks('Python', 'python');
  const title =
    'starts a purchase once, refuses other items, and stores each event once, unless its signature is wrong';

  it(python ? title : `${title} [npm test found no Python with venv, pip and PyPI]`, async () => {
    const { url, folder } = await startReceiver(receive);
    await startReadyWorker({ env: workerEnvOf(env, { DELIVERY_URL: url }) });
    const referenceId = env.reference();
    const buy = async (quantity: number) => {
      const file = join(folder, `purchase-${quantity}.py`);
      const values = {
        'localhost:7233': env.address,
        '"fulfilment"': JSON.stringify(env.taskQueue),
        'SHOP-1': referenceId,
        '"quantity": 1': `"quantity": ${quantity}`,
      };
      writeFileSync(file, withValues(purchase, values));
      return (await run(python, [file], { timeout: 40_000 })).stdout;
    };

    expect(await buy(1)).toContain("'outcome': 'DELIVERED'");
    expect(await buy(1)).toContain("'outcome': 'DELIVERED'");
    await expect(buy(2)).rejects.toThrow(/ValueError: purchase-.* bought other items/);
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(1);

    const unsigned = await fetch(url, { method: 'POST', body: '{}', headers: { connection: 'close' } });
    expect(unsigned.status).toBe(401);
    const { events } = await env.starter.redeliver(referenceId);
    expect(await storedEvents(folder)).toEqual([
      [events[0]?.id, expect.objectContaining({ type: 'purchase.delivered' }) as unknown],
    ]);
  });
});

/** Starts receive.py. @returns where to post, and the folder in which it keeps events */
async function startReceiver(code: string): Promise<{ url: string; folder: string }> {
  const folder = temporaryFolder();
  const port = await freePort();
  writeFileSync(join(folder, 'receive.py'), withValues(code, { 8088: String(port) }));
  const env = { DELIVERY_SECRET: TEST_SIGNING_SECRET };
  const receiver = spawn(python, ['receive.py'], { cwd: folder, env, stdio: 'ignore' });
  const ended = new Promise((resolve) => receiver.once('exit', resolve));
  closeAtEnd(() => {
    receiver.kill('SIGKILL');
    return ended;
  });
  const url = `http://127.0.0.1:${port}/events`;
  await waitUntil('receive.py answers', () =>
    fetch(url, { headers: { connection: 'close' } }).then(
      () => true,
      () => false,
    ),
  );
  return { url, folder };
}

async function storedEvents(folder: string): Promise<[string, unknown][]> {
  const read =
    "import json, sqlite3; print(json.dumps(list(sqlite3.connect('events.db').execute('SELECT * FROM events'))))";
  const rows = JSON.parse((await run(python, ['-c', read], { cwd: folder })).stdout) as [string, string][];
  return rows.map(([id, event]) => [id, JSON.parse(event)]);
}

import { unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditAll, NO_FLAWS } from '../support/audit';
import { temporaryFolder } from '../support/clean-up';
import { startReadyWorker, type WorkerProcess } from '../support/processes';
import { waitUntil } from '../support/wait-until';
import {
  type HostileEnvironment,
  SECRETS,
  startHostileEnvironment,
  withSecretFiles,
} from './support/hostile-environment';
import { type Canary, findLeaks, inWords } from './support/leak-search';

const OLD_KEY = 'Rotated/api"key\\old-4Tz7Qm';
const NEW_KEY = 'Rotated/api"key\\new-9Wd2Xk';
const [NEW_SIGNING = '', OLD_SIGNING = ''] = SECRETS.DELIVERY_SECRET;
const [NEW_FINGERPRINT = '', OLD_FINGERPRINT = ''] = SECRETS.FINGERPRINT_SECRET;

describe('a secret in a file that is rotated while a worker buys', () => {
  const dir = temporaryFolder();
  let environment: HostileEnvironment;
  let worker: WorkerProcess;
  let bought: string[] = [];
  let count = 0;

  const file = (name: string) => join(dir, name);
  const write = (name: string, content: string) => writeFileSync(file(name), `${content}\n`);

  beforeAll(async () => {
    write('PARTNER_API_KEY', OLD_KEY);
    write('DELIVERY_SECRET', OLD_SIGNING);
    write('FINGERPRINT_SECRET', OLD_FINGERPRINT);
    environment = await startHostileEnvironment();
    environment.sandbox.settings({ apiKeys: [OLD_KEY] });
    environment.receiver.trust(OLD_SIGNING);
    worker = await startReadyWorker({ env: withSecretFiles(environment.env, file) });
  });
  afterEach(() => void (bought = []));

  async function buy(items: Record<string, number> = { 'demo-instant': 1 }): Promise<string> {
    const referenceId = await environment.buy({ name: `rotation-${++count}`, items });
    bought.push(referenceId);
    return referenceId;
  }

  /** Buys until the condition holds, because a secret is read only when it is used. */
  async function sellUntil(isSo: () => boolean): Promise<void> {
    const sold = async () => isSo() || !(await environment.starter.result(await buy()));
    await waitUntil('a sale has shown it', sold, { everyMs: 0 });
  }

  /** Every purchase is bought once and delivered completely, and each key is delivered once. */
  async function expectAllSold(): Promise<void> {
    const results = await Promise.all(bought.map((referenceId) => environment.starter.result(referenceId)));
    expect(results.filter(({ outcome }) => outcome !== 'DELIVERED')).toEqual([]);
    expect(await auditAll(environment, bought)).toEqual(NO_FLAWS);
  }

  it("the partner's API key: no purchase is lost and no request is refused, with both keys valid and then only the new one", async () => {
    const { apiKeys } = environment.partner;
    await sellUntil(() => apiKeys.length > 3);
    expect(new Set(apiKeys)).toEqual(new Set([OLD_KEY]));

    environment.sandbox.settings({ apiKeys: [OLD_KEY, NEW_KEY] });
    const open = await buy({ 'demo-slow': 2 });
    write('PARTNER_API_KEY', NEW_KEY);
    await sellUntil(() => apiKeys.slice(-5).every((key) => key === NEW_KEY));
    environment.sandbox.settings({ apiKeys: [NEW_KEY] });
    await sellUntil(() => bought.length > 6);
    environment.sandbox.advance(20 * 60_000);
    await environment.starter.result(open);

    await expectAllSold();
    expect(worker.output()).not.toContain('rejected the API key');
  });

  it('the signing secret: a receiver that trusts either secret verifies every event, and none is refused', async () => {
    const lastSigned = () => environment.receiver.attempts.at(-1)?.signatures;
    await sellUntil(() => lastSigned() === 1);
    write('DELIVERY_SECRET', `${NEW_SIGNING} ${OLD_SIGNING}`);
    await sellUntil(() => lastSigned() === 2);
    environment.receiver.trust(NEW_SIGNING);
    await environment.starter.result(await buy());
    environment.receiver.trust(OLD_SIGNING);
    await environment.starter.result(await buy());
    environment.receiver.trust(NEW_SIGNING);
    write('DELIVERY_SECRET', NEW_SIGNING);
    await sellUntil(() => lastSigned() === 1);

    await expectAllSold();
    expect(environment.receiver.refused).toBe(0);
  });

  it('the fingerprint secret: new purchases get key ids of the new secret', async () => {
    const keyId = () => environment.receiver.attempts.at(-1)?.body.data.lines?.[0]?.keys?.[0]?.id.split('.')[0];
    await sellUntil(() => keyId() !== undefined);
    const older = keyId();
    write('FINGERPRINT_SECRET', `${NEW_FINGERPRINT} ${OLD_FINGERPRINT}`);
    await sellUntil(() => keyId() !== older);

    await expectAllSold();
  });

  it('missing or half-written files: the worker keeps using the last good secrets and logs each file only once', async () => {
    const names = ['PARTNER_API_KEY', 'DELIVERY_SECRET', 'FINGERPRINT_SECRET'].map((name) => `${name}_FILE`);
    const lines = () => worker.output().split('\n');
    const warningsOf = (name: string) => lines().filter((line) => line.includes(`"level":"warn","message":"${name}: `));
    unlinkSync(file('PARTNER_API_KEY'));
    write('DELIVERY_SECRET', NEW_SIGNING.slice(0, 20));
    write('FINGERPRINT_SECRET', NEW_FINGERPRINT.slice(0, 25));
    await sellUntil(() => names.every((name) => warningsOf(name).length > 0));
    const since = Date.now();
    // A file is read once a second, so each of them is read again meanwhile.
    await sellUntil(() => Date.now() - since > 2_500);

    for (const name of names) {
      expect(warningsOf(name)).toEqual([expect.stringContaining('the last good value stays in use')]);
    }
    await expectAllSold();
  });

  it('prints none of the secrets', () => {
    const secrets = { OLD_KEY, NEW_KEY, OLD_SIGNING, NEW_SIGNING, OLD_FINGERPRINT, NEW_FINGERPRINT };
    const canaries: Canary[] = Object.entries(secrets).map(([name, value]) => ({ name, value }));
    expect(inWords(findLeaks(canaries, [{ place: 'output', text: worker.output() }]))).toEqual([]);
  });
});

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Evidence, findLeaks, inWords } from './support/search';
import { secretCanaries, SECRETS, type Stage, startStage } from './support/stage';
import { runToEnd, startWorkerProcess } from './support/worker-process';

jest.setTimeout(120_000);

let dir: string;
let stage: Stage;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'leaks-'));
  stage = await startStage(process.env.TEST_TEMPORAL_ADDRESS!);
});
afterAll(async () => {
  await stage.close();
  rmSync(dir, { recursive: true });
});

const leaksIn = (evidence: Evidence[], more: string[] = []) =>
  inWords(findLeaks([...secretCanaries(), ...more.map((value) => ({ name: 'a key', value }))], evidence));

describe("a worker's end", () => {
  it('by a bug leaves reports of Node with its environment, and no secret in them', async () => {
    const bug = join(dir, 'bug.cjs');
    writeFileSync(bug, "process.on('SIGHUP', () => setImmediate(() => { throw new Error('a bug'); }));");
    const reporting = ['--report-on-signal', '--report-uncaught-exception', `--report-directory=${dir}`];
    const worker = await startWorkerProcess(stage.env, { nodeArgs: [...reporting, '--require', bug] });
    await stage.starter.result(await stage.buy({ name: 'before-the-bug', items: { 'demo-instant': 2 } }));

    process.kill(worker.pid, 'SIGUSR2');
    await worker.untilSaid('Node.js report completed');
    expect(await worker.stop('SIGHUP')).toBe(1);

    const reports = readdirSync(dir).filter((name) => name.startsWith('report.'));
    const evidence = reports.map((name) => ({ place: name, text: readFileSync(join(dir, name), 'utf8') }));
    const address = { name: 'the environment', value: stage.env['PARTNER_BASE_URL']! };
    expect(findLeaks([address], evidence).length).toBeGreaterThanOrEqual(2);
    const said = { place: 'output', text: worker.said() };
    expect(said.text).toContain('a bug');
    expect(leaksIn([...evidence, said], await stage.issuedKeys())).toEqual([]);
  });

  it.each([
    ['secrets of a wrong form', wrongSecrets],
    ['secrets in files that are no secrets', wrongFiles],
    ["a broken file of Temporal's settings", brokenTemporalFile],
  ])('at its start, because of %s, says what is wrong and no secret', async (_, env) => {
    const end = await runToEnd('worker', { ...env(), HEALTH_ADDRESS: '127.0.0.1:0', METRICS_ADDRESS: '127.0.0.1:0' });
    expect(end.place).toContain('exit code 78');
    expect(leaksIn([end])).toEqual([]);
  });
});

function wrongSecrets(): Record<string, string> {
  return {
    ...stage.env,
    PARTNER_API_KEY: `${SECRETS.PARTNER_API_KEY} ${SECRETS.PARTNER_API_KEY}`,
    DELIVERY_SECRET: SECRETS.DELIVERY_SECRET.join('-'),
    FINGERPRINT_SECRET: SECRETS.FINGERPRINT_SECRET[0]!.slice(0, 20),
    PARTNER_BASE_URL: `http://user:${encodeURIComponent(SECRETS.PARTNER_API_KEY)}@partner.example`,
  };
}

function wrongFiles(): Record<string, string> {
  const path = join(dir, 'secrets');
  writeFileSync(path, `${SECRETS.PARTNER_API_KEY} ${SECRETS.DELIVERY_SECRET.join('-')}`);
  const { PARTNER_API_KEY: _key, DELIVERY_SECRET: _signing, FINGERPRINT_SECRET: _fingerprints, ...env } = stage.env;
  return { ...env, PARTNER_API_KEY_FILE: path, DELIVERY_SECRET_FILE: path, FINGERPRINT_SECRET_FILE: dir };
}

function brokenTemporalFile(): Record<string, string> {
  const path = join(dir, 'temporal.toml');
  writeFileSync(path, `[profile.default]\napi_key = "${SECRETS.TEMPORAL_API_KEY}\naddress = 1`);
  return { ...stage.env, TEMPORAL_CONFIG_FILE: path };
}

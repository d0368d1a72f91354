import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/clean-up';
import { type ProcessEnv, startReadyWorker } from '../support/processes';
import {
  type HostileEnvironment,
  runToEnd,
  secretCanaries,
  SECRETS,
  startHostileEnvironment,
  withSecretFiles,
} from './support/hostile-environment';
import { type Evidence, findLeaks, inWords } from './support/leak-search';

const dir = temporaryFolder();
let environment: HostileEnvironment;

beforeAll(async () => {
  environment = await startHostileEnvironment();
});

const leaksIn = (evidence: Evidence[], more: string[] = []) =>
  inWords(findLeaks([...secretCanaries(), ...more.map((value) => ({ name: 'a key', value }))], evidence));

describe('a worker that ends with an error', () => {
  it('because of a bug leaves Node reports with its environment, and no secret in them', async () => {
    const bug = join(dir, 'bug.cjs');
    writeFileSync(bug, "process.on('SIGHUP', () => setImmediate(() => { throw new Error('a bug'); }));");
    const reporting = ['--report-on-signal', '--report-uncaught-exception', `--report-directory=${dir}`];
    const others = {
      TEMPORAL_APIKEI: SECRETS.TEMPORAL_API_KEY,
      SHOP_PASSWORD: SECRETS.PARTNER_API_KEY,
      HTTPS_PROXY: `http://user:${encodeURIComponent(SECRETS.PARTNER_API_KEY)}@proxy.example:3128`,
    };
    const env = { ...environment.env, ...others };
    const worker = await startReadyWorker({ env, nodeArgs: [...reporting, '--require', bug] });
    await environment.starter.result(await environment.buy({ name: 'before-the-bug', items: { 'demo-instant': 2 } }));

    worker.signal('SIGUSR2');
    await worker.said('Node.js report completed');
    // 1 or a signal, because the native threads do not always survive an unprepared exit.
    expect(await worker.end('SIGHUP')).not.toBe(0);

    const reports = readdirSync(dir).filter((name) => name.startsWith('report.'));
    const evidence = reports.map((name) => ({ place: name, text: readFileSync(join(dir, name), 'utf8') }));
    const address = { name: 'the environment', value: environment.env.PARTNER_BASE_URL! };
    expect(findLeaks([address], evidence).length).toBeGreaterThanOrEqual(2);
    const said = { place: 'output', text: worker.output() };
    expect(said.text).toContain('a bug');
    expect(leaksIn([...evidence, said], await environment.issuedKeys())).toEqual([]);
  });

  it.each([
    ['malformed secrets', wrongSecrets],
    ['secret files without a valid secret', wrongFiles],
    ['a broken configuration file of Temporal', brokenTemporalFile],
  ])('at its start because of %s names the error and prints no secret', async (_, env) => {
    const end = await runToEnd('worker', { ...env(), HEALTH_ADDRESS: '127.0.0.1:0', METRICS_ADDRESS: '127.0.0.1:0' });
    expect(end.place).toContain('exit code 78');
    expect(leaksIn([end])).toEqual([]);
  });
});

function wrongSecrets(): ProcessEnv {
  return {
    ...environment.env,
    PARTNER_API_KEY: `${SECRETS.PARTNER_API_KEY} ${SECRETS.PARTNER_API_KEY}`,
    DELIVERY_SECRET: SECRETS.DELIVERY_SECRET.join('-'),
    FINGERPRINT_SECRET: SECRETS.FINGERPRINT_SECRET[0]!.slice(0, 20),
    PARTNER_BASE_URL: `http://user:${encodeURIComponent(SECRETS.PARTNER_API_KEY)}@partner.example`,
  };
}

function wrongFiles(): ProcessEnv {
  const path = join(dir, 'secrets');
  writeFileSync(path, `${SECRETS.PARTNER_API_KEY} ${SECRETS.DELIVERY_SECRET.join('-')}`);
  return withSecretFiles(environment.env, (name) => (name === 'FINGERPRINT_SECRET' ? dir : path));
}

function brokenTemporalFile(): ProcessEnv {
  const path = join(dir, 'temporal.toml');
  writeFileSync(path, `[profile.default]\napi_key = "${SECRETS.TEMPORAL_API_KEY}\naddress = 1`);
  return { ...environment.env, TEMPORAL_CONFIG_FILE: path };
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTemporalTarget } from '../../../src/temporal/client';
import { selfSigned } from '../../support/self-signed';

const folder = mkdtempSync(join(tmpdir(), 'target-'));
afterAll(() => rmSync(folder, { recursive: true }));
const KEY = 'canary-key';

function toml(text: string): string {
  const path = join(folder, `${Math.random()}.toml`);
  writeFileSync(path, text);
  return path;
}

describe("Temporal's own variables", () => {
  it('that are empty count as not set, as compose files leave one out: an empty API key would turn TLS on', () => {
    const names = ['ADDRESS', 'NAMESPACE', 'API_KEY', 'PROFILE', 'CONFIG_FILE', 'TLS', 'TLS_CLIENT_CERT_PATH'];
    const { address, namespace, connectionOptions } = readTemporalTarget(
      Object.fromEntries(names.map((name) => [`TEMPORAL_${name}`, ''])),
    );
    expect({ address, namespace }).toEqual({ address: 'localhost:7233', namespace: 'default' });
    expect([connectionOptions.tls, connectionOptions.apiKey]).toEqual([undefined, undefined]);
  });

  it('count before the profile that TEMPORAL_PROFILE names, and what they do not say is said by it', () => {
    const file = toml('[profile.shop]\naddress = "a.example:7233"\nnamespace = "shop"\napi_key = "of-the-file"\n');
    const env = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'shop' };
    const { address, namespace, connectionOptions } = readTemporalTarget({ ...env, TEMPORAL_NAMESPACE: 'other' });
    expect({ address, namespace }).toEqual({ address: 'a.example:7233', namespace: 'other' });
    expect(connectionOptions).toMatchObject({ apiKey: 'of-the-file', tls: true });
    expect(readTemporalTarget(env, () => 'of-its-own-file').connectionOptions.apiKey).toBe('of-its-own-file');
  });

  it.each<[string, Record<string, string>, string]>([
    ['TLS is neither on nor off: it would be off', { TEMPORAL_TLS: 'yes' }, 'TEMPORAL_TLS is none of true, false'],
    [
      'a certificate lacks its key: it would not be shown',
      { TEMPORAL_TLS_CLIENT_CERT_PATH: __filename },
      'TEMPORAL_TLS_CLIENT_KEY_PATH (or …_DATA) is not',
    ],
    [
      'a key lacks its certificate',
      { TEMPORAL_TLS_CLIENT_KEY_DATA: KEY },
      'TEMPORAL_TLS_CLIENT_CERT_PATH (or …_DATA) is not',
    ],
    [
      'a key is that of another certificate: the server would close the connection and not say why',
      { TEMPORAL_TLS_CLIENT_CERT_DATA: selfSigned().cert, TEMPORAL_TLS_CLIENT_KEY_DATA: selfSigned().key },
      'are not a certificate and its private key',
    ],
    [
      'a certificate is none, which is not shown',
      { TEMPORAL_TLS_CLIENT_CERT_DATA: KEY, TEMPORAL_TLS_CLIENT_KEY_DATA: KEY },
      'are not a certificate and its private key',
    ],
    [
      'the check of the host is to be left out, which the SDK does not',
      { TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' },
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
    ],
    [
      'the file is not there: another server would be used',
      { TEMPORAL_CONFIG_FILE: '/no/temporal.toml' },
      'TEMPORAL_CONFIG_FILE names /no/temporal.toml, which is not there',
    ],
    ['the file has no profiles', { TEMPORAL_CONFIG_FILE: toml('address = "a"') }, 'the file holds no profile'],
    [
      'the file is no TOML, and it does not show what is in it',
      { TEMPORAL_CONFIG_FILE: toml(`[profile.default]\napi_key = ${KEY}`) },
      'Invalid TOML',
    ],
    [
      'there is no such profile',
      { TEMPORAL_CONFIG_FILE: toml('[profile.a]'), TEMPORAL_PROFILE: 'b' },
      "Profile 'b' not found",
    ],
    [
      'a certificate is not where it is said to be',
      { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/no/ca.pem' },
      "no such file or directory, open '/no/ca.pem'",
    ],
  ])('are refused with 78 where %s', (_, env, why) => {
    const read = () => readTemporalTarget(env);
    expect(read).toThrow(why);
    expect(read).toThrow(expect.objectContaining({ exitCode: 78 }));
    expect(read).not.toThrow(KEY);
  });
});

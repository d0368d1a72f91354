import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTemporalTarget } from '../../../src/temporal/client';
import { temporaryFolder } from '../../support/clean-up';
import { selfSigned } from '../../support/self-signed';

const KEY = 'canary-key';

function toml(text: string): string {
  const path = join(temporaryFolder(), 'temporal.toml');
  writeFileSync(path, text);
  return path;
}

describe("Temporal's own variables", () => {
  it('count as unset if empty, because compose files leave variables empty and an empty API key would turn on TLS', () => {
    const names = ['ADDRESS', 'NAMESPACE', 'API_KEY', 'PROFILE', 'CONFIG_FILE', 'TLS', 'TLS_CLIENT_CERT_PATH'];
    const { address, namespace, connectionOptions } = readTemporalTarget(
      Object.fromEntries(names.map((name) => [`TEMPORAL_${name}`, ''])),
    );
    expect({ address, namespace }).toEqual({ address: 'localhost:7233', namespace: 'default' });
    expect([connectionOptions.tls, connectionOptions.apiKey]).toEqual([undefined, undefined]);
  });

  it('take precedence over the profile named by TEMPORAL_PROFILE, which supplies the rest', () => {
    const file = toml('[profile.shop]\naddress = "a.example:7233"\nnamespace = "shop"\napi_key = "of-the-file"\n');
    const env = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'shop' };
    const { address, namespace, connectionOptions } = readTemporalTarget({ ...env, TEMPORAL_NAMESPACE: 'other' });
    expect({ address, namespace }).toEqual({ address: 'a.example:7233', namespace: 'other' });
    expect(connectionOptions).toMatchObject({ apiKey: 'of-the-file', tls: true });
    expect(readTemporalTarget(env, { temporalApiKey: () => 'of-its-own-file' }).connectionOptions.apiKey).toBe(
      'of-its-own-file',
    );
  });

  it('may combine an API key with plain text if that is allowed', () => {
    const env = { TEMPORAL_API_KEY: KEY, TEMPORAL_TLS: 'false' };
    const { connectionOptions } = readTemporalTarget(env, { allowPlaintext: true });
    expect([connectionOptions.tls, connectionOptions.apiKey]).toEqual([false, KEY]);
  });

  const [{ cert }, { key }] = [selfSigned(), selfSigned()];
  const PAIR = 'are not a certificate and its private key';
  it.each<[string, Record<string, string>, string]>([
    ['TLS is neither true nor false, which would turn it off', { TLS: 'yes' }, 'TEMPORAL_TLS must be true, false'],
    ['a certificate lacks its key', { TLS_CLIENT_CERT_PATH: __filename }, 'TLS_CLIENT_KEY_PATH (or …_DATA) is not'],
    ['a key lacks its certificate', { TLS_CLIENT_KEY_DATA: KEY }, 'TLS_CLIENT_CERT_PATH (or …_DATA) is not'],
    ['a key belongs to another certificate', { TLS_CLIENT_CERT_DATA: cert, TLS_CLIENT_KEY_DATA: key }, PAIR],
    [
      'a certificate is invalid, and its text is not shown',
      { TLS_CLIENT_CERT_DATA: KEY, TLS_CLIENT_KEY_DATA: KEY },
      PAIR,
    ],
    ['host verification is turned off', { TLS_DISABLE_HOST_VERIFICATION: 'true' }, 'TEMPORAL_TLS_SERVER_CA_CERT_PATH'],
    ['the file does not exist', { CONFIG_FILE: '/no/a.toml' }, 'FILE names /no/a.toml, which does not exist'],
    ['the file has no profiles', { CONFIG_FILE: toml('address = "a"') }, 'the file has no profile'],
    ['the file is not TOML', { CONFIG_FILE: toml(`[profile.default]\napi_key = ${KEY}`) }, 'Invalid TOML'],
    ['the profile does not exist', { CONFIG_FILE: toml('[profile.a]'), PROFILE: 'b' }, "Profile 'b' not found"],
    ['a key would travel in plain text', { API_KEY: KEY, TLS: 'false' }, 'or ALLOW_PLAINTEXT=true'],
    [
      'a key in the metadata would travel in plain text',
      { GRPC_META_AUTHORIZATION: `Bearer ${KEY}` },
      'or ALLOW_PLAINTEXT=true',
    ],
    ['a key contains a line break', { CONFIG_FILE: toml(`[profile.default]\napi_key = "${KEY}\\n"`) }, 'a line break'],
    ['metadata contains a line break', { GRPC_META_AUTHORIZATION: `Bearer ${KEY}\n`, TLS: 'true' }, 'a line break'],
    [
      'a certificate file does not exist',
      { TLS_SERVER_CA_CERT_PATH: '/no/ca.pem' },
      "no such file or directory, open '/no",
    ],
  ])('are rejected with exit code 78 if %s, without showing a secret', (_, variables, reason) => {
    const env = Object.entries(variables).map(([name, value]) => [`TEMPORAL_${name}`, value]);
    const read = () => readTemporalTarget(Object.fromEntries(env) as Record<string, string>);
    expect(read).toThrow(reason);
    expect(read).toThrow(expect.objectContaining({ exitCode: 78 }));
    expect(read).not.toThrow(KEY);
  });
});

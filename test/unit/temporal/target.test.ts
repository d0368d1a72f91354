import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectionFailureOf, readTemporalTarget } from '../../../src/temporal/client';
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

describe('what a server says of our certificate', () => {
  /** As a server in Go says it, which Temporal's is, under TLS 1.3 and 1.2, and what OpenSSL makes of it. */
  const alerts = {
    'does not know who signed it': ['UnknownCA', 'tlsv1 alert unknown ca'],
    'our certificate has expired': ['CertificateExpired', 'sslv3 alert certificate expired'],
    'a certificate of ours, and none is set': ['CertificateRequired', 'tlsv13 alert certificate required'],
    'refuses our certificate': ['HandshakeFailure', 'sslv3 alert bad certificate'],
  };
  const texts = Object.entries(alerts).flatMap(([cause, [name, said]]) =>
    [
      `transport error, source: hyper::Error(Io, Custom { kind: InvalidData, error: "received fatal alert: ${name}" })`,
      `ConnectError(Custom { kind: InvalidData, error: AlertReceived(${name}) })`,
      `error:0A000418:SSL routines:ssl3_read_bytes:${said}:../deps/openssl/ssl/record/rec_layer_s3.c:1590:SSL alert number 48`,
    ].map((text) => [cause, text]),
  );

  it.each(texts)('%s: %s', (cause = '', text = '') => {
    const { cause: shown, refused, remedy } = connectionFailureOf(new Error(text), true);
    expect({ shown, refused, remedy }).toEqual({
      shown: expect.stringContaining(cause),
      refused: true,
      remedy: expect.stringContaining('TEMPORAL_TLS_CLIENT_CERT_PATH'),
    });
  });

  it('is not taken from an error inside the server, which another try may not meet', () => {
    expect(connectionFailureOf(new Error('received fatal alert: InternalError'), true).refused).toBe(false);
  });
});

import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A new key with a self-signed certificate for `localhost`, so that no key is kept in the repository. */
export function selfSigned() {
  return makeCertificate({ host: 'localhost' });
}

/** A new certificate authority that issues certificates for `localhost` or another host. */
export function createAuthority() {
  const name = `authority ${randomBytes(4).toString('hex')}`;
  const own = makeCertificate({ host: name, isAuthority: true });
  const issuer = { name, key: own.key };
  const issue = ({ host = 'localhost', expired }: Partial<CertificateOptions> = {}) =>
    makeCertificate({ host, expired, issuer });
  return { ...own, issue };
}

interface CertificateOptions {
  host: string;
  isAuthority?: boolean;
  expired?: boolean | undefined;
  issuer?: { name: string; key: string };
}

/** @returns a private key and its certificate, both PEM */
function makeCertificate({ host, isAuthority, expired, issuer }: CertificateOptions) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  // TLS libraries other than Node's require version 3 with the host name as an alternative name.
  const hostName = sequence(oid('551d11'), tlv(0x04, sequence(tlv(0x82, Buffer.from(host)))));
  const signsOthers = sequence(oid('551d13'), TRUE, tlv(0x04, sequence(TRUE)));
  const validity = ['200101000000Z', expired ? '210101000000Z' : '491231235959Z'];
  const toBeSigned = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    nameOf(issuer?.name ?? host),
    sequence(...validity.map((time) => tlv(0x17, Buffer.from(time)))),
    nameOf(host),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(isAuthority ? signsOthers : hostName)),
  );
  const signature = sign('sha256', toBeSigned, issuer ? createPrivateKey(issuer.key) : privateKey);
  const der = sequence(toBeSigned, ecdsaWithSha256, tlv(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}

const TRUE = tlv(0x01, Buffer.from([255]));

function nameOf(commonName: string): Buffer {
  return sequence(tlv(0x31, sequence(oid('550403'), tlv(0x0c, Buffer.from(commonName)))));
}

function sequence(...parts: Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function oid(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, 'hex'));
}

function tlv(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

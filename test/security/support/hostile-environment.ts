import { join } from 'node:path';
import { keysOf } from '../../support/audit';
import { type ProcessEnv, startProcess, workerEnvOf } from '../../support/processes';
import type { Answer, Attempt } from '../../support/receiver';
import { startTestEnvironment } from '../../support/test-environment';
import { startHostilePartner } from './hostile-partner';
import type { UglyPurchase } from './hostile-purchases';
import type { Canary, Evidence } from './leak-search';

const webhookSecret = (text: string) => `whsec_${Buffer.from(text).toString('base64')}`;

/**
 * Secrets that are easy to recognise and hard to quote: quotes, backslashes, characters that URLs and base64 escape.
 */
export const SECRETS = {
  PARTNER_API_KEY: 'Cnry/api"key\\7Qm2+Zx9%Vt4&<w>',
  DELIVERY_SECRET: [webhookSecret('Cnry-newest-webhook-?>~-8Kd3Rf'), webhookSecret('Cnry-older-webhook-?>~-5Jh9Bn1')],
  FINGERPRINT_SECRET: ['Cnry-newest-fingerprint-secret/"+\\-4Lw8', 'Cnry-older-fingerprint-secret/"+\\-6Yp2c'],
  TEMPORAL_API_KEY: 'Cnry.temporal.api.key.9Gs3Xb',
};

/** The secrets of a worker's environment, and for a webhook secret also the decoded base64. */
export function secretCanaries(): Canary[] {
  const decoded = SECRETS.DELIVERY_SECRET.map((value) =>
    Buffer.from(value.slice('whsec_'.length), 'base64').toString(),
  );
  const all = { ...SECRETS, 'DELIVERY_SECRET, decoded': decoded };
  return Object.entries(all).flatMap(([name, values]) => [values].flat().map((value) => ({ name, value })));
}

/** The variables of a worker that reads its secrets from these files. */
export function withSecretFiles(env: ProcessEnv, fileOf: (name: string) => string): ProcessEnv {
  const names = ['PARTNER_API_KEY', 'DELIVERY_SECRET', 'FINGERPRINT_SECRET'];
  const changes = names.flatMap((name) => [
    [name, undefined],
    [`${name}_FILE`, fileOf(name)],
  ]);
  return { ...env, ...(Object.fromEntries(changes) as ProcessEnv) };
}

/** Runs one of our programs to its end. @returns its output, in a place that names the exit code */
export async function runToEnd(program: 'worker' | 'starter', env: ProcessEnv, ...args: string[]): Promise<Evidence> {
  const running = startProcess(join(__dirname, `../../../dist/${program}.js`), args, { env });
  const { code } = await running.ended;
  return { place: `${program} ${args.join(' ')}: exit code ${code}`, text: running.output() };
}

/** The checkout's response to the nth attempt to deliver an event of a purchase; undefined: 204. */
export type Checkout = (attempt: Attempt, nth: number) => Answer | undefined;

export type HostileEnvironment = Awaited<ReturnType<typeof startHostileEnvironment>>;

interface HostilePurchase extends Pick<UglyPurchase, 'items' | 'twist' | 'checkout'> {
  name: string;
}

/** Real servers around workers that the test starts: Temporal, a hostile partner and a hostile checkout. */
export async function startHostileEnvironment() {
  const environment = await startTestEnvironment({
    worker: false,
    sandbox: { apiKeys: [SECRETS.PARTNER_API_KEY], agePerPollMs: 30_000 },
    // A busy machine must not cause a hold, because nothing here would decide it.
    settings: {
      replace: 'always',
      // A purchase here waits that long for a history that never becomes readable.
      placeWithinMs: 120_000,
      partnerTimeoutMs: 2_000,
      confirmWindowMs: 1_000,
      pollIntervalMs: 100,
    },
  });
  const { sandbox, receiver, taskQueue } = environment;
  const partner = await startHostilePartner(sandbox);
  const checkouts = new Map<string, Checkout>();
  receiver.trust(...SECRETS.DELIVERY_SECRET);
  receiver.respondWith((attempt) => {
    const { referenceId } = attempt.body.data;
    return checkouts.get(referenceId)?.(attempt, receiver.attemptsOf(referenceId).length) ?? 204;
  });
  return {
    ...environment,
    partner,
    /** The variables of a worker, with its secrets in variables. */
    env: workerEnvOf(environment, {
      TEMPORAL_API_KEY: SECRETS.TEMPORAL_API_KEY,
      TEMPORAL_TLS: 'false',
      ALLOW_PLAINTEXT: 'true',
      PARTNER_BASE_URL: partner.url,
      PARTNER_API_KEY: SECRETS.PARTNER_API_KEY,
      FINGERPRINT_SECRET: SECRETS.FINGERPRINT_SECRET.join(' '),
      DELIVERY_SECRET: SECRETS.DELIVERY_SECRET.join(' '),
    }),
    /** Starts a purchase. @returns its reference */
    async buy({ name, items = { 'demo-instant': 1 }, twist, checkout: manners }: HostilePurchase) {
      const referenceId = `${name}-${taskQueue.slice(5, 13)}`;
      if (twist) partner.twist(referenceId, twist);
      if (manners) checkouts.set(referenceId, manners);
      return environment.buy(items, referenceId);
    },
    /** The values of all keys that the partner has issued. */
    async issuedKeys() {
      const { references } = await sandbox.ledger({ keys: true });
      return references.flatMap(({ orders }) => keysOf(...orders));
    },
  };
}

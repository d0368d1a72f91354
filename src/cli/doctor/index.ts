import type { ConfigIssue, DoctorConfig } from '../../config';
import { type Check, fault, ok } from './check';
import { checkDelivery } from './delivery-checks';
import { checkPartner, type PartnerFacts, type PartnerFindings } from './partner-checks';
import { PartnerProbe } from './partner-probe';
import { checkTemporal, type TemporalSettings } from './temporal-checks';

export { formatDiagnosis } from './format';

export interface DoctorOptions {
  config: DoctorConfig;
  connect: TemporalSettings['connect'];
  now: () => number;
  /** Something that no id and no reference has been before. */
  unique: () => string;
}

/** What doctor says, as `--json` prints it. */
export interface Diagnosis {
  faults: number;
  warnings: number;
  checks: Check[];
  /** What the partner's document leaves open, as it was found. */
  partner?: PartnerFacts;
  /** Variables to set, with the values that were found to work. */
  settings: Record<string, string>;
  /** 0 without faults; 78 or 69 where the configuration or Temporal could not be used; else 1. */
  exitCode: number;
}

const CONFIGURATION = 78;

/** Tries a configuration without buying. The three parts run side by side, and none hides the faults of another. */
export async function diagnose({ config, connect, now, unique }: DoctorOptions): Promise<Diagnosis> {
  const { taskQueue, schedule, delivery } = config;
  const [partner, temporal, delivered] = await Promise.all([
    tryPartner(config.partner, now, `doctor-${unique()}`),
    checkTemporal({
      connect,
      taskQueue,
      schedule,
      partnerTimeoutMs: config.partner?.timeoutMs,
      now,
      ownQueue: `doctor-${unique()}`,
    }),
    delivery ? checkDelivery(delivery, `evt_doctor_${unique()}`, now) : undefined,
  ]);
  const checks = [
    ...configurationChecks(config.issues),
    ...(partner?.checks ?? []),
    ...temporal.checks,
    ...(delivered ? [delivered] : []),
  ];
  const faults = checks.filter(({ level }) => level === 'fault').length;
  const warnings = checks.filter(({ level }) => level === 'warning').length;
  const impossible = config.issues.length > 0 ? CONFIGURATION : temporal.exitCode;
  const exitCode = impossible ?? (faults > 0 ? 1 : 0);
  return { faults, warnings, checks, partner: partner?.facts, settings: partner?.settings ?? {}, exitCode };
}

function configurationChecks(issues: readonly ConfigIssue[]): Check[] {
  if (issues.length === 0) return [ok('configuration', 'variables as documented, secrets long enough', 'they are')];
  return issues.map(({ variable, expected, got, remedy }) =>
    fault('configuration', expected, got, { variable, remedy }),
  );
}

async function tryPartner(
  settings: DoctorConfig['partner'],
  now: () => number,
  unknown: string,
): Promise<PartnerFindings | undefined> {
  if (!settings) return undefined;
  const probe = new PartnerProbe(settings, now);
  try {
    return await checkPartner(probe, unknown);
  } finally {
    await probe.close();
  }
}

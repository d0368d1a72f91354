import { checkDelivery } from './delivery-check';
import { type Check, type DoctorOptions, Findings } from './findings';
import { checkPartner } from './partner-checks';
import { checkTemporal } from './temporal-checks';

/** What doctor says, as `--json` prints it. */
export type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

/** Tries a configuration without buying. The three parts run at once, and none hides the faults of another. */
export async function diagnose(options: DoctorOptions) {
  const { issues } = options.config;
  const configuration = new Findings();
  for (const { variable, expected, got, remedy } of issues)
    configuration.check('configuration', expected, variable).fault(got, remedy);
  if (issues.length === 0)
    configuration.check('configuration', 'variables as documented, secrets long enough').ok('they are');
  const [ofPartner, ofTemporal, ofDelivery] = [new Findings(), new Findings(), new Findings()];
  const [partner, unusable] = await Promise.all([
    checkPartner(options, ofPartner),
    checkTemporal(options, ofTemporal),
    checkDelivery(options, ofDelivery),
  ]);
  const checks = [configuration, ofPartner, ofTemporal, ofDelivery].flatMap((part) => part.checks);
  const faults = checks.filter(({ level }) => level === 'fault').length;
  const warnings = checks.filter(({ level }) => level === 'warning').length;
  /** 78 or 69 if the configuration or Temporal can't be used. */
  const exitCode = (issues.length > 0 ? 78 : unusable) ?? (faults > 0 ? 1 : 0);
  return { faults, warnings, checks, partner, settings: ofPartner.settings, exitCode };
}

/** A diagnosis for people: a line for each check, what to do where one is not right, and the settings to use. */
export function formatDiagnosis({ checks, settings, faults, warnings, partner }: Diagnosis): string {
  const { balance, creditLimit = 'not shown' } = partner?.account ?? {};
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return [
    ...checks.flatMap(formatCheck),
    '',
    ...(balance === undefined ? [] : [`balance ${balance}, credit limit ${creditLimit}`]),
    `${faults} faults, ${warnings} warnings. Nothing was bought.`,
    ...(lines.length === 0 ? [] : ['', 'Seen to work with the partner, to paste:', '', ...lines]),
  ].join('\n');
}

function formatCheck({ name, level, expected, got, variable, remedy }: Check): string[] {
  const line = `${level.padEnd(8)} ${name}: expected ${expected}; got ${got}`;
  return level === 'ok' ? [line] : [line, `         ${variable === undefined ? '' : `${variable}: `}${remedy ?? ''}`];
}

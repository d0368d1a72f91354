import type { Check } from './check';
import type { Diagnosis } from './index';

/** A diagnosis for people: a line for each check, what to do where one is not right, and the settings to use. */
export function formatDiagnosis({ checks, settings, faults, warnings, partner }: Diagnosis): string {
  const { account } = partner ?? {};
  return [
    ...checks.flatMap(formatCheck),
    '',
    ...(account?.balance === undefined
      ? []
      : [`balance ${account.balance}, credit limit ${account.creditLimit ?? 'not shown'}`]),
    `${faults} faults, ${warnings} warnings. Nothing was bought.`,
    ...formatSettings(settings),
  ].join('\n');
}

function formatCheck({ name, level, expected, got, variable, remedy }: Check): string[] {
  const line = `${level.padEnd(8)} ${name}: expected ${expected}; got ${got}`;
  if (level === 'ok') return [line];
  return [line, `         ${variable === undefined ? '' : `${variable}: `}${remedy ?? ''}`];
}

function formatSettings(settings: Record<string, string>): string[] {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return lines.length === 0 ? [] : ['', 'Seen to work with the partner, to paste:', '', ...lines];
}

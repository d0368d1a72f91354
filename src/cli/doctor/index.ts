import { randomUUID } from 'node:crypto';
import { type Check, Checklist, type DoctorOptions, NOT_TESTED, PLAINTEXT_REMEDY, RUN_AGAIN } from './checklist';
import { checkPartner } from './partner-checks';
import { checkTemporal } from './temporal-checks';
import { formatUiViews } from '../ui-views';
import type { EventType } from '../../contracts/events';
import { createEventSender, isDeliveryError } from '../../delivery';
import { pluralize } from '../../domain/text-format';
import { coloured } from '../colours';

/** The result of doctor, as `--json` prints it. */
export type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

/** Tests a configuration without buying anything. The three parts run at once, and none hides the problems of another. */
export async function diagnose(options: DoctorOptions) {
  const { issues, plaintext, warnings: openFiles } = options.config;
  const configuration = new Checklist();
  for (const { variable, expected, got, remedy } of issues)
    configuration.check(`configuration: ${variable}`, expected, variable).problem(got, remedy);
  if (issues.length === 0)
    configuration.check('configuration: all variables', 'known names and valid values').ok('no problems');
  for (const got of openFiles)
    configuration
      .check('configuration: files with secrets', 'files that only their owner can read')
      .warning(got, OPEN_REMEDY);
  for (const variable of plaintext)
    configuration.check(`configuration: ${variable}`, 'https://', variable).warning('http://', PLAINTEXT_REMEDY);
  const [ofPartner, ofTemporal, ofDelivery] = [new Checklist(), new Checklist(), new Checklist()];
  const [partner, unusable] = await Promise.all([
    checkPartner(options, ofPartner),
    checkTemporal(options, ofTemporal),
    checkDelivery(options, ofDelivery),
  ]);
  const checks = [configuration, ofPartner, ofTemporal, ofDelivery].flatMap((part) => part.checks);
  const count = (wanted: Check['level']) => checks.filter(({ level }) => level === wanted).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  // 78 or 69 if the configuration or Temporal can't be used.
  const exitCode = (issues.length > 0 ? 78 : unusable) ?? (problems > 0 ? 1 : 0);
  const { views } = ofTemporal;
  const { settings } = ofPartner;
  const changes = changesIn(settings, options.config);
  return { problems, warnings, checks, partner, settings, changes, views, exitCode };
}

/** The settings that work and differ from those in use. */
function changesIn(settings: Readonly<Record<string, string>>, { partner }: DoctorOptions['config']) {
  const { search, page, limit } = partner?.historyParams ?? {};
  const inUse: Record<string, string | undefined> = {
    PARTNER_LIST_PREFIX: partner?.listPrefix,
    PARTNER_ORDER_PREFIX: partner?.orderPrefix,
    PARTNER_HISTORY_SEARCH_PARAM: search,
    PARTNER_HISTORY_PAGE_PARAM: page,
    PARTNER_HISTORY_LIMIT_PARAM: limit,
    PARTNER_MAX_RPS: partner?.maxRequestsPerSecond?.toString(),
  };
  return Object.fromEntries(Object.entries(settings).filter(([name, value]) => inUse[name] !== value));
}

const OPEN_REMEDY = 'Remove that permission. If other people have had access to this machine, rotate the secret.';

/** Formats a diagnosis as text: a line for each check, what to do about a problem, and the settings to use. */
export function formatDiagnosis(diagnosis: Diagnosis, colours = false): string {
  const { checks, changes, problems, warnings, partner } = diagnosis;
  const { balance, creditLimit = 'not shown' } = partner?.account ?? {};
  const lines = Object.entries(changes).map(([name, value]) => `${name}=${value}`);
  return [
    ...checks.flatMap((check) => formatCheck(check, colours)),
    '',
    ...(balance === undefined ? [] : [`balance ${balance}, credit limit ${creditLimit}`]),
    `${pluralize(problems, 'problem')}, ${pluralize(warnings, 'warning')}. Nothing was bought.`,
    ...(lines.length === 0 ? [] : ['', 'These settings work with the partner. Paste them into .env:', '', ...lines]),
    ...viewLines(diagnosis),
  ].join('\n');
}

/** Links to filtered views. There are none if Temporal can't be used, because its UI would not work either. */
function viewLines({ views, exitCode }: Diagnosis): string[] {
  return views || exitCode <= 1 ? ['', ...formatUiViews(views)] : [];
}

const TONES = { ok: 'good', warning: 'caution', problem: 'bad' } as const;

function formatCheck(
  { name, level, expected, got, untested, isSentence, variable, remedy }: Check,
  colours: boolean,
): string[] {
  const label = coloured(colours, TONES[level], level.padEnd(8));
  if (level === 'ok') return [`${label} ${name}: ${got}`];
  const line = `${label} ${name}: ${untested || isSentence ? got : `expected ${expected}; got ${got}`}`;
  return [line, `         ${variable === undefined ? '' : `${variable}: `}${remedy ?? ''}`];
}

const TEST_EVENT: EventType = 'doctor.test';
const MAX_WAIT_MS = 30_000;

/**
 * Posts a signed test event to DELIVERY_URL. DELIVERY_DIR gets no event: reading the configuration has already tried to
 * write a file there.
 */
async function checkDelivery({ config, now }: DoctorOptions, checklist: Checklist): Promise<void> {
  const settings = config.delivery;
  if (settings?.kind === 'folder')
    return checklist.check('delivery: DELIVERY_DIR', 'a writable folder').ok('a file was written and removed');
  const [name, expected] = ['delivery: test event', `2xx for a signed event of type ${TEST_EVENT}`];
  if (!settings) return checklist.check(name, expected).untested(NOT_TESTED, RUN_AGAIN);
  const check = checklist.check(name, expected, 'DELIVERY_URL');
  const id = `evt_${randomUUID()}`;
  const eventSender = createEventSender({ ...settings, timeoutMs: Math.min(settings.timeoutMs, MAX_WAIT_MS) });
  const timestamp = new Date(now()).toISOString();
  try {
    const body = { type: TEST_EVENT, timestamp, data: { referenceId: TEST_EVENT } };
    const gone = 'After a 410, every purchase is held until an operator decides. Is this the right URL?';
    if (await eventSender.deliver({ id, body })) check.ok(`received: ${id}`);
    else check.problem('410: the receiver permanently rejects the event', gone);
  } catch (error) {
    if (!isDeliveryError(error)) throw error;
    const { kind, httpStatus = 0, message } = error;
    const isUnsigned = [400, 401, 403].includes(httpStatus);
    if (isUnsigned) check.problem(message, REMEDIES.unsigned, 'DELIVERY_SECRET');
    else if (httpStatus >= 500) check.problem(message, REMEDIES.failed);
    else if (kind === 'error-response') check.problem(message, REMEDIES.errorResponse);
    else check.failed(message, REMEDIES.unreachable);
  } finally {
    await eventSender.close();
  }
}

const REMEDIES = {
  unsigned: 'Check that the receiver has the secret in DELIVERY_SECRET, and that its clock is right.',
  failed: 'The receiver failed. Read its log.',
  errorResponse: 'The receiver must respond with 2xx to event types that it does not know. Redirects are not followed.',
  unreachable: 'Is the receiver running? If it is, check the URL, the network path, and DELIVERY_TIMEOUT.',
};

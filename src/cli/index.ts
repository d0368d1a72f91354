import { Command, CommanderError } from 'commander';
import { exitCodeOf, flushAndExit, messageOf } from '../exit';
import { startTracing, type Tracing } from '../tracing';
import { connectOnce, connectRetry } from '../workflows/policies';
import { loadConfig, loadDoctor, loadPartner, loadTemporal, type StarterContext } from './context';
import { show } from './output';
import { addPartnerCommands } from './partner-commands';
import { addPurchaseCommands } from './purchase-commands';
import { addReconciliationCommands } from './reconciliation-commands';
import { formatUiViews, uiViewsOf } from './ui-views';

const USAGE = 2;
const UNREACHABLE = 69;

/** Runs the command that the process was started with, and ends the process. */
export async function main(): Promise<void> {
  const note = (text: string) => void process.stderr.write(`${text}\n`);
  // A reader such as `head` may have seen enough. Any other failure, such as a full disk, has lost what the caller asked for.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => flushAndExit(code === 'EPIPE' ? 0 : 1));
  let tracing: Tracing | undefined;
  const connect = async (retry: typeof connectRetry) => {
    const { environment, readStarterConfig } = loadConfig();
    const config = readStarterConfig();
    tracing ??= startTracing(config.tracingEndpoint, 'starter', note);
    const { connectClient, isKeyPlain, readTemporalTarget } = loadTemporal();
    const target = readTemporalTarget(environment(), config);
    const client = await connectClient(target, { ...retry, onRetry: note }, tracing.clientInterceptors);
    return { client, isKeyPlain: isKeyPlain(target.connectionOptions) };
  };
  const exitCode = await runStarter(process.argv, {
    exitCode: 0,
    out: { json: false, write: (text) => void process.stdout.write(text), note },
    partner: () => loadPartner().createPartnerClient(loadConfig().readPartnerConfig()),
    schedule: () => loadConfig().readScheduleConfig(),
    taskQueue: () => loadConfig().readStarterConfig().taskQueue,
    temporalUiUrl: () => loadConfig().readStarterConfig().temporalUiUrl,
    temporal: async () => (await connect(connectRetry)).client,
    doctor: () =>
      loadDoctor().diagnose({
        config: loadConfig().readDoctorConfig(),
        connect: () => connect(connectOnce),
        now: Date.now,
      }),
  });
  await tracing?.close();
  flushAndExit(exitCode);
}

/**
 * Parses the command line and does what it says. An error is one message on stderr, and with `--json` the document on
 * stdout, `{error: {name, message}}`.
 *
 * @returns the exit code: 0 done, 1 error, 2 usage, 3 with `--wait` another outcome, 69 Temporal unreachable, 78 configuration.
 */
export async function runStarter(argv: readonly string[], context: StarterContext): Promise<number> {
  const { out } = context;
  const program = commands(context);
  out.json = argv.includes('--json');
  try {
    await program.parseAsync([...argv]);
    return context.exitCode;
  } catch (error) {
    const isMisused = error instanceof CommanderError;
    if (isMisused && error.exitCode === 0) return 0;
    const { message, exitCode } = isMisused ? { message: error.message, exitCode: USAGE } : explain(error);
    // Commander has already said what is wrong.
    if (!isMisused) out.note(message);
    else if (error.code === 'commander.unknownCommand') out.note(program.helpInformation());
    if (out.json) show(out, { error: { name: error instanceof Error ? error.name : 'Error', message } });
    return exitCode;
  }
}

/** The messages of Temporal's own errors leave out what the server said. */
function explain(error: unknown): { message: string; exitCode: number } {
  const { cause, code } = (error ?? {}) as { cause?: unknown; code?: unknown };
  const plain = { message: messageOf(error), exitCode: exitCodeOf(error) };
  if (cause === undefined && typeof code !== 'number') return plain;
  const { GRPC_STATUS, grpcErrorOf, refusalOf, refusedError } = loadTemporal();
  const refusal = refusalOf(error);
  if (refusal) return explain(refusedError('', refusal));
  const said = grpcErrorOf(error);
  if (!said) return plain;
  if (said.code === GRPC_STATUS.UNAVAILABLE)
    return { message: `Temporal no longer answers: ${said.details}`, exitCode: UNREACHABLE };
  return {
    message: plain.message.includes(said.details) ? plain.message : `${plain.message}: ${said.details}`,
    exitCode: 1,
  };
}

/** Defines every command. `npm run docs` writes docs/reference/commands.md from the result. */
export function commands(context: StarterContext): Command {
  const { out } = context;
  const program = new Command('starter')
    .description('Starts purchases, shows where they stand, and carries the decisions of people.')
    .showHelpAfterError('(--help shows what there is)')
    .configureOutput({ writeOut: (text) => out.write(text), writeErr: (text) => out.note(text.trimEnd()) })
    .exitOverride();
  addPurchaseCommands(program, context);
  addPartnerCommands(program, context);
  addReconciliationCommands(program, context);
  program
    .command('setup')
    .description('register the search attributes in the namespace; safe to repeat')
    .action(() => setup(context));
  program
    .command('doctor')
    .description('try the configuration without buying, and say what to change')
    .action(() => doctor(context));
  for (const command of [program, ...program.commands.flatMap((one) => [one, ...one.commands])]) {
    command.option('--json', 'print one JSON document on stdout and nothing else');
  }
  return program;
}

async function setup({ temporal, temporalUiUrl, out }: StarterContext): Promise<void> {
  const client = await temporal();
  const uiUrl = temporalUiUrl();
  const { namespace } = client.options;
  const registered = await loadTemporal().registerSearchAttributes(client.connection, namespace);
  const words = registered.length > 0 ? `registered ${registered.join(', ')}` : 'everything was there';
  const views = uiUrl === undefined ? undefined : uiViewsOf(uiUrl, namespace, Date.now());
  show(out, { namespace, registered, views }, [`namespace ${namespace}: ${words}`, ...formatUiViews(views)]);
}

async function doctor(context: StarterContext): Promise<void> {
  const diagnosis = await context.doctor();
  show(context.out, diagnosis, [loadDoctor().formatDiagnosis(diagnosis)]);
  context.exitCode = diagnosis.exitCode;
}

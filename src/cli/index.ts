import { Argument, Command, CommanderError } from 'commander';
// The index would load zod.
import { envFileAdvice, loadEnvFile } from '../config/env-file';
import { command, PROGRAM, statusCommand } from '../contracts/operator-commands';
import { exitCodeOf, flushAndExit, messageOf } from '../exit';
import { toSafeLines } from '../domain/text-format';
import { FulfilmentError, InvalidPurchaseError, NoResponseError, PurchaseNotFoundError } from '../starter/errors';
import { startTracing, type Tracing } from '../tracing';
import { connectOnce, connectRetry } from '../workflows/policies';
import { canShowColours } from './colours';
import { oneOf } from './command-arguments';
import { completionScript, type Shell, SHELLS } from './completion';
import { loadConfig, loadDoctor, loadPartner, loadTemporal, type StarterContext } from './context';
import { show } from './output';
import { addPartnerCommands } from './partner-commands';
import { addPurchaseCommands } from './purchase-commands';
import { addReconciliationCommands } from './reconciliation-commands';
import { formatUiViews, uiViewsOf } from './ui-views';
import { explainUsage, USAGE } from './usage-errors';
import { readVersions } from './versions';

const UNREACHABLE = 69;

/** Runs the command that the process was started with, and ends the process. */
export async function main(): Promise<void> {
  const note = (text: string) => void process.stderr.write(`${text}\n`);
  process.stdout.on('error', () => flushAndExit(0));
  // If nobody reads the progress, the command still runs. Its result goes to stdout.
  process.stderr.on('error', () => undefined);
  let tracing: Tracing | undefined;
  const connect = async (retry: typeof connectRetry) => {
    const { environment, readStarterConfig } = loadConfig();
    const config = readStarterConfig();
    tracing ??= startTracing(config.tracingEndpoint, 'starter', note);
    const { connectClient, isKeyUnencrypted, readTemporalTarget } = loadTemporal();
    const target = readTemporalTarget(environment(), config);
    const client = await connectClient(target, { ...retry, onRetry: note }, tracing.clientInterceptors);
    return { client, isKeyUnencrypted: isKeyUnencrypted(target.connectionOptions) };
  };
  const write = (text: string) => void process.stdout.write(text);
  const exitCode = await runStarter(process.argv, {
    exitCode: 0,
    out: { json: false, colours: canShowColours(process.stdout), write, note },
    loadEnvFile,
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
 * Parses the command line and runs the command. An error is one message on stderr. With `--json`, the document
 * `{error: {name, message}}` also goes to stdout.
 *
 * @returns the exit code: 0 done, 1 error, 2 usage, 3 another outcome with `--wait`, 69 Temporal unreachable, 78
 * configuration.
 */
export async function runStarter(argv: readonly string[], context: StarterContext): Promise<number> {
  const { out } = context;
  const program = commands(context);
  out.json = argv.includes('--json');
  try {
    await program.parseAsync(withoutHelp(program, withoutComment(argv)));
    return context.exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { message: quoting, exitCode } = explain(error);
    // The message may quote the command line, or text that others wrote into Temporal.
    const message = toSafeLines(quoting);
    out.note(message + statusAdvice(error, message) + envFileAdvice(error));
    if (out.json) show(out, { error: { name: error instanceof Error ? error.name : 'Error', message } });
    return exitCode;
  }
}

/** Names the command that shows the purchase, which an error of the library can't do: a checkout has no commands. */
function statusAdvice(error: unknown, message: string): string {
  if (!(error instanceof FulfilmentError) || error instanceof PurchaseNotFoundError) return '';
  const { referenceId } = error as { referenceId?: string };
  if (referenceId === undefined || message.includes(PROGRAM)) return '';
  return `\nTo see its state: ${statusCommand(referenceId)}`;
}

/** Zsh passes a comment that is pasted with a command as arguments. */
function withoutComment(argv: readonly string[]): readonly string[] {
  const start = argv.indexOf('#');
  return start === -1 ? argv : argv.slice(0, start);
}

/** Drops `help` and `--help` for an unknown command. Otherwise commander shows the whole help and succeeds. */
function withoutHelp(program: Command, argv: readonly string[]): string[] {
  const [first, second] = argv.slice(2).filter((word) => !word.startsWith('-'));
  const name = first === 'help' ? second : first;
  const isKnown = name === undefined || name === 'help' || program.commands.some((one) => one.name() === name);
  return argv.filter((word) => isKnown || !['help', '--help', '-h'].includes(word));
}

/** Adds the server's own words, which Temporal's error messages leave out. */
function explain(error: unknown): { message: string; exitCode: number } {
  const { cause, code, namespace } = (error ?? {}) as { cause?: unknown; code?: unknown; namespace?: unknown };
  const plain = {
    message: messageOf(error),
    exitCode: error instanceof InvalidPurchaseError ? USAGE : exitCodeOf(error),
  };
  if (cause === undefined && typeof code !== 'number' && namespace === undefined) return plain;
  const temporal = loadTemporal();
  const { GRPC_STATUS, grpcErrorOf, refusalOf, refusedError } = temporal;
  const unknown = temporal.unknownNamespaceIn(error);
  if (unknown !== undefined) return explain(temporal.unknownNamespace(unknown));
  const refusal = refusalOf(error);
  if (refusal) return explain(refusedError('', refusal));
  const grpcError = grpcErrorOf(error);
  if (!grpcError) return plain;
  if (grpcError.code === GRPC_STATUS.UNAVAILABLE)
    return { message: `Temporal no longer responds: ${grpcError.details}`, exitCode: UNREACHABLE };
  if (grpcError.code === GRPC_STATUS.INVALID_ARGUMENT && grpcError.details.includes('search attribute'))
    return { message: `${grpcError.details}. To register the search attributes: ${command('setup')}`, exitCode: 1 };
  const isComplete = error instanceof NoResponseError || plain.message.includes(grpcError.details);
  return { message: isComplete ? plain.message : `${plain.message}: ${grpcError.details}`, exitCode: 1 };
}

/** Defines every command. `npm run docs` writes docs/reference/commands.md from the result. */
export function commands(context: StarterContext): Command {
  const { out } = context;
  const program = new Command(PROGRAM)
    .description('Starts purchases, shows their state, and applies operator decisions.')
    .option('--version', 'print the versions of this software, Node and the Temporal SDK')
    .on('option:version', () => {
      showVersions(context);
      throw new CommanderError(0, 'commander.version', '');
    })
    .configureOutput({
      writeOut: (text) => (out.json ? show(out, { help: text }) : out.write(text)),
      writeErr: (text) => out.note(text.trimEnd()),
      outputError: () => undefined,
    })
    .hook('preAction', context.loadEnvFile);
  addPurchaseCommands(program, context);
  addPartnerCommands(program, context);
  addReconciliationCommands(program, context);
  program
    .command('setup')
    .description('register the search attributes in the namespace; safe to repeat')
    .action(() => setup(context));
  program
    .command('doctor')
    .description('check the configuration without buying anything, and say what to change')
    .action(() => doctor(context));
  program
    .command('completion')
    .description(
      'print a completion script for the name `fulfilment`; load it with eval "$(npx fulfilment completion bash)"',
    )
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS).argParser(oneOf('SHELL', SHELLS)))
    .action((shell: Shell) => {
      const completion = completionScript(program, shell);
      if (out.json) show(out, { completion });
      else out.write(completion);
    });
  for (const command of allOf(program)) {
    command.option('--json', 'print one JSON document on stdout and nothing else');
    command.exitOverride((error) => {
      throw error.exitCode === 0 ? error : explainUsage(command, error);
    });
  }
  return program;
}

function allOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allOf)];
}

function showVersions({ out }: StarterContext): void {
  const versions = readVersions();
  show(out, versions, [
    `fulfilment ${versions.fulfilment}`,
    `node ${versions.node}`,
    `temporal sdk ${versions.temporalSdk}`,
  ]);
}

async function setup({ temporal, temporalUiUrl, out }: StarterContext): Promise<void> {
  const client = await temporal();
  const uiUrl = temporalUiUrl();
  const { namespace } = client.options;
  const registered = await loadTemporal().registerSearchAttributes(client.connection, namespace);
  const words =
    registered.length > 0 ? `registered ${registered.join(', ')}` : 'all search attributes were already registered';
  const views = uiUrl === undefined ? undefined : uiViewsOf(uiUrl, namespace, Date.now());
  show(out, { namespace, registered, views }, [`namespace ${namespace}: ${words}`, ...formatUiViews(views)]);
}

async function doctor(context: StarterContext): Promise<void> {
  const { out } = context;
  const diagnosis = await context.doctor();
  show(out, diagnosis, [loadDoctor().formatDiagnosis(diagnosis, out.colours)]);
  const advice = envFileAdvice({ issues: diagnosis.checks });
  if (advice !== '') out.note(advice.trim());
  context.exitCode = diagnosis.exitCode;
}

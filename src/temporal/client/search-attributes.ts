import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, NamespaceNotFoundError } from '@temporalio/client';
import { command } from '../../contracts/operator-commands';
import { SEARCH_ATTRIBUTES } from '../../contracts/search-attributes';
import { refusalOf, refusedError } from './connection-failure';
import { GRPC_STATUS, grpcErrorOf } from './grpc';
import { TemporalConfigError } from './target';

/** Temporal's number for the type Keyword. Its proto package is not one of our dependencies. */
const KEYWORD = 2;
/** More than the time that a server needs to refresh its namespaces. */
const USABLE_WITHIN_MS = 30_000;

/** The connection of a client or a worker. */
type Services = Pick<Connection, 'operatorService' | 'workflowService'>;

/** @throws TemporalConfigError if the API key is refused, or the namespace or a search attribute is missing. */
export async function requireSearchAttributes(connection: Services, namespace: string): Promise<void> {
  const missing = await missingSearchAttributes(connection, namespace).catch((error: unknown) => {
    if (grpcErrorOf(error)?.code === GRPC_STATUS.NOT_FOUND) throw unknownNamespace(namespace);
    const refusal = refusalOf(error);
    throw refusal ? refusedError(`, namespace ${namespace},`, refusal) : error;
  });
  if (missing.length > 0)
    throw new TemporalConfigError(
      `namespace ${namespace} lacks the search attributes ${missing.join(', ')}: ` +
        `register them with \`${command('setup')}\`, then start again`,
    );
}

export function unknownNamespace(namespace: string): TemporalConfigError {
  return new TemporalConfigError(
    `Temporal has no namespace ${namespace}. TEMPORAL_NAMESPACE (or the profile in TEMPORAL_CONFIG_FILE) selects it. ` +
      `To create it: npm run temporal -- operator namespace create --namespace ${namespace} --retention 720h`,
  );
}

/** The namespace that the server does not know, if this is why a call failed. */
export function unknownNamespaceIn(error: unknown): string | undefined {
  if (error instanceof NamespaceNotFoundError) return error.namespace;
  const grpcError = grpcErrorOf(error);
  return grpcError?.code === GRPC_STATUS.NOT_FOUND
    ? /^Namespace (\S+) is not found/.exec(grpcError.details)?.[1]
    : undefined;
}

/**
 * The search attributes that a namespace lacks, or has with a type other than Keyword. On Temporal Cloud, an API key
 * may not be allowed to list them. A search by each attribute then shows whether it exists.
 */
export async function missingSearchAttributes(connection: Services, namespace: string): Promise<string[]> {
  const names = SEARCH_ATTRIBUTES.map(({ name }) => name);
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return names.filter((name) => customAttributes?.[name] !== KEYWORD);
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    return unsearchable(connection, namespace, names);
  }
}

async function unsearchable({ workflowService }: Services, namespace: string, names: string[]): Promise<string[]> {
  const isUnknown = (name: string) =>
    workflowService.countWorkflowExecutions({ namespace, query: `${name} = 'none'` }).then(
      () => false,
      (error: unknown) => {
        if (grpcErrorOf(error)?.code === GRPC_STATUS.INVALID_ARGUMENT) return true;
        throw error;
      },
    );
  const unknown = await Promise.all(names.map(isUnknown));
  return names.filter((_, index) => unknown[index]);
}

function isNotAllowed(error: unknown): boolean {
  const code = grpcErrorOf(error)?.code;
  return code === GRPC_STATUS.PERMISSION_DENIED || code === GRPC_STATUS.UNIMPLEMENTED;
}

/**
 * Registers missing search attributes; safe to repeat. Waits at most 30 s until they can be used: a production server
 * (seen with 1.32) lists them at once, but rejects workflows with them for a few seconds.
 *
 * @returns the names that were registered.
 * @throws TemporalConfigError if the server does not allow it, as on Temporal Cloud.
 */
export async function registerSearchAttributes(connection: Services, namespace: string): Promise<string[]> {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return [];
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    throw isNotAllowed(error) ? registrationRefused(namespace, missing) : error;
  }
  const end = performance.now() + USABLE_WITHIN_MS;
  while (performance.now() < end && (await unsearchable(connection, namespace, missing)).length > 0) await sleep(500);
  return missing;
}

function registrationRefused(namespace: string, missing: readonly string[]): TemporalConfigError {
  const options = missing.map((name) => `--search-attribute ${name}=Keyword`).join(' ');
  return new TemporalConfigError(
    `namespace ${namespace} lacks the search attributes ${missing.join(', ')}, and the server does not allow registering them here. ` +
      "On Temporal Cloud, register them in the UI (the namespace's page, Edit, Custom Search Attributes, type Keyword), or with: " +
      `tcld namespace search-attributes add --namespace ${namespace} ${options}`,
  );
}

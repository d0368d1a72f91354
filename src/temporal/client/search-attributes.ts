import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { command } from '../../contracts/operator-commands';
import { SEARCH_ATTRIBUTES } from '../../contracts/search-attributes';
import { refusalOf, refusedError } from './connection-failure';
import { GRPC_STATUS, grpcErrorOf } from './grpc';
import { TemporalConfigError } from './target';

/** Temporal's number for the type Keyword; its proto package is no dependency of ours. */
const KEYWORD = 2;
/** Longer than any part of a server takes to read its namespaces again. */
const USABLE_WITHIN_MS = 30_000;

/** A client's connection, or a worker's. */
type Services = Pick<Connection, 'operatorService' | 'workflowService'>;

/** @throws TemporalConfigError if the key is refused, or the namespace or one of its search attributes is missing. */
export async function requireSearchAttributes(connection: Services, namespace: string): Promise<void> {
  const missing = await missingSearchAttributes(connection, namespace).catch((error: unknown) => {
    if (grpcErrorOf(error)?.code === GRPC_STATUS.NOT_FOUND)
      throw new TemporalConfigError(
        `Temporal has no namespace ${namespace}: TEMPORAL_NAMESPACE, or the file that TEMPORAL_CONFIG_FILE names, says which one to use. ` +
          `This makes it: temporal operator namespace create --namespace ${namespace} --retention 720h`,
      );
    const refusal = refusalOf(error);
    throw refusal ? refusedError(`, namespace ${namespace},`, refusal) : error;
  });
  if (missing.length > 0)
    throw new TemporalConfigError(
      `namespace ${namespace} does not have the search attributes ${missing.join(', ')}: ` +
        `register them with \`${command('setup')}\`, then start again`,
    );
}

/**
 * The search attributes that a namespace lacks, or has with another type than Keyword. Temporal Cloud may not list them to a key that
 * can write in the namespace. Searching by one of them then shows whether it is there.
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
 * Registers what is missing; safe to repeat. It waits until workflows can carry what was registered, or for 30 s: a production
 * server lists it at once and refuses such workflows for some seconds more (run, 1.32).
 *
 * @returns the names that were registered.
 * @throws TemporalConfigError if they have to be registered in another way, as on Temporal Cloud.
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
  const end = Date.now() + USABLE_WITHIN_MS;
  while (Date.now() < end && (await unsearchable(connection, namespace, missing)).length > 0) await sleep(500);
  return missing;
}

function registrationRefused(namespace: string, missing: readonly string[]): TemporalConfigError {
  const options = missing.map((name) => `--search-attribute ${name}=Keyword`).join(' ');
  return new TemporalConfigError(
    `namespace ${namespace} lacks the search attributes ${missing.join(', ')}, and the server does not let us register them. ` +
      "On Temporal Cloud that is done in its UI (the namespace's page, Edit, Custom Search Attributes, type Keyword), or by: " +
      `tcld namespace search-attributes add --namespace ${namespace} ${options}`,
  );
}

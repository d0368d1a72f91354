import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../contracts/search-attributes';
import { refusalOf, TemporalRefusedError } from './connection-failure';
import { GRPC_STATUS, grpcErrorOf } from './grpc-error';

/** Temporal's number for the type Keyword; its proto package is no dependency of ours. */
const KEYWORD = 2;

/** As long as the part of a server takes that reads its namespaces least often, and more. */
const USABLE_WITHIN_MS = 30_000;

/** A client's connection, or a worker's. */
type Services = Pick<Connection, 'operatorService' | 'workflowService'>;

/** The namespace lacks search attributes that the workflows write. Exit code 78. */
class MissingSearchAttributesError extends Error {
  readonly exitCode = 78;

  constructor(namespace: string, missing: readonly string[]) {
    super(
      `namespace ${namespace} does not have the search attributes ${missing.join(', ')}: ` +
        'register them with `node dist/starter.js setup`, then start again',
    );
    this.name = 'MissingSearchAttributesError';
  }
}

/** The server knows no such namespace. Exit code 78. */
class NamespaceNotFoundError extends Error {
  readonly exitCode = 78;

  constructor(namespace: string) {
    super(
      `Temporal has no namespace ${namespace}: TEMPORAL_NAMESPACE, or the file that TEMPORAL_CONFIG_FILE names, says which one to use. ` +
        `This makes it: temporal operator namespace create --namespace ${namespace} --retention 720h`,
    );
    this.name = 'NamespaceNotFoundError';
  }
}

/** The server lets nobody register search attributes this way, or not us. Exit code 78. */
class RegistrationRefusedError extends Error {
  readonly exitCode = 78;

  constructor(namespace: string, missing: readonly string[]) {
    const options = missing.map((name) => `--search-attribute ${name}=Keyword`).join(' ');
    super(
      `namespace ${namespace} lacks the search attributes ${missing.join(', ')}, and the server does not let us register them. ` +
        "On Temporal Cloud that is done in its UI (the namespace's page, Edit, Custom Search Attributes, type Keyword), or by: " +
        `tcld namespace search-attributes add --namespace ${namespace} ${options}`,
    );
    this.name = 'RegistrationRefusedError';
  }
}

/**
 * The first call of a worker for which the server looks at its key: the one that connects is open to all.
 *
 * @throws MissingSearchAttributesError when the namespace lacks a search attribute; NamespaceNotFoundError; TemporalRefusedError.
 */
export async function requireSearchAttributes(connection: Services, namespace: string): Promise<void> {
  const missing = await missingSearchAttributes(connection, namespace).catch((error: unknown) => {
    if (grpcErrorOf(error)?.code === GRPC_STATUS.NOT_FOUND) throw new NamespaceNotFoundError(namespace);
    const refusal = refusalOf(error);
    throw refusal ? new TemporalRefusedError(`, namespace ${namespace},`, refusal) : error;
  });
  if (missing.length > 0) throw new MissingSearchAttributesError(namespace, missing);
}

/**
 * Temporal Cloud promises a key with the right to write in a namespace no list of its search attributes. There the question
 * is whether a search by one is understood.
 *
 * @returns the names that the namespace lacks, or that it has with another type than Keyword where the server lists them.
 */
export async function missingSearchAttributes(connection: Services, namespace: string): Promise<string[]> {
  const names = SEARCH_ATTRIBUTES.map(({ name }) => name);
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return names.filter((name) => customAttributes?.[name] !== KEYWORD);
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    return unknownOf(connection, namespace, names);
  }
}

async function unknownOf(connection: Services, namespace: string, names: readonly string[]): Promise<string[]> {
  const unknown = await Promise.all(names.map((name) => isUnknown(connection, namespace, name)));
  return names.filter((_, index) => unknown[index]);
}

async function isUnknown({ workflowService }: Services, namespace: string, name: string): Promise<boolean> {
  try {
    await workflowService.countWorkflowExecutions({ namespace, query: `${name} = 'none'` });
    return false;
  } catch (error) {
    if (grpcErrorOf(error)?.code === GRPC_STATUS.INVALID_ARGUMENT) return true;
    throw error;
  }
}

function isNotAllowed(error: unknown): boolean {
  const code = grpcErrorOf(error)?.code;
  return code === GRPC_STATUS.PERMISSION_DENIED || code === GRPC_STATUS.UNIMPLEMENTED;
}

/**
 * Registers what is missing; safe to repeat. It waits until the server takes what was registered, or for 30 s: a server of
 * production lists it at once, and refuses workflows that carry it for some seconds more (run, 1.32).
 *
 * @returns the names that were registered.
 * @throws RegistrationRefusedError where that is done in another way, as on Temporal Cloud.
 */
export async function registerSearchAttributes(connection: Services, namespace: string): Promise<string[]> {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return [];
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    throw isNotAllowed(error) ? new RegistrationRefusedError(namespace, missing) : error;
  }
  const end = Date.now() + USABLE_WITHIN_MS;
  while (Date.now() < end && (await unknownOf(connection, namespace, missing)).length > 0) await sleep(500);
  return missing;
}

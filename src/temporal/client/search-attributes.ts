import type { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../contracts/search-attributes';
import { refusalOf, TemporalRefusedError } from './connection-failure';

/** Temporal's number for the type Keyword; its proto package is no dependency of ours. */
const KEYWORD = 2;

/** A client's connection, or a worker's. */
type Services = Pick<Connection, 'operatorService'>;

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

/**
 * The first call of a worker for which the server looks at its key: the one that connects is open to all.
 *
 * @throws MissingSearchAttributesError when the namespace lacks a search attribute; TemporalRefusedError.
 */
export async function requireSearchAttributes(connection: Services, namespace: string): Promise<void> {
  const missing = await missingSearchAttributes(connection, namespace).catch((error: unknown) => {
    const refusal = refusalOf(error);
    throw refusal ? new TemporalRefusedError(`, namespace ${namespace},`, refusal.cause) : error;
  });
  if (missing.length > 0) throw new MissingSearchAttributesError(namespace, missing);
}

/** @returns the names that the namespace lacks, or that it has with another type than Keyword. */
export async function missingSearchAttributes(connection: Services, namespace: string): Promise<string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return SEARCH_ATTRIBUTES.filter(({ name }) => customAttributes?.[name] !== KEYWORD).map(({ name }) => name);
}

/**
 * Registers what is missing; safe to repeat. The server may need a moment before it lists what was registered.
 *
 * @returns the names that were registered.
 */
export async function registerSearchAttributes(connection: Services, namespace: string): Promise<string[]> {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return [];
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
  });
  return missing;
}

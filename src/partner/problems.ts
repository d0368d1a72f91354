import type { z } from 'zod';

const MOST_PROBLEMS_NAMED = 5;

/**
 * Why something does not have the shape of a schema, such as `details.data.hits: number`: paths of names from our own schemas
 * and of row numbers, and what belongs there. Nothing of what was received.
 */
export function problemsOf({ issues }: z.ZodError): string[] {
  return issues.slice(0, MOST_PROBLEMS_NAMED).map(describe);
}

function describe(issue: z.core.$ZodIssue): string {
  const where = issue.path.map(String).join('.');
  const expected = expectedBy(issue);
  return where === '' ? expected : `${where}: ${expected}`;
}

function expectedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return issue.expected;
  if (issue.code === 'custom') return issue.message;
  if (issue.code === 'invalid_value') return issue.values.map(String).join(' or ');
  return 'a value in range';
}

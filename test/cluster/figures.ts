import { appendFileSync } from 'node:fs';

/** Adds figures to those that `npm run test:cluster` puts into its report; elsewhere there is none. */
export function writeFigures(title: string, figures: readonly (readonly [string, string | number])[]): void {
  process.stdout.write(`${title}: ${figures.map(([name, value]) => `${name} ${value}`).join(', ')}\n`);
  const { TEST_CLUSTER_FIGURES: file } = process.env;
  if (file) appendFileSync(file, `${JSON.stringify({ title, figures })}\n`);
}

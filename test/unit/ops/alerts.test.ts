import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS, shownName } from '../../../src/contracts/metrics';

const root = join(__dirname, '..', '..', '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** The names of the project's metrics in a file, without the suffixes that Prometheus adds to histograms. */
function namesIn(text: string): string[] {
  const names = text.match(/\bfulfilment_[a-z_]+/g) ?? [];
  return [...new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, '')))].sort();
}

const shown = Object.entries(METRICS).map(([name, metric]) => shownName(name, metric));

it.each(['ops/rules.yml', 'ops/rules.test.yml', 'ops/dashboard.json'])(
  '%s uses no metric that is never recorded, because such an alert would never fire',
  (file) => {
    const used = namesIn(read(file));
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter((name) => !shown.includes(name))).toEqual([]);
  },
);

it('the dashboard shows every metric', () => {
  expect(namesIn(read('ops/dashboard.json'))).toEqual(shown.toSorted());
});

it('rules and panels use only label values that are recorded', () => {
  const labels = Object.values(METRICS).flatMap((metric) => Object.values<readonly string[]>(metric.labels));
  const values = new Set(labels.flat());
  const asked = ['ops/rules.yml', 'ops/dashboard.json'].flatMap((file) =>
    [...read(file).matchAll(/\b(?:state|evidence|outcome|result|response|class|source|kind)=~?\\?"([^"\\]+)/g)].flatMap(
      ([, written = '']) => written.split('|'),
    ),
  );
  expect(asked.length).toBeGreaterThan(20);
  expect(asked.filter((value) => !values.has(value))).toEqual([]);
});

it('docs/operations.md has a heading with the severity of every alert', () => {
  const alerts = [...read('ops/rules.yml').matchAll(/alert: (\w+)[^]*?severity: (\w+)[^]*?runbook_url: (\S+)/g)];
  const [section = ''] = read('docs/operations.md').split('\n## Alerts\n')[1]?.split('\n## ') ?? [];
  const headings = [...section.matchAll(/^### (\w+)\n\n\*\*(\w+)\.\*\* /gm)];
  expect(alerts.length).toBeGreaterThan(20);
  const named = alerts.map(([, name, severity]) => [name, severity]);
  expect(headings.map(([, name, severity = '']) => [name, severity.toLowerCase()])).toEqual(named);
  expect(section.match(/^### /gm)).toHaveLength(alerts.length);
  for (const [, name = '', , url] of alerts) expect(url).toBe(`docs/operations.md#${name.toLowerCase()}`);
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const reason = hasPromtool ? '' : ' [no promtool here]';

(hasPromtool ? it : it.skip)(`each alert fires for its reason, and no other alert fires with it${reason}`, () => {
  const args = ['test', 'rules', join(root, 'ops', 'rules.test.yml')];
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: expect.stringContaining('SUCCESS') });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const textOf = (path: string) => readFileSync(join(__dirname, '../../..', path), 'utf8');
const packageOf = (path: string) =>
  JSON.parse(textOf(path)) as { engines: { node: string }; devDependencies: Record<string, string> };
const major = (version = '') => version.split('.')[0];

/** The lowest version of each major that package.json accepts. */
const supported = packageOf('package.json')
  .engines.node.split(' || ')
  .map((range) => range.replace('^', ''));

it('every major version of Node that package.json accepts is tested before a release, the oldest in its lowest version', () => {
  const { jobs } = parse(textOf('.github/workflows/release.yml')) as {
    jobs: { test: { strategy: { matrix: { node: string[] } } } };
  };
  const tested = jobs.test.strategy.matrix.node;
  expect(tested.map(major)).toEqual(supported.map(major));
  expect(supported[0]!.startsWith(`${tested[0]}.`)).toBe(true);
});

it('the types are those of the lowest version of Node, so that no code uses what it lacks', () => {
  expect(major(packageOf('package.json').devDependencies['@types/node'])).toBe(major(supported[0]));
});

it('the images run on one of these versions, the same in every stage', () => {
  const versions = [...textOf('Dockerfile').matchAll(/^FROM node:([\d.]+)/gm)].map(([, version]) => version);
  expect(versions.length).toBeGreaterThan(1);
  expect(new Set(versions).size).toBe(1);
  expect(supported.map(major)).toContain(major(versions[0]));
});

it('the package for checkouts accepts the same versions', () => {
  expect(packageOf('checkout/package.json').engines).toEqual(packageOf('package.json').engines);
});

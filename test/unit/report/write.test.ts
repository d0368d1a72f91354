import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderCsv } from '../../../src/report/csv';
import { renderHtml } from '../../../src/report/html/index';
import { writeReport } from '../../../src/report/index';
import { temporaryFolder } from '../../support/clean-up';
import { eventfulNight, quietNight } from './sample';

let parent: string;
beforeEach(() => (parent = temporaryFolder()));

describe('a report on disk', () => {
  it('consists of three complete files named after time and run, and leaves nothing else behind', async () => {
    const report = eventfulNight();
    const paths = await writeReport(join(parent, 'made', 'here'), report);
    const name = 'reconciliation-2026-01-15T03-00-00Z-0199f3a2-5c1e-7d40-9b1f-2f6a8c1d7e55';
    expect(readdirSync(join(parent, 'made', 'here'))).toEqual([`${name}.csv`, `${name}.html`, `${name}.json`]);
    expect(JSON.parse(readFileSync(paths.json, 'utf8'))).toEqual(report);
    expect(readFileSync(paths.csv, 'utf8')).toBe([...renderCsv(report)].join(''));
    expect(readFileSync(paths.html, 'utf8')).toBe(renderHtml(report));
  });

  it('that the same run writes again replaces its files and adds none, even with ten writes at once', async () => {
    await writeReport(parent, eventfulNight());
    await Promise.all(Array.from({ length: 10 }, () => writeReport(parent, quietNight())));
    expect(readdirSync(parent)).toHaveLength(3);
    const { json } = await writeReport(parent, quietNight());
    expect(JSON.parse(readFileSync(json, 'utf8'))).toEqual(quietNight());
  });

  it('never writes outside its folder, whatever the run is called', async () => {
    const { html } = await writeReport(parent, { ...quietNight(), runId: '../../etc/passwd', to: '../..' });
    expect(readdirSync(parent)).toHaveLength(3);
    expect(html.startsWith(join(parent, 'reconciliation-'))).toBe(true);
  });

  it('that cannot be written fails with the reason, and leaves no draft and no JSON, which would mark it as complete', async () => {
    writeFileSync(join(parent, 'file'), '');
    await expect(writeReport(join(parent, 'file'), quietNight())).rejects.toMatchObject({ code: 'EEXIST' });
    expect(readdirSync(parent)).toEqual(['file']);
  });
});

import { diagnose, formatDiagnosis } from '../../../src/cli/doctor';
import { readDoctorConfig } from '../../../src/config';

const NOWHERE = Object.assign(new Error('Temporal does not answer'), { exitCode: 69 });

it('doctor says which parts it could not test because their settings are invalid', async () => {
  const config = readDoctorConfig({ DELIVERY_URL: 'http://127.0.0.1:1/events' });
  const diagnosis = await diagnose({ config, connect: () => Promise.reject(NOWHERE), now: Date.now });
  const skipped = diagnosis.checks.filter(({ level }) => level === 'warning');
  expect(skipped.map(({ name, got }) => [name, got])).toEqual([
    ['partner: reachable', 'not tested, because its settings are not valid'],
    ['delivery: test event', 'not tested, because its settings are not valid'],
  ]);
  expect(diagnosis.checks.map(({ name }) => name)).toContain('configuration: DELIVERY_SECRET');
  expect(formatDiagnosis(diagnosis)).toContain('Correct the configuration, then run doctor again.');
  expect(diagnosis.exitCode).toBe(78);
});

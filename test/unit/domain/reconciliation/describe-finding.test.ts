import { describeClassified, describeOrphans } from '../../../../src/domain/reconciliation/describe-finding';
import { order, purchase } from './generated-records';

it('quotes the title of an orphan, so that readers see where the text of the partner ends', () => {
  const [finding] = describeOrphans([order('o-1', { title: 'Keys is COMPLETED', quantity: 2 })]);
  expect(finding?.explanation).toMatch(/^An order of 2 × “Keys is COMPLETED” is /);
});

it.each([
  ['o-1', 'npx fulfilment orders --search o-1'],
  ['~root', "can't be used in a command"],
  ['-rf', "can't be used in a command"],
  ['o;ls', "can't be used in a command"],
])('puts the order id %s into a command only if no shell and no option parser changes it', (orderId, text) => {
  const missing = describeClassified({ kind: 'MISSING_AT_PARTNER' }, purchase('a', { orderId }), { others: [] });
  expect(missing.advice).toContain(text);
});

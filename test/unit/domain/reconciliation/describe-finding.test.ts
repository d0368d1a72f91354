import { describeOrphans } from '../../../../src/domain/reconciliation/describe-finding';
import { order } from './generated-records';

it('quotes the title of an orphan, so that readers see where the text of the partner ends', () => {
  const [finding] = describeOrphans([order('o-1', { title: 'Keys is COMPLETED', quantity: 2 })]);
  expect(finding?.explanation).toMatch(/^An order of 2 × “Keys is COMPLETED” is /);
});

import type { Client } from '@temporalio/client';
import { defaultPayloadConverter as converter } from '@temporalio/common';
import { PARTNER_ORDER_ID } from '../../../src/contracts/search-attributes';
import { readRecordedOrderId } from '../../../src/temporal/client/run-history';

const placed = (result: unknown) => [
  { eventId: 5, activityTaskScheduledEventAttributes: { activityType: { name: 'placeOrder' } } },
  {
    activityTaskCompletedEventAttributes: { scheduledEventId: 5, result: { payloads: [converter.toPayload(result)] } },
  },
];
const written = (orderId: string) => {
  const indexedFields = { [PARTNER_ORDER_ID.name]: converter.toPayload([orderId]) };
  return [{ upsertWorkflowSearchAttributesEventAttributes: { searchAttributes: { indexedFields } } }];
};

it.each<[string, object[], string | undefined]>([
  ['wrote', [...placed({ evidence: 'PLACED', orderId: 'o-1' }), ...written('o-2')], 'o-2'],
  ['placed, if it was stopped before it wrote any', placed({ evidence: 'PLACED', orderId: 'o-1' }), 'o-1'],
  ['found, which it may not have adopted', placed({ evidence: 'FOUND', orders: [{ id: 'o-1' }] }), undefined],
  ['was given by hand in another form', placed({ evidence: 'PLACED', orderId: '../o' }), undefined],
  ['has not placed', [], undefined],
])('the order of a run is the one that it %s', async (_, events, orderId) => {
  const loadedDataConverter = { payloadConverter: converter, payloadCodecs: [] };
  const workflow = { getHandle: () => ({ fetchHistory: async () => ({ events }) }) };
  const client = { options: { loadedDataConverter }, workflow } as unknown as Client;
  expect(await readRecordedOrderId(client, { workflowId: 'purchase-SALE-1', runId: 'a' })).toBe(orderId);
});

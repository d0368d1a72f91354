import type { EventType } from '../../contracts/events';
import type { DeliveryError, DeliverySettings } from '../../delivery';
import { loadDelivery } from '../lazy';
import { type Check, type Change, fault, ok } from './check';

const TEST_EVENT: EventType = 'doctor.test';
const LONGEST_WAIT_MS = 30_000;

/**
 * Posts a signed test event to DELIVERY_URL. The configuration has already tried to write into DELIVERY_DIR: no event is left
 * there.
 *
 * @param id the event's, never used before.
 */
export async function checkDelivery(settings: DeliverySettings, id: string, now: () => number): Promise<Check> {
  if (settings.kind === 'folder') return ok('delivery: DELIVERY_DIR', 'a folder that can be written', 'it can');
  const name = 'delivery: test event';
  const expected = `2xx for a signed event of type ${TEST_EVENT}`;
  const timeoutMs = Math.min(settings.timeoutMs, LONGEST_WAIT_MS);
  const delivery = loadDelivery().createDelivery({ ...settings, timeoutMs });
  try {
    const timestamp = new Date(now()).toISOString();
    const event = { id, body: { type: TEST_EVENT, timestamp, data: { referenceId: TEST_EVENT } } };
    if (!(await delivery.deliver(event))) return fault(name, expected, 'it refused the event for good (410)', GONE);
    return ok(name, expected, `received: ${id}`);
  } catch (error) {
    if (!loadDelivery().isDeliveryError(error)) throw error;
    return fault(name, expected, error.message, adviceFor(error));
  } finally {
    await delivery.close();
  }
}

const GONE: Change = {
  variable: 'DELIVERY_URL',
  remedy: '410 holds every purchase for an operator. Is this the right URL?',
};

function adviceFor({ kind, httpStatus = 0 }: DeliveryError): Change {
  if (httpStatus === 400 || httpStatus === 401 || httpStatus === 403) {
    const remedy =
      'The receiver may not know the secret, or its clock is off: it needs the same secret as DELIVERY_SECRET.';
    return { variable: 'DELIVERY_SECRET', remedy };
  }
  if (kind === 'answered') {
    const remedy = 'The receiver has to answer 2xx to types that it does not know, and redirects are not followed.';
    return { variable: 'DELIVERY_URL', remedy };
  }
  const remedy = 'Check the URL, the network between here and there, and DELIVERY_TIMEOUT.';
  return { variable: 'DELIVERY_URL', remedy };
}

import type { EventType } from '../../contracts/events';
import { createDelivery, isDeliveryError } from '../../delivery';
import type { DoctorOptions, Findings } from './findings';

const TEST_EVENT: EventType = 'doctor.test';
const LONGEST_WAIT_MS = 30_000;

/**
 * Posts a signed test event to DELIVERY_URL. The configuration has already tried to write into DELIVERY_DIR: no event is left
 * there.
 */
export async function checkDelivery({ config, now, unique }: DoctorOptions, findings: Findings): Promise<void> {
  const settings = config.delivery;
  if (!settings) return;
  if (settings.kind === 'folder')
    return findings.check('delivery: DELIVERY_DIR', 'a folder that can be written').ok('it can');
  const id = `evt_doctor_${unique()}`;
  const check = findings.check('delivery: test event', `2xx for a signed event of type ${TEST_EVENT}`, 'DELIVERY_URL');
  const delivery = createDelivery({ ...settings, timeoutMs: Math.min(settings.timeoutMs, LONGEST_WAIT_MS) });
  try {
    const timestamp = new Date(now()).toISOString();
    const event = { id, body: { type: TEST_EVENT, timestamp, data: { referenceId: TEST_EVENT } } };
    if (await delivery.deliver(event)) check.ok(`received: ${id}`);
    else
      check.fault(
        'it refused the event for good (410)',
        '410 holds every purchase for an operator. Is this the right URL?',
      );
  } catch (error) {
    if (!isDeliveryError(error)) throw error;
    const { kind, httpStatus = 0, message } = error;
    if ([400, 401, 403].includes(httpStatus)) {
      const remedy =
        'The receiver may not know the secret, or its clock is off: it needs the same secret as DELIVERY_SECRET.';
      check.fault(message, remedy, 'DELIVERY_SECRET');
    } else if (kind === 'answered') {
      check.fault(
        message,
        'The receiver has to answer 2xx to types that it does not know, and redirects are not followed.',
      );
    } else {
      check.fault(message, 'Check the URL, the network between here and there, and DELIVERY_TIMEOUT.');
    }
  } finally {
    await delivery.close();
  }
}

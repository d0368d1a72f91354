import type { Metrics } from '../contracts/metrics';
import type { PartnerObserver } from '../partner';

/**
 * Records the requests of a partner client and the balance in its orders.
 * @param now epoch ms
 */
export function observePartner(metrics: Metrics, now: () => number = Date.now): PartnerObserver {
  return {
    requestEnded(operation, response, ms) {
      metrics.record('fulfilment_partner_request_duration', ms / 1_000, { operation, response });
    },
    permitWaited(permitClass, granted, ms) {
      const labels = { class: permitClass };
      if (granted) metrics.record('fulfilment_partner_permit_wait', ms / 1_000, labels);
      else metrics.count('fulfilment_partner_permits_missed', labels);
    },
    balanceSeen({ balance, creditLimit }) {
      if (balance === undefined) return;
      metrics.set('fulfilment_partner_balance', balance, {});
      metrics.set('fulfilment_partner_credit_limit', creditLimit ?? 0, {});
      metrics.set('fulfilment_partner_headroom', balance + (creditLimit ?? 0), {});
      metrics.set('fulfilment_reading_timestamp_seconds', now() / 1_000, { source: 'balance' });
    },
  };
}

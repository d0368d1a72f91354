import { workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { PARTNER_ORDER_ID, REFERENCE_ID } from '../contracts/search-attributes';

/** Puts the reference and, once there is one, the order id onto every line that a workflow logs. */
export function interceptors(): WorkflowInterceptors {
  return {
    inbound: [],
    outbound: [
      {
        getLogAttributes(input, next) {
          const { typedSearchAttributes: attributes } = workflowInfo();
          return next({
            ...input,
            referenceId: attributes.get(REFERENCE_ID),
            orderId: attributes.get(PARTNER_ORDER_ID),
          });
        },
      },
    ],
  };
}

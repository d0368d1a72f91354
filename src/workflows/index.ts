export { purchaseWorkflow } from './purchase';
export { deliverWorkflow } from './deliver';
export { reconcileWorkflow } from './reconcile';

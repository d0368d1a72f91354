export { purchaseWorkflow } from './purchase';
export { deliverWorkflow } from './later-delivery';
export { reconcileWorkflow } from './reconcile';

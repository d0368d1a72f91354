export { purchaseWorkflow } from './purchase';
export { deliverWorkflow } from './late-delivery';
export { reconcileWorkflow } from './reconcile';

export { purchaseWorkflow } from './purchase';
export { deliverWorkflow } from './deliver';
export { reconcileWorkflow } from './reconcile';
export { watchWorkflow } from './watch';

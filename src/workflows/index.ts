export { purchaseWorkflow } from './purchase';
export { deliverWorkflow } from './deliver';
export { reconcileWorkflow } from './reconcile';
export { brakeWorkflow } from './brake';
export { watchWorkflow } from './watch';

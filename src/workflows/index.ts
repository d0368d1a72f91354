export { purchaseWorkflow } from './purchase';
export { deliverWorkflow } from './deliver';

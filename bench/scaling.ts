import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FORCED_POLL_EVERY } from '../src/workflows/policies';
import { projectRoot } from './paths';
import { table } from './report';

/** CPU in ms that one purchase, or one open order in one interval, costs on the production server. */
interface Costs {
  worker: number;
  server: number;
  database: number;
}

/** The last result of `npm run test:cluster -- --capacity`. */
interface Capacity {
  measuredAt: string;
  machine: string;
  purchases: number;
  open: number;
  purchasesPerSecond: number;
  purchase: Costs;
  bytesPerPurchase: number;
  orders: Costs;
  history: Costs;
}

const SALES_A_DAY = [1_000, 10_000, 100_000, 1_000_000];
/** Share of a day's sales in its busiest hour. */
const BUSIEST_HOUR = 0.1;
const OPEN_S = 600;
const INTERVAL_S = 30;
const REQUESTS_PER_PURCHASE = 4;
const PAGE_SIZE = 500;
const DEADLINE_S = 1_500;
const RETENTION_DAYS = 30;
const LOOKBACK_DAYS = 3;
const PARTS: readonly (keyof Costs)[] = ['worker', 'server', 'database'];
const PART_LABELS: Record<keyof Costs, string> = {
  worker: 'the workers',
  server: 'the Temporal server',
  database: 'PostgreSQL',
};

/** What was measured, for docs/performance.md. */
export function capacityTable(): string {
  const { measuredAt, machine, purchases, open, purchasesPerSecond, bytesPerPurchase, ...costs } = readCapacity();
  const row = (label: string, cost: Costs) => [label, ...PARTS.map((part) => cost[part].toFixed(1))];
  const rows = [
    ['CPU in ms', ...PARTS.map((part) => PART_LABELS[part])],
    row('a purchase whose order is complete at once', costs.purchase),
    row('an open order, each interval', costs.orders),
    row('an open order, each interval, with `PURCHASE_WATCH=history`', costs.history),
  ];
  const carried = `One worker process handled ${purchasesPerSecond.toFixed(1)} purchases a second (${purchases} started at once).`;
  const stored = `Each left ${(bytesPerPurchase / 1_024).toFixed(0)} kB in PostgreSQL, indexes included.`;
  const when = `Measured ${measuredAt.slice(0, 10)}, with ${open} open orders: ${machine}.`;
  return [table(rows), `${carried} ${stored}`, when].join('\n\n');
}

/** The calculator of docs/performance.md. */
export function scalingTable(): string {
  const capacity = readCapacity();
  const loads = SALES_A_DAY.map((sales) => loadOf(sales));
  const row = (label: string, figure: (load: Load) => number) => [label, ...loads.map((load) => shown(figure(load)))];
  const cores = (watch: 'orders' | 'history') =>
    PARTS.map((part) =>
      row(`cores of ${PART_LABELS[part]}, \`${watch}\``, ({ rate, open }) => {
        return (rate * capacity.purchase[part] + (open / INTERVAL_S) * capacity[watch][part]) / 1_000;
      }),
    );
  return table([
    ['sales a day', ...SALES_A_DAY.map((sales) => sales.toLocaleString('en'))],
    row('purchases a second', ({ rate }) => rate),
    row('orders open at once', ({ open }) => open),
    row('partner requests a second, `orders`', ({ rate, open }) => REQUESTS_PER_PURCHASE * rate + open / INTERVAL_S),
    row('partner requests a second, `history`', ({ rate, open }) => {
      const pages = Math.ceil((rate * DEADLINE_S) / PAGE_SIZE);
      return REQUESTS_PER_PURCHASE * rate + (pages + open / FORCED_POLL_EVERY) / INTERVAL_S;
    }),
    ...cores('orders'),
    ...cores('history'),
    row(`GB in PostgreSQL, ${RETENTION_DAYS} days`, ({ sales }) => {
      return (sales * RETENTION_DAYS * capacity.bytesPerPurchase) / 1e9;
    }),
    row('history pages a night', ({ sales }) => Math.ceil((sales * LOOKBACK_DAYS) / PAGE_SIZE)),
  ]);
}

function readCapacity(): Capacity {
  return JSON.parse(readFileSync(join(projectRoot, 'bench/capacity.json'), 'utf8')) as Capacity;
}

interface Load {
  sales: number;
  /** Purchases a second in the busiest hour. */
  rate: number;
  open: number;
}

function loadOf(sales: number): Load {
  const rate = (sales * BUSIEST_HOUR) / 3_600;
  return { sales, rate, open: rate * OPEN_S };
}

/** The calculation is too rough for more than two digits. */
function shown(value: number): string {
  const rounded = Number(value.toPrecision(2));
  return rounded < 0.01 ? '< 0.01' : rounded.toLocaleString('en', { maximumFractionDigits: 2 });
}

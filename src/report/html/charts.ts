import type { ReconciliationReport } from '../report';
import { amountText, counted, escape, numberText } from './escape';

const WIDTH = 760;
const HEIGHT = 190;
const LEFT = 52;
const TOP = 12;
const BOTTOM = 26;

interface Bar {
  label: string;
  /** The tooltip. */
  title: string;
  whole: number;
  /** The part of it that is drawn darker. */
  part: number;
}

/** The orders of each day, with those of which keys were handed over drawn darker. */
export function chartOfDays(days: ReconciliationReport['days']): string {
  const bars = days.map(({ day, orders, delivered, amount }) => ({
    label: day.slice(5),
    title: `${day}: ${counted(orders, 'order')}, ${numberText(delivered)} handed over, ${amountText(amount)}`,
    whole: orders,
    part: delivered,
  }));
  return chart('Orders by day', bars);
}

/** How many purchases were closed in each hour of the day. */
export function chartOfHours(hours: readonly number[]): string {
  const bars = hours.map((closed, hour) => {
    const label = String(hour).padStart(2, '0');
    return { label, title: `${label}:00 to ${label}:59: ${counted(closed, 'purchase')}`, whole: closed, part: closed };
  });
  return chart('Purchases closed by hour of the day', bars);
}

function chart(title: string, bars: readonly Bar[]): string {
  const top = niceTop(bars.reduce((most, bar) => Math.max(most, bar.whole), 0));
  const step = (WIDTH - LEFT) / Math.max(bars.length, 1);
  const every = Math.ceil(bars.length / 16);
  const drawn = bars.map((bar, index) =>
    drawBar(bar, { x: LEFT + index * step, step, top, labelled: index % every === 0 }),
  );
  const lines = [0, top / 2, top].filter(Number.isInteger).map((value) => gridLine(value, top));
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escape(title)}">${lines.join('')}${drawn.join('')}</svg>`;
}

function drawBar(bar: Bar, place: { x: number; step: number; top: number; labelled: boolean }): string {
  const { x, step, top, labelled } = place;
  const width = Math.max(1, Math.min(step * 0.7, 64));
  const left = x + (step - width) / 2;
  const rect = (value: number, name: string) =>
    `<rect class="${name}" x="${px(left)}" y="${px(yOf(value, top))}" width="${px(width)}" height="${px(yOf(0, top) - yOf(value, top))}"/>`;
  const label = labelled
    ? `<text class="tick" x="${px(x + step / 2)}" y="${HEIGHT - 8}" text-anchor="middle">${escape(bar.label)}</text>`
    : '';
  const part = Math.min(bar.part, bar.whole);
  return `<g><title>${escape(bar.title)}</title>${rect(bar.whole, 'whole')}${rect(part, 'part')}${label}</g>`;
}

function gridLine(value: number, top: number): string {
  const y = px(yOf(value, top));
  return `<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${y}" y2="${y}"/><text class="tick" x="${LEFT - 8}" y="${y}" dy="4" text-anchor="end">${numberText(value)}</text>`;
}

function yOf(value: number, top: number): number {
  return HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
}

/** The next round number: 1, 2, 4, 5 or 10 of a power of ten. */
function niceTop(most: number): number {
  let power = 1;
  while (power * 10 <= most) power *= 10;
  return ([1, 2, 4, 5, 10].find((factor) => factor * power >= most) ?? 10) * power;
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

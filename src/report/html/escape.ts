const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text as it may stand in an element or in a quoted attribute. */
export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Somebody else's text: its direction can't turn around what stands beside it. */
export function foreign(text: string): string {
  return `<bdi>${escape(text)}</bdi>`;
}

/** Our own advice: what stands between backticks is a command. */
export function withCommands(text: string): string {
  return foreign(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

const money = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
const count = new Intl.NumberFormat('en');

export function amountText(amount: number): string {
  return money.format(amount);
}

/** A number with its noun, such as `1 order` or `2,000 orders`. */
export function counted(number: number, noun: string): string {
  return `${count.format(number)} ${number === 1 ? noun : `${noun}s`}`;
}

export function numberText(number: number): string {
  return count.format(number);
}

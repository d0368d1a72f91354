/** The currency of the account: balance, credit limit, debits and prices are kept in it. */
export const ACCOUNT_CURRENCY = 'EUR';

/** What one unit of the account's currency buys, times 10,000. Fixed, so that prices are known in advance. */
const RATES = {
  EUR: 10_000,
  GBP: 8_500,
  CHF: 9_500,
  PLN: 43_000,
  RUB: 950_000,
  UAH: 450_000,
  USD: 11_000,
  CAD: 15_000,
  AUD: 16_500,
  NZD: 18_000,
} as const;

export type Currency = keyof typeof RATES;

export const CURRENCIES = Object.keys(RATES) as [Currency, ...Currency[]];

/** @returns the amount in `currency`, as a decimal number, rounded half up to its minor unit */
export function priceIn(currency: Currency, minor: number): number {
  return toDecimal(Math.floor((minor * RATES[currency] + 5_000) / 10_000));
}

/** Minor units as the decimal number that the interface shows. */
export function toDecimal(minor: number): number {
  return minor / 100;
}

/** The whole number of minor units of an amount for which {@link isMoney} holds. */
export function toMinor(decimal: number): number {
  return Math.round(decimal * 100);
}

/** Whether it is an amount of zero or more with at most two decimals. */
export function isMoney(decimal: number): boolean {
  const minor = toMinor(decimal);
  return minor >= 0 && Number.isSafeInteger(minor) && toDecimal(minor) === decimal;
}

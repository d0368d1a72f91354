/** The account's currency. Balance, credit limit, debits and prices are stored in it. */
export const ACCOUNT_CURRENCY = 'EUR';

/** Exchange rates from the account's currency, times 10,000. They are fixed, so prices are predictable. */
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

/** Converts an amount to `currency`: a decimal number, rounded half up to its minor unit. */
export function priceIn(currency: Currency, minor: number): number {
  return toDecimal(Math.floor((minor * RATES[currency] + 5_000) / 10_000));
}

/** Converts minor units to the decimal number that the API shows. */
export function toDecimal(minor: number): number {
  return minor / 100;
}

/** Converts an amount that passes {@link isMoney} to minor units. */
export function toMinor(decimal: number): number {
  return Math.round(decimal * 100);
}

/** True for an amount of zero or more with at most two decimals. */
export function isMoney(decimal: number): boolean {
  const minor = toMinor(decimal);
  return minor >= 0 && Number.isSafeInteger(minor) && toDecimal(minor) === decimal;
}

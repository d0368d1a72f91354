/**
 * Temporal's `Duration` is `StringValue | number`, and `StringValue` comes from `ms`. That package ships no types
 * where TypeScript 7 looks for them, so without this every `Duration` would be `any` and `'30 secnods'` would compile.
 */
declare module 'ms' {
  type Unit =
    'ms' | 's' | 'm' | 'h' | 'd' | 'second' | 'seconds' | 'minute' | 'minutes' | 'hour' | 'hours' | 'day' | 'days';
  export type StringValue = `${number}` | `${number}${Unit}` | `${number} ${Unit}`;
  export default function ms(value: StringValue): number;
}

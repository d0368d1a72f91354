/** Where a leaky workflow lets something out. */
export const PLACES = [
  'input',
  'memo',
  'search attribute',
  'static summary',
  'static details',
  'current details',
  'activity input',
  'activity summary',
  'activity result',
  'activity failure',
  'cause of a failure',
  'stack of a failure',
  'details of a failure',
  'local activity',
  'timer summary',
  'signal',
  'update',
  'answer to an update',
  'workflow failure',
  'pending failure',
  'heartbeat',
] as const;

export type Place = (typeof PLACES)[number];

/** What is planted there: nothing else has it, and both of its ends say where it belongs. */
export function plantOf(place: Place): string {
  const number = PLACES.indexOf(place) + 100;
  return `<${number}>-"${place}"-<${number}>`;
}

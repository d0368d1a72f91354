import type { Lifecycle } from './lifecycle';
import { SCENARIOS, type Scenario } from './scenarios';
import { seededRandom, type SeededRandom } from './seeded-random';

/** A product as the sandbox stores it. Each order reduces `stock`. */
export interface Product {
  id: string;
  title: string;
  keywords: string;
  whitelist: string[];
  blacklist: string[];
  /** Price of one unit, in minor units of the account's currency. */
  unitMinor: number;
  stock: number;
  addedAtMs: number;
  /** Products with a higher number come first in a list without a query. */
  popularity: number;
  lifecycle: Lifecycle;
  image: boolean;
}

export type Catalogue = ReadonlyMap<string, Product>;

const FIRST = ['Ashen', 'Copper', 'Silent', 'Hollow', 'Northern', 'Scarlet', 'Drifting', 'Iron', 'Velvet'] as const;
const SECOND = ['Harbour', 'Orchard', 'Meridian', 'Caravan', 'Lighthouse', 'Protocol', 'Tides', 'Foundry'] as const;
const THIRD = ['', '', '', ' II', ' III', ': Origins', ': Aftermath', ' Tactics', ' Online'] as const;
const EDITIONS = ['', '', 'Deluxe Edition', 'Gold Edition', 'Season Pass', 'Soundtrack'] as const;
const PLATFORMS = ['PC', 'PC', 'Console', 'Handheld', 'Mobile'] as const;
const GENRES = ['adventure', 'strategy', 'racing', 'puzzle', 'simulation', 'roleplaying'] as const;
const SHOPS = ['Nordlys', 'Palisade', 'Quillmart', 'Tessera', 'Umbra Play', 'Waystone'] as const;
const VALUES = [5, 10, 20, 25, 50, 100] as const;
// prettier-ignore
const REGIONS = ['AT', 'AU', 'BR', 'CA', 'CH', 'CZ', 'DE', 'ES', 'FR', 'GB', 'IT', 'NZ', 'PL', 'RU', 'UA', 'US'] as const;
const OLDEST = Date.UTC(2020, 0, 1);
const YEARS_MS = 5 * 365 * 86_400_000;

/** Every scenario product and `count` ordinary ones. The seed alone determines the ordinary ones. */
export function makeCatalogue(seed: string, count: number): Catalogue {
  const catalogue = new Map<string, Product>();
  for (const [id, scenario] of Object.entries(SCENARIOS)) catalogue.set(id, scenarioProduct(id, scenario));
  for (let number = 0; catalogue.size < count + Object.keys(SCENARIOS).length; number += 1) {
    const product = ordinaryProduct(seededRandom(seed, 'product', number));
    catalogue.set(product.id, product);
  }
  return catalogue;
}

function scenarioProduct(id: string, scenario: Scenario): Product {
  return {
    id,
    title: scenario.title,
    keywords: `${id} demo scenario`,
    whitelist: [],
    blacklist: [],
    unitMinor: scenario.unitMinor,
    stock: scenario.stock,
    addedAtMs: OLDEST,
    popularity: 0,
    lifecycle: scenario.lifecycle,
    image: scenario.image === true,
  };
}

function ordinaryProduct(random: SeededRandom): Product {
  const id = random.string('0123456789abcdef', 24);
  const voucher = random.fraction() < 0.2;
  const { title, keywords, unitMinor } = voucher ? voucherOffer(random) : gameOffer(random);
  return {
    id,
    title,
    keywords,
    ...restrictions(random),
    unitMinor,
    stock: random.fraction() < 0.08 ? 0 : 1 + random.below(2_000),
    addedAtMs: OLDEST + random.below(YEARS_MS),
    popularity: 1 + random.below(1_000_000),
    lifecycle: ordinaryLifecycle(random),
    image: voucher && random.fraction() < 0.15,
  };
}

function gameOffer(random: SeededRandom): { title: string; keywords: string; unitMinor: number } {
  const name = `${random.pick(FIRST)} ${random.pick(SECOND)}${random.pick(THIRD)}`;
  const edition = random.pick(EDITIONS);
  const platform = random.pick(PLATFORMS);
  return {
    title: [name, edition, `(${platform})`].filter((part) => part !== '').join(' '),
    keywords: `game key ${random.pick(GENRES)}`,
    unitMinor: 99 + 50 * random.below(120),
  };
}

function voucherOffer(random: SeededRandom): { title: string; keywords: string; unitMinor: number } {
  const value = random.pick(VALUES);
  return {
    title: `${random.pick(SHOPS)} Gift Card ${value} EUR`,
    keywords: 'voucher prepaid wallet',
    unitMinor: value * (90 + random.below(9)),
  };
}

/** Most products sell everywhere. Some have a whitelist of regions, some a blacklist. */
function restrictions(random: SeededRandom): { whitelist: string[]; blacklist: string[] } {
  const kind = random.fraction();
  const regions = [...new Set(Array.from({ length: 1 + random.below(6) }, () => random.pick(REGIONS)))].sort();
  if (kind < 0.7) return { whitelist: [], blacklist: [] };
  return kind < 0.85 ? { whitelist: regions, blacklist: [] } : { whitelist: [], blacklist: regions };
}

/** Most orders complete within seconds, some after minutes, a few after 15 to 20 minutes. */
function ordinaryLifecycle(random: SeededRandom): Lifecycle {
  const kind = random.fraction();
  if (kind < 0.1) return [{ atMs: 0, status: 'COMPLETED' }];
  const seconds = kind < 0.85 ? 2 + random.below(18) : kind < 0.95 ? 60 + random.below(240) : 900 + random.below(300);
  return [
    { atMs: 0, status: 'PENDING' },
    { atMs: Math.floor(seconds * 200), status: 'PROCESSING' },
    { atMs: seconds * 1_000, status: 'COMPLETED' },
  ];
}

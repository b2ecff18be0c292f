import type { TokenUsage } from './model.js';
import { isKnownProvider, type KnownProvider } from '@belay/protocol';

/** Dollars per million tokens, from the providers’ pages on 2026-10-09. */
export interface Rates {
  input: number;
  /** For tokens read from the cache; the price of `input` if the provider has none. */
  cached?: number;
  /** For tokens written to the cache; the price of `input` if the provider has none. */
  cacheWrite?: number;
  /** For those kept there for an hour; the price of `cacheWrite` if there is none. */
  cacheWriteHour?: number;
  output: number;
}

/** Rates, and the context window in tokens. */
export interface Price extends Rates {
  window: number;
  /** Rates for prompts longer than `above`. */
  long?: Rates & { above: number };
}

/** The cost of a call; null when the price is unknown. */
export function dollarsOf(
  price: (Rates & Pick<Price, 'long'>) | null,
  usage: TokenUsage,
): number | null {
  if (usage.dollars !== undefined) return usage.dollars;
  if (!price) return null;
  const rates = price.long && usage.input > price.long.above ? price.long : price;
  const cached = rates.cached ?? rates.input;
  const cacheWrite = rates.cacheWrite ?? rates.input;
  const hour = usage.cacheWriteHour ?? 0;
  const fresh = Math.max(0, usage.input - usage.cached - usage.cacheWrite);
  const millionths =
    fresh * rates.input +
    usage.cached * cached +
    (usage.cacheWrite - hour) * cacheWrite +
    hour * (rates.cacheWriteHour ?? cacheWrite) +
    usage.output * rates.output;
  return millionths / 1_000_000;
}

/**
 * The price of a model by its exact name, or its name before a date (`-20251001`, `-2025-08-07`) or `-latest`; never
 * the price of a similar name. Models of OpenAI-compatible servers have no known price.
 */
export function priceOf(provider: string, model: string): Price | null {
  if (!isKnownProvider(provider)) return null;
  const table = prices[provider];
  const name = [model, familyOf(model)].find((candidate) => Object.hasOwn(table, candidate));
  return name === undefined ? null : (table[name] ?? null);
}

/** The name of a model without a date or `latest`. */
export const familyOf = (model: string): string =>
  model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '');

const claude = (input: number, output: number, cached = input / 10): Price => ({
  input,
  cached,
  cacheWrite: input * 1.25,
  cacheWriteHour: input * 2,
  output,
  window: 200_000,
});

/** Above 272,000 tokens, OpenAI charges twice the price for a prompt; the context window ends below that. */
const gpt = (input: number, output: number, cached = input / 10, window = 272_000): Price => ({
  input,
  cached,
  output,
  window,
});

const gemini = (input: number, output: number, long?: [input: number, output: number]): Price => ({
  input,
  cached: input / 10,
  output,
  window: 1_048_576,
  ...(long && {
    long: { above: 200_000, input: long[0], cached: long[0] / 10, output: long[1] },
  }),
});

const opus4 = claude(5, 25);

export const prices: Record<KnownProvider, Readonly<Record<string, Price>>> = {
  anthropic: {
    'claude-fable-5-1': claude(10, 50, 0.25),
    'claude-fable-5': claude(10, 50),
    'claude-opus-5-5': claude(4, 20, 0.2),
    'claude-opus-5': claude(5, 25),
    'claude-opus-4-8': opus4,
    'claude-opus-4-7': opus4,
    'claude-opus-4-6': opus4,
    'claude-opus-4-5': opus4,
    'claude-opus-4-1': claude(15, 75),
    'claude-opus-4-0': claude(15, 75),
    'claude-opus-4': claude(15, 75),
    'claude-sonnet-5-5': claude(2, 10, 0.1),
    'claude-sonnet-5': claude(2, 10),
    'claude-sonnet-4-6': claude(3, 15),
    'claude-sonnet-4-5': claude(3, 15),
    'claude-sonnet-4-0': claude(3, 15),
    'claude-sonnet-4': claude(3, 15),
    'claude-haiku-5-5': {
      ...claude(0.1, 0.5),
      long: {
        above: 100_000,
        input: 0.5,
        cached: 0.05,
        cacheWrite: 0.625,
        cacheWriteHour: 1,
        output: 2.5,
      },
    },
    'claude-haiku-4-5': claude(1, 5),
    'claude-3-5-haiku': claude(0.8, 4),
  },
  openai: {
    'gpt-6-astra': gpt(10, 50),
    'gpt-6.1-sol': gpt(2, 10, 0.1),
    'gpt-6-sol': gpt(2, 10),
    'gpt-6-luna': gpt(0.1, 0.5),
    'gpt-5.6-sol': gpt(4, 20),
    'gpt-5.6-terra': gpt(2, 12),
    'gpt-5.6-luna': gpt(0.2, 1.2),
    'gpt-5.5': gpt(5, 30),
    'gpt-5.4': gpt(2.5, 15),
    'gpt-5.4-mini': gpt(0.75, 4.5),
    'gpt-5.4-nano': gpt(0.2, 1.25),
    'gpt-5.2': gpt(1.75, 14),
    'gpt-5.1': gpt(1.25, 10),
    'gpt-5': gpt(1.25, 10),
    'gpt-5-mini': gpt(0.25, 2),
    'gpt-5-nano': gpt(0.05, 0.4),
    'gpt-5-pro': gpt(15, 120, 15),
    'gpt-4.1': gpt(2, 8, 0.5, 1_047_576),
    'gpt-4.1-mini': gpt(0.4, 1.6, 0.1, 1_047_576),
    'gpt-4.1-nano': gpt(0.1, 0.4, 0.025, 1_047_576),
    'gpt-4o': gpt(2.5, 10, 1.25, 128_000),
    'gpt-4o-mini': gpt(0.15, 0.6, 0.075, 128_000),
    o3: gpt(2, 8, 0.5, 200_000),
    'o3-mini': gpt(1.1, 4.4, 0.55, 200_000),
    'o4-mini': gpt(1.1, 4.4, 0.275, 200_000),
  },
  google: {
    'gemini-3.1-pro-preview': gemini(2, 12, [4, 18]),
    'gemini-3-pro-preview': gemini(2, 12, [4, 18]),
    'gemini-3-flash-preview': gemini(0.5, 3),
    'gemini-2.5-pro': gemini(1.25, 10, [2.5, 15]),
    'gemini-2.5-flash': gemini(0.3, 2.5),
    'gemini-2.5-flash-lite': gemini(0.1, 0.4),
  },
};

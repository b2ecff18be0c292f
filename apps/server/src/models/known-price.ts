import { isIP } from 'node:net';
import { isPublicAddress } from '@belay/host';
import { AppError, isKnownProvider, type Budgets } from '@belay/protocol';
import { parseModelName } from './model-name.js';
import { priceOf, type Price, type Rates } from './prices.js';
import type { ModelSetup } from './provider-keys.js';

const free: Rates = { input: 0, output: 0 };

/** The price in the model’s name, otherwise in the table, or free for a local address. Null when it is unknown. */
export function knownPrice(name: string, setup: ModelSetup): (Rates & Pick<Price, 'long'>) | null {
  const address = parseModelName(name);
  // Scripts and replays cost nothing.
  if (address.kind === 'example' || address.kind === 'scripted') return free;
  if (address.kind === 'cassette') return address.record ? knownPrice(address.record, setup) : free;
  const { provider, model, options } = address;
  const url = setup.providers[provider]?.url;
  const isOwn = !isKnownProvider(provider) && url !== undefined && isNear(url);
  return options.price ?? priceOf(provider, model) ?? (isOwn ? free : null);
}

/** The context window in the model’s name, or else in the table; null when it is unknown. */
export function knownWindow(name: string): number | null {
  const address = parseModelName(name);
  if (address.kind !== 'provider') return null;
  return address.options.context ?? priceOf(address.provider, address.model)?.window ?? null;
}

/** Throws `invalid_input` when a cost budget cannot be enforced. */
export function checkBudgets(
  model: string,
  { dollars }: Pick<Budgets, 'dollars'>,
  setup: ModelSetup,
): void {
  if (dollars === null || knownPrice(model, setup)) return;
  const sign = model.includes('?') ? '&' : '?';
  throw new AppError(
    'invalid_input',
    `The price of ${model} is not known, so the budget of $${dollars} cannot be enforced. Add its price in dollars for a million tokens in and out, as in ${model}${sign}price=0.5/2, or set no budget in dollars.`,
  );
}

/** Whether an address is on this machine or in its own network. */
function isNear(url: string): boolean {
  const host = URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  if (isIP(host)) return !isPublicAddress(host);
  return !host.includes('.') || /\.(local|lan|internal|localhost)$/.test(host);
}

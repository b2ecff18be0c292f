import { AppError, knownProviders, providerName } from '@belay/protocol';

export type ModelAddress =
  | { kind: 'provider'; provider: string; model: string; options: ProviderOptions }
  | { kind: 'example'; name: string }
  | { kind: 'scripted'; file: string }
  | { kind: 'cassette'; file: string; record: string | null };

export interface ProviderOptions {
  /** `tags` for models without tool calling. */
  tools: 'native' | 'tags';
  reasoning?: (typeof efforts)[number];
  /** The context window in tokens, for models that are not in the price table. */
  context?: number;
  /** Dollars per million tokens, instead of the price table. */
  price?: { input: number; output: number };
}

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/**
 * Reads `provider:model[?tools=tags&reasoning=high&context=32768&price=0.5/2]`, `scripted:example:NAME`,
 * `scripted:FILE`, `cassette:FILE[?record=MODEL]`. Throws `invalid_input` with one sentence.
 */
export function parseModelName(name: string): ModelAddress {
  const colon = name.indexOf(':');
  const kind = name.slice(0, Math.max(colon, 0));
  const rest = name.slice(colon + 1);
  if (rest === '') throw unknownModel(name);
  if (kind === 'scripted') return scriptAddress(rest);
  if (kind === 'cassette') return cassetteAddress(rest);
  if (!providerName.safeParse(kind).success) throw unknownModel(name);
  const [model = '', query = ''] = split(rest, '?');
  if (model === '') throw unknownModel(name);
  return { kind: 'provider', provider: kind, model, options: providerOptions(query) };
}

function scriptAddress(rest: string): ModelAddress {
  const example = /^example:(.*)$/s.exec(rest)?.[1];
  if (example === undefined) return { kind: 'scripted', file: rest };
  if (/^[\w-]+$/.test(example)) return { kind: 'example', name: example };
  throw new AppError('invalid_input', 'The name of an example has letters, digits, _ and -.');
}

function cassetteAddress(rest: string): ModelAddress {
  const [file = '', record = ''] = split(rest, '?record=');
  // The recorded model may have options of its own, so its name is everything after `?record=`.
  if (record.startsWith('cassette:')) {
    throw new AppError('invalid_input', 'A cassette cannot record another cassette.');
  }
  if (record) parseModelName(record);
  return { kind: 'cassette', file, record: record || null };
}

function providerOptions(query: string): ProviderOptions {
  const options: ProviderOptions = { tools: 'native' };
  for (const [key, value] of new URLSearchParams(query)) {
    const effort = efforts.find((known) => known === value);
    if (key === 'tools' && (value === 'tags' || value === 'native')) options.tools = value;
    else if (key === 'reasoning' && effort) options.reasoning = effort;
    else if (key === 'price' && price.test(value)) options.price = priceOption(value);
    else if (key === 'context' && /^[1-9]\d{2,8}$/.test(value)) options.context = Number(value);
    else {
      throw new AppError(
        'invalid_input',
        `Models have no option ${key}=${value}. The options are tools=tags, reasoning=${efforts.join('|')}, context=TOKENS and price=IN/OUT.`,
      );
    }
  }
  return options;
}

/** `0.5/2`, or one number for both. */
const price = /^\d+(\.\d+)?(\/\d+(\.\d+)?)?$/;

function priceOption(value: string): { input: number; output: number } {
  const [input = 0, output = input] = value.split('/').map(Number);
  return { input, output };
}

function split(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

export const unknownModel = (
  name: string,
  providers: readonly string[] = knownProviders,
): AppError =>
  new AppError(
    'invalid_input',
    `There is no model ${JSON.stringify(name)}; write PROVIDER:MODEL with one of ${providers.join(', ')} or a server under Settings → Models, or scripted:example:NAME, scripted:FILE or cassette:FILE.`,
  );

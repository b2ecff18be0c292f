import { AppError, ownValue } from '@belay/protocol';

/** A field of parsed JSON; undefined if the value is not an object or lacks it. */
export const fieldOf = (value: unknown, name: string): unknown =>
  isObject(value) ? ownValue(value, name) : undefined;

/** The field at the end of a path of names. */
export const fieldAt = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce(fieldOf, value);

/** The value if it is a list, otherwise an empty one. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A number of tokens; 0 for anything else. */
export const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The fields of an object in a request, by their names without case and underscores: some providers read `max_tokens`,
 * `maxTokens` and `Max_Tokens` as the same field. Throws `invalid_input` when two names mean the same one, because the
 * provider may take the other of them.
 */
export class RequestFields {
  readonly #fields = new Map<string, unknown>();

  constructor(value: unknown) {
    for (const [name, field] of isObject(value) ? Object.entries(value) : []) {
      const known = plainName(name);
      if (this.#fields.has(known))
        throw new AppError('invalid_input', `The request has the field ${name} twice.`);
      this.#fields.set(known, field);
    }
  }

  get(name: string): unknown {
    return this.#fields.get(plainName(name));
  }

  /** Whether it has a value other than null, false and an empty list. */
  has(name: string): boolean {
    const value = this.get(name);
    return Boolean(value) && !(Array.isArray(value) && value.length === 0);
  }

  get names(): string[] {
    return [...this.#fields.keys()];
  }
}

const plainName = (name: string): string => name.replaceAll('_', '').toLowerCase();

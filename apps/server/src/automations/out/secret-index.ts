import type { KnownSecret } from './known-secrets.js';

/** So many characters in a row of a secret are a hit. */
const gramLength = 12;
const minLength = 8;
/** Of pieces that are spread over the texts of a run. */
const pieceLength = 6;
const hexPieceLength = 8;
const coverage = 0.6;

/** Finds secrets in text: whole, in part, reversed, in rot13, in other cases, and with other characters in between. */
export class SecretIndex {
  readonly #grams = new GramTable();
  /** Secrets that are too short or too usual for parts. */
  readonly #whole = new Map<string, string>();
  readonly #words = new Map<string, string>();
  readonly #spread: SpreadSecret[] = [];

  constructor(secrets: readonly KnownSecret[]) {
    for (const { label, value } of secrets) {
      if (isUsual(value)) {
        this.#words.set(value, label);
        continue;
      }
      for (const form of formsOf(value)) {
        this.#add(form, label);
        this.#add(squeezed(form), label);
      }
      if (value.length >= minSpread) this.#spread.push(new SpreadSecret(value, label));
    }
  }

  /** The label of a secret in the text. */
  find(text: string): string | undefined {
    const views = new Set([text, squeezed(text)]);
    for (const view of views) {
      const found = this.#grams.find(view) ?? includedIn(view, this.#whole);
      if (found !== undefined) return found;
    }
    return wordIn(text, this.#words);
  }

  /** The label of a secret of which the texts together hold the most, in pieces. */
  findSpread(texts: readonly string[]): string | undefined {
    const views = [...texts, ...texts.map(squeezed)];
    return this.#spread.find((secret) => secret.isCoveredBy(views))?.label;
  }

  #add(form: string, label: string): void {
    if (form.length >= gramLength) this.#grams.add(form, label);
    else if (form.length >= minLength) this.#whole.set(form, label);
  }
}

const minSpread = 20;

/** Without all that a reader would drop: in lowercase letters, because some codes have no case. */
export const squeezed = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
    .toLowerCase();

export const reversed = (text: string): string => text.split('').toReversed().join('');

export const rot13 = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (letter) => {
    const code = letter.charCodeAt(0);
    const first = code < 97 ? 65 : 97;
    return String.fromCharCode(((code - first + 13) % 26) + first);
  });

const formsOf = (value: string): string[] => {
  const turned = rot13(value);
  return [value, reversed(value), turned, reversed(turned)];
};

/** Words, names and addresses that stand in honest texts, too. */
const isUsual = (value: string): boolean =>
  /^[\p{Ll}\p{Lu}\p{Lt}\s_.:/@-]+$/u.test(value) && (value.length < 24 || /[\s_.:/@-]/.test(value));

function includedIn(text: string, whole: ReadonlyMap<string, string>): string | undefined {
  for (const [secret, label] of whole) if (text.includes(secret)) return label;
  return undefined;
}

function wordIn(text: string, words: ReadonlyMap<string, string>): string | undefined {
  for (const [word, label] of words) {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      const [before = ' ', after = ' '] = [text[at - 1], text[at + word.length]];
      if (!/[\p{L}\p{N}]/u.test(before + after)) return label;
    }
  }
  return undefined;
}

/** All pieces of `gramLength`, behind a filter that lets hardly anything else through. */
class GramTable {
  readonly #labels = new Map<string, string>();
  readonly #filter = new Uint8Array(filterSize);

  add(form: string, label: string): void {
    for (let at = 0; at + gramLength <= form.length; at += 1) {
      this.#labels.set(form.slice(at, at + gramLength), label);
      this.#filter[slotOf(form, at)] = 1;
    }
  }

  find(text: string): string | undefined {
    for (let at = 0; at + gramLength <= text.length; at += 1) {
      if (this.#filter[slotOf(text, at)] === 0) continue;
      const label = this.#labels.get(text.slice(at, at + gramLength));
      if (label !== undefined) return label;
    }
    return undefined;
  }
}

const filterSize = 2 ** 20;

function slotOf(text: string, at: number): number {
  let slot = 0;
  for (let n = 0; n < 5; n += 1) slot = (Math.imul(slot, 31) + text.charCodeAt(at + n)) | 0;
  return slot & (filterSize - 1);
}

class SpreadSecret {
  readonly #forms: readonly string[];

  constructor(
    value: string,
    readonly label: string,
  ) {
    this.#forms = [...new Set([value, squeezed(value)])].filter(
      ({ length }) => length >= minSpread,
    );
  }

  isCoveredBy(texts: readonly string[]): boolean {
    return this.#forms.some((form) => coveredShare(form, texts) >= coverage);
  }
}

function coveredShare(form: string, texts: readonly string[]): number {
  const length = /^[0-9a-f]+$/i.test(form) ? hexPieceLength : pieceLength;
  const covered = new Uint8Array(form.length);
  for (let at = 0; at + length <= form.length; at += 1) {
    const piece = form.slice(at, at + length);
    if (texts.some((text) => text.includes(piece))) covered.fill(1, at, at + length);
  }
  return covered.reduce((sum, one) => sum + one, 0) / form.length;
}

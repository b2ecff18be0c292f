import { setImmediate as others } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { decodedForms } from './decoded-forms.js';
import { KnownSecrets } from './known-secrets.js';
import { SecretIndex } from './secret-index.js';
import { secretShapeIn } from './secret-shapes.js';

const maxCharacters = 1_048_576;
const maxDepth = 3;
/** Of all decoded texts, in characters. Honest text takes about twice its own length. */
const maxWork = 16_777_216;
const maxForms = 100_000;
/** How long the server does nothing else, in milliseconds; a large text takes seconds. */
const turnMs = 20;

const tooMuch = 'It is too much to check for secrets: publish less at once.';

/**
 * Looks for secrets in what is about to be sent to a git host. What is encoded is decoded, three times at most; a code of
 * its own that a model and its reader agree on is not found. What keeps secrets safe is that no sandbox has any.
 */
@Injectable()
export class OutgoingCheck {
  constructor(private readonly secrets: KnownSecrets) {}

  /**
   * One sentence on why the texts of a run must not be sent, without the secret; null if nothing was found. The texts are
   * checked one by one and together, in the order in which a reader sees them.
   */
  async refusalOf(texts: readonly string[]): Promise<string | null> {
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    if (length > maxCharacters) return tooMuch;
    const index = new SecretIndex(await this.secrets.list());
    const search = new FormSearch(index);
    // Together, for what is split in the middle of a code.
    const all = texts.length > 1 ? [...texts, texts.join('')] : texts;
    for (const text of all) {
      const found = await search.find(text);
      if (found !== undefined) return found;
    }
    const spread = index.findSpread(texts);
    return spread === undefined ? null : `It holds ${spread}, in pieces.`;
  }
}

/** All forms of texts, each looked at once. */
class FormSearch {
  readonly #seen = new Map<string, number>();
  #work = 0;
  #turn = performance.now();

  constructor(private readonly index: SecretIndex) {}

  async find(text: string, depth = 0): Promise<string | undefined> {
    const before = this.#seen.get(text);
    if (before !== undefined && before <= depth) return undefined;
    this.#seen.set(text, depth);
    // The text itself is bounded already.
    if (depth > 0) this.#work += text.length;
    if (this.#work > maxWork || this.#seen.size > maxForms) return tooMuch;
    const found = before === undefined ? this.#holds(text) : undefined;
    if (found !== undefined) return `It holds ${found}.`;
    if (depth >= maxDepth) return undefined;
    for (const form of decodedForms(text)) {
      await this.#letOthers();
      const inside = await this.find(form, depth + 1);
      if (inside !== undefined) return inside;
    }
    return undefined;
  }

  async #letOthers(): Promise<void> {
    if (performance.now() - this.#turn < turnMs) return;
    await others();
    this.#turn = performance.now();
  }

  #holds(text: string): string | undefined {
    return this.index.find(text) ?? secretShapeIn(text);
  }
}

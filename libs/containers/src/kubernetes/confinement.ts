import { AppError, errorFrom, ignoreError, type Check } from '@belay/protocol';
import type { Reach } from './network-probe.js';

export interface ConfinementOptions {
  namespace: string;
  /** Whether pods may run that reach what they should not, and the user’s name of the setting. */
  unconfined: { isAllowed: boolean; setting: string };
}

const intervalMs = 3_600_000;
const remedy =
  'Apply the NetworkPolicy of docs/kubernetes.md, and use a network plugin that enforces it';
const listed = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** What the pods of a namespace reach: nothing runs there before that is known, and again each hour. */
export class Confinement {
  readonly #timer: NodeJS.Timeout;
  #known: Reach | undefined;
  #running: Promise<Reach> | undefined;

  constructor(
    private readonly probe: () => Promise<Reach>,
    private readonly options: ConfinementOptions,
  ) {
    const again = (): void => {
      if (this.#known) this.#try().catch(ignoreError('the last result stays'));
    };
    this.#timer = setInterval(again, intervalMs).unref();
  }

  /** Tries it anew. */
  async check(): Promise<Check> {
    const name = 'Network of pods';
    const { isAllowed, setting } = this.options.unconfined;
    try {
      const { open, closed, unknown } = await this.#try();
      if (open.length > 0)
        return {
          name,
          ok: isAllowed,
          detail: isAllowed ? this.#caution(open) : `${this.#opens(open)}.`,
          remedy: isAllowed ? null : `${remedy}, or allow it with ${setting}.`,
        };
      const words = [
        ...(closed.length > 0 ? [`Closed to pods: ${listed.format(closed)}.`] : []),
        ...(unknown.length > 0
          ? [`Not known, because nothing responds there: ${listed.format(unknown)}.`]
          : []),
      ];
      return { name, ok: true, detail: words.join(' '), remedy: null };
    } catch (error) {
      const detail = `What pods can reach is not known: ${errorFrom(error).message}`;
      return { name, ok: isAllowed, detail, remedy: null };
    }
  }

  /** Throws the sentence with what is open. Then, the next call tries again. */
  async assert(): Promise<void> {
    const { isAllowed, setting } = this.options.unconfined;
    if (isAllowed) {
      if (!this.#known) await this.#try().catch(ignoreError('it is allowed, whatever it is'));
      return;
    }
    const { open } = this.#known?.open.length === 0 ? this.#known : await this.#try();
    if (open.length > 0)
      throw new AppError(
        'unavailable',
        `${this.#opens(open)}. ${remedy}, or allow it with ${setting}.`,
      );
  }

  /** A sentence about what pods reach although they should not; null for nothing. */
  get caution(): string | null {
    const open = this.#known?.open ?? [];
    return open.length > 0 ? this.#caution(open) : null;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** One try at a time. */
  #try(): Promise<Reach> {
    this.#running ??= this.probe()
      .then((reach) => (this.#known = reach))
      .finally(() => (this.#running = undefined));
    return this.#running;
  }

  #opens(open: readonly string[]): string {
    return `Pods of the namespace ${this.options.namespace} can connect to ${listed.format(open)}`;
  }

  #caution(open: readonly string[]): string {
    return `${this.#opens(open)}, which ${this.options.unconfined.setting} allows.`;
  }
}

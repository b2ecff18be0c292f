import type { TokenUsage } from '../model.js';
import type { WireFormat, ReplyMessage } from './wire-format.js';

const charactersOfToken = 4;

/** Counts what a reply has used, from the provider’s own numbers where it gives them. */
export class UsageMeter {
  #usage: Record<string, unknown> | undefined;
  #written = 0;

  constructor(
    private readonly format: WireFormat,
    /** In tokens: the estimated prompt, and the reply if it breaks off before anything of it was seen. */
    private readonly estimated: { prompt: number; unseen: number },
  ) {}

  /** Reads a frame of a stream, or a whole reply. */
  see(message: ReplyMessage): void {
    const usage = this.format.usageIn(message);
    if (usage) this.#usage = { ...this.#usage, ...usage };
    this.#written += this.format.written(message);
  }

  /** A reply that broke off was paid for, too, but its provider has not counted all of it. */
  result({ isComplete }: { isComplete: boolean }): TokenUsage & { isEstimated: boolean } {
    const written = Math.ceil(this.#written / charactersOfToken);
    if (!this.#usage) {
      const output = isComplete ? written : Math.max(written, this.estimated.unseen);
      const { prompt: input } = this.estimated;
      return { input, cached: 0, cacheWrite: 0, output, isEstimated: true };
    }
    const counted = this.format.tokensOf(this.#usage);
    if (isComplete) return { ...counted, isEstimated: false };
    return { ...counted, output: Math.max(counted.output, written), isEstimated: true };
  }
}

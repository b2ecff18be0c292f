import type { Report } from './side-channel.js';

type Ready = Extract<Report, { kind: 'ready' }>;

export interface Claim extends Ready {
  /** Whether reports differed: at least one did not come from the shell. */
  disputed: boolean;
}

export interface ReadyReportsOptions {
  /** Whether the shell itself waits for orders, according to the kernel. */
  waits(): boolean;
  /** Reads pending reports; each is added before it returns. */
  drain(): void;
  accept(claim: Claim): void;
}

/** The shell waits microseconds after its report; longer on a busy machine, or never if the report was forged. */
const immediateTries = 20;
const lastRetryDelayMs = 100;
/** How long the report that an interrupt causes is awaited; a shell may ignore the interrupt. */
const interruptTimeoutMs = 2_000;

/**
 * Decides when a shell is ready. Its programs run as the same user and can also write reports, so a report is not
 * trusted until the shell waits for orders, which it does only after its own report. If the reports until then differ,
 * a failure takes precedence, and the dispute is shown.
 */
export class ReadyReports {
  readonly #options: ReadyReportsOptions;
  #claim: Claim | undefined;
  #tries = 0;
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ReadyReportsOptions) {
    this.#options = options;
  }

  add(ready: Ready): void {
    const before = this.#claim;
    const agrees =
      !before || (before.status === ready.status && before.directory === ready.directory);
    this.#claim = {
      ...ready,
      status: ready.status || (before?.status ?? 0),
      disputed: !agrees || (before?.disputed ?? false),
    };
    this.#cancel();
    this.#tries = 0;
    // Once for all reports that were read together.
    this.#immediate = setImmediate(() => this.#check());
  }

  /**
   * An interrupt is on its way to the shell, which then reports again: what it reported before, also what was
   * `accepted` but not used yet, counts only if nothing else comes. Otherwise the next command could be interrupted.
   */
  interrupted(accepted: Claim | undefined): void {
    this.#options.drain();
    const before = this.#claim ?? accepted;
    this.close();
    if (before) this.#timer = setTimeout(() => this.add(before), interruptTimeoutMs);
  }

  /** The shell has ended. */
  close(): void {
    this.#claim = undefined;
    this.#cancel();
  }

  #cancel(): void {
    clearImmediate(this.#immediate);
    clearTimeout(this.#timer);
  }

  #check(): void {
    if (!this.#claim) return;
    if (!this.#options.waits()) return this.#later();
    this.#options.drain();
    const claim = this.#claim;
    this.close();
    this.#options.accept(claim);
  }

  #later(): void {
    const check = () => this.#check();
    this.#tries += 1;
    if (this.#tries <= immediateTries) {
      this.#immediate = setImmediate(check);
    } else {
      const delayMs = Math.min(lastRetryDelayMs, 2 ** (this.#tries - immediateTries - 1));
      this.#timer = setTimeout(check, delayMs);
    }
  }
}

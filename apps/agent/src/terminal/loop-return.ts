import type { ShellProcess } from './shell-process.js';

/** How long a prompt may be shown before the agent types there: bash withdraws its own. */
const promptDelayMs = 20;
/** How long its keystrokes may take to be read; then they are repeated. */
const typingTimeoutMs = 3_000;
/** How often they are typed before the shell is replaced: a command has disabled what the loop needs. */
const attempts = 3;

/** Types at the prompt of a shell, so that it begins its loop of orders, or returns to it. */
export class LoopReturn {
  readonly #shell: () => ShellProcess | undefined;
  #isOut = false;
  #typed = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `shell`: the one of the terminal, unless it has ended or is ending. */
  constructor(shell: () => ShellProcess | undefined) {
    this.#shell = shell;
  }

  /** The shell shows its prompt though nobody released it: it left its loop, or has yet to begin it. */
  get isOut(): boolean {
    return this.#isOut;
  }

  /** The line before the cursor shows what was typed. */
  get hasTyped(): boolean {
    return this.#typed > 0;
  }

  /** What was typed is no longer in front of the cursor. */
  forget(): void {
    this.#typed = 0;
  }

  /** A shell that begins with its prompt has started. At the limit of processes that prompt cannot report itself. */
  started(): void {
    this.#typeAfter(typingTimeoutMs);
  }

  /** The prompt reported itself. */
  prompted(): void {
    // Bash returns by itself; keystrokes would then be input of the next command, and so would repeated ones.
    this.#typeAfter(this.hasTyped ? typingTimeoutMs : promptDelayMs);
  }

  /** The shell is in its loop, or has ended. */
  end(): void {
    this.#isOut = false;
    clearTimeout(this.#timer);
  }

  #typeAfter(delayMs: number): void {
    this.#isOut = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#type(), delayMs);
  }

  #type(): void {
    const shell = this.#shell();
    if (!shell?.inFront) return;
    if (this.#typed >= attempts) return shell.kill('SIGKILL');
    this.#typed += 1;
    shell.comeBack();
    this.#typeAfter(typingTimeoutMs);
  }
}

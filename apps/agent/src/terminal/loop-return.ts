import type { ShellProcess } from './shell-process.js';

/** How long a prompt must be shown before the agent types there, because bash withdraws its own. */
const promptDelayMs = 20;
/** How long keystrokes may remain unread before they are repeated. */
const typingTimeoutMs = 3_000;
/** The number of attempts; a command that disabled what the loop needs then costs its shell. */
const attempts = 3;

/** Presses keys at a shell’s prompt so that it starts its command loop, or returns to it. */
export class LoopReturn {
  readonly #shell: () => ShellProcess | undefined;
  #isOut = false;
  #typed = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `shell` returns the terminal’s shell, unless it has ended or is ending. */
  constructor(shell: () => ShellProcess | undefined) {
    this.#shell = shell;
  }

  /** The shell shows its prompt although it was not released: it left its loop, or has not started it yet. */
  get isOut(): boolean {
    return this.#isOut;
  }

  /** Whether the line before the cursor shows the typed text. */
  get hasTyped(): boolean {
    return this.#typed > 0;
  }

  /** The typed text is no longer before the cursor. */
  forget(): void {
    this.#typed = 0;
  }

  /** A shell that shows its first prompt has started. At the process limit, that prompt cannot report itself. */
  started(): void {
    this.#typeAfter(typingTimeoutMs);
  }

  /** The prompt has reported itself. */
  prompted(): void {
    // Bash returns by itself; keystrokes, also repeated ones, would then be input of the next command.
    this.#typeAfter(this.hasTyped ? typingTimeoutMs : promptDelayMs);
  }

  /**
   * The user has handed back the prompt: a Ctrl-C discards a half-typed line, and the shell returns. A program that the
   * user started goes on, and the shell returns after it. Bash loses a Ctrl-C that comes just before it reads a line.
   */
  handedBack(tries = attempts): void {
    clearTimeout(this.#timer);
    const shell = this.#shell();
    if (!shell?.inFront || tries === 0) return;
    shell.discardLine();
    // The prompt that has just been reported is the user’s.
    this.end();
    this.#timer = setTimeout(() => this.handedBack(tries - 1), typingTimeoutMs);
  }

  /** The shell is in its loop or has ended, or its prompt is the user’s. */
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
    // One that waits for an order has returned, though its report is still unread.
    if (!shell?.inFront || shell.waits) return;
    if (this.#typed >= attempts) return shell.kill('SIGKILL');
    this.#typed += 1;
    shell.comeBack();
    this.#typeAfter(typingTimeoutMs);
  }
}

import { ignoreError } from '@belay/protocol';

type Kind = 'text' | 'reasoning';

export interface Reply {
  text: string;
  reasoning?: string | undefined;
}

/**
 * A reply of the model as it is written, for one editor. What the editor has not taken yet waits as one piece, so a slow
 * one gets fewer and longer ones; the end sends what is missing.
 */
export class StreamedReply {
  #pending: { kind: Kind; text: string }[] = [];
  #sent: Record<Kind, string> = { text: '', reasoning: '' };
  #sending: Promise<void> | undefined;

  constructor(private readonly send: (kind: Kind, text: string) => Promise<void>) {}

  add(kind: Kind, text: string): void {
    if (text === '') return;
    const last = this.#pending.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.#pending.push({ kind, text });
    this.#sending ??= this.#flush().finally(() => (this.#sending = undefined));
  }

  /** Rejects when the editor is gone. */
  async end({ text, reasoning = '' }: Reply): Promise<void> {
    this.#pending = [];
    await this.#sending;
    const sent = this.#sent;
    this.#sent = { text: '', reasoning: '' };
    await this.#rest('reasoning', reasoning, sent.reasoning);
    await this.#rest('text', text, sent.text);
  }

  async #flush(): Promise<void> {
    for (;;) {
      const next = this.#pending.shift();
      if (!next) return;
      this.#sent[next.kind] += next.text;
      await this.send(next.kind, next.text).catch(
        ignoreError('what fails here fails at the end of the reply again'),
      );
    }
  }

  /** An attempt that failed has left another text behind: then the whole reply follows it. */
  async #rest(kind: Kind, whole: string, sent: string): Promise<void> {
    const [all, begun] = [whole.trim(), sent.trimStart()];
    if (all === begun.trimEnd()) return;
    if (begun === '') return this.send(kind, whole);
    await this.send(kind, all.startsWith(begun) ? all.slice(begun.length) : `\n\n${all}`);
  }
}

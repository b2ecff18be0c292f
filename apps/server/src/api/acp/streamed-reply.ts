import { ignoreError } from '@belay/protocol';

type Kind = 'text' | 'reasoning';

export interface Reply {
  text: string;
  reasoning?: string | undefined;
}

/**
 * Streams a model’s reply to one editor. Text that the editor has not taken yet is sent as one piece, so a slow editor
 * gets fewer and longer pieces; the end sends the rest.
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

  /** After a failed attempt, the streamed text differs from the reply; then the whole reply is sent. */
  async #rest(kind: Kind, whole: string, sent: string): Promise<void> {
    const [all, begun] = [whole.trim(), sent.trimStart()];
    if (all === begun.trimEnd()) return;
    if (begun === '') return this.send(kind, whole);
    await this.send(kind, all.startsWith(begun) ? all.slice(begun.length) : `\n\n${all}`);
  }
}

import { StringDecoder } from 'node:string_decoder';

/** The limit of a call’s output; a program that prints more is ended. */
export const mostPrinted = 16 * 2 ** 20;
const mostErrors = 20_000;
/** Characters shown to a model; the full output is stored beside the log. */
const longestText = 30_000;

/** A program’s output, as far as it is kept. */
export class PrintedOutput {
  readonly #out: Buffer[] = [];
  readonly #errorDecoder = new StringDecoder('utf8');
  #errors = '';
  #bytes = 0;

  /** False once the output is too large. */
  add({ isError, data }: { isError: boolean; data: Buffer }): boolean {
    this.#bytes += data.length;
    if (this.#bytes > mostPrinted) return false;
    if (!isError) this.#out.push(data);
    else this.#errors = (this.#errors + this.#errorDecoder.write(data)).slice(-mostErrors);
    return true;
  }

  get text(): string {
    return Buffer.concat(this.#out).toString();
  }

  get errors(): string {
    return this.#errors;
  }
}

/** The beginning and the end of a long text. */
export function withoutMiddle(text: string): string {
  if (text.length <= longestText) return text;
  const half = longestText / 2;
  const left = text.length - longestText;
  const [start, end] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return `${start}\n… ${left} characters left out …\n${end}`;
}

/** The files in a text, as lines with a base64 `data:` address, and the text without them. */
export function dataLines(text: string): { text: string; files: Buffer[] } {
  if (!text.includes('data:')) return { text, files: [] };
  const files: Buffer[] = [];
  const kept = text.split('\n').filter((line) => {
    const [, data] = /^data:[\w.+-]+\/[\w.+-]+;base64,([A-Za-z0-9+/]+={0,2})\s*$/.exec(line) ?? [];
    if (data === undefined || files.length >= mostDataLines) return true;
    files.push(Buffer.from(data, 'base64'));
    return false;
  });
  return { text: kept.join('\n'), files };
}

const mostDataLines = 20;

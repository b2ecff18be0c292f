import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorFrom, type FileChange } from '@belay/protocol';
import type { FilesBench } from '../../files/testing/files-bench.js';
import { versionOf } from '../../files/version-of.js';
import { KnownFiles } from '../known-files.js';

export type NumberedEdit = {
  change: 'INSERT' | 'DELETE' | 'REPLACE';
  from: number;
  to?: number | undefined;
  content?: string[];
};

/** A model that edits by the numbers that it saw last, and a plain list of lines to compare with. */
export class Reader {
  readonly known = new KnownFiles();
  /** The text that was last shown with each number, by path. */
  readonly screens = new Map<string, Map<number, string>>();
  readonly #bench: FilesBench;
  #shown: (() => void)[] = [];
  #texts = 0;

  constructor(bench: FilesBench) {
    this.#bench = bench;
  }

  fresh = (count: number): string[] => Array.from({ length: count }, () => `text ${++this.#texts}`);
  lines = (path: string): string[] =>
    readFileSync(join(this.#bench.root, path), 'utf8').split('\n').slice(0, -1);
  write = (path: string, lines: readonly string[]): void =>
    writeFileSync(join(this.#bench.root, path), lines.map((line) => `${line}\n`).join(''));
  screen(path: string): Map<number, string> {
    const screen = this.screens.get(path) ?? new Map<number, string>();
    this.screens.set(path, screen);
    return screen;
  }

  /** The next prompt shows all results so far. */
  prompt(): void {
    for (const show of this.#shown.splice(0)) show();
    this.known.show();
  }

  async read(path: string, from = 1): Promise<void> {
    const output = await this.#call('files.read', { path, from });
    const lines = this.lines(path);
    if (!output.ok) throw new Error(output.text);
    this.#show(
      path,
      lines.slice(from - 1).map((line, index) => `${from + index}\t${line}`),
    );
  }

  async edit(path: string, edit: NumberedEdit): Promise<boolean> {
    const { ok, text } = await this.#call('files.edit', { path, ...edit });
    this.#show(path, text.split('\n'));
    return ok;
  }

  async replace(path: string, find: string, replace: string): Promise<boolean> {
    const { ok, text } = await this.#call('files.replace-text', { path, find, replace });
    this.#show(path, text.split('\n'));
    return ok;
  }

  async search(pattern: string): Promise<void> {
    await this.#call('files.search', { pattern });
  }

  /** A user’s insertion, which the next prompt tells. */
  insertByHand(path: string, at: number, content: string[]): void {
    const before = this.lines(path);
    const bytes = readFileSync(join(this.#bench.root, path));
    this.write(path, before.toSpliced(at - 1, 0, ...content));
    const change: FileChange = {
      path,
      before: versionOf(bytes),
      version: versionOf(readFileSync(join(this.#bench.root, path))),
      hunks: [{ at, removed: 0, added: content.length }],
    };
    this.known.addChanges([change]);
    this.#show(
      path,
      content.map((line, index) => `${at + index}\t${line}`),
    );
  }

  #show(path: string, lines: readonly string[]): void {
    this.#shown.push(() => {
      for (const line of lines) {
        const [, number, text] = /^(\d+)\t(.*)$/.exec(line) ?? [];
        if (number === undefined || text === undefined) continue;
        const screen = this.screen(path);
        // A line that was shown again is known by its new number.
        for (const [known, same] of screen) if (same === text) screen.delete(known);
        screen.set(Number(number), text);
      }
    });
  }

  async #call(
    name: 'files.read' | 'files.edit' | 'files.replace-text' | 'files.search',
    input: object,
  ) {
    this.#bench.known = new Map(this.known.files);
    const result = await this.#bench.call(name, input).then(
      (output) => ({ ok: true, output }),
      (error: unknown) => ({ ok: false, output: errorFrom(error).toJSON() }),
    );
    this.known.addResult({ operation: name, images: [], seconds: 0, ...result });
    const { output } = result;
    const text = 'now' in output ? output.now : 'message' in output ? output.message : '';
    return { ok: result.ok, text };
  }
}

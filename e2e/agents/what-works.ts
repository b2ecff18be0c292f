import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@belay/testkit';

const columns = {
  command: 'command',
  edit: 'edit',
  refusal: 'refused call',
  question: 'question',
  break: 'after a break it has',
  rewind: 'rewind',
  terminal: 'terminal',
};
type Column = keyof typeof columns;

/** What has worked with each agent, as a table of `docs/agents.md`. */
export class WhatWorks {
  readonly #rows = new Map<string, Partial<Record<Column, string>>>();

  note(agent: string, column: Column, text: string): void {
    this.#rows.set(agent, { ...this.#rows.get(agent), [column]: text });
  }

  markdown(): string {
    const names = Object.keys(columns) as Column[];
    return [
      `| agent | ${Object.values(columns).join(' | ')} |`,
      ...[...this.#rows].map(
        ([agent, row]) => `| \`${agent}\` | ${names.map((name) => row[name] ?? '–').join(' | ')} |`,
      ),
    ].join('\n');
  }

  /** The rows that the page does not have, however its columns are aligned. */
  unwritten(): string[] {
    const plain = (text: string) => text.replaceAll(/ +/g, ' ');
    const page = plain(readFileSync(join(repositoryRoot, 'docs/agents.md'), 'utf8'));
    return this.markdown()
      .split('\n')
      .filter((line) => !page.includes(plain(line)));
  }
}

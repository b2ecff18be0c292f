import { excerpt, visibleText } from '@belay/protocol';

/**
 * Text of an agent as Markdown that does nothing at a git host: no one is mentioned, no issue is linked or closed, no
 * quick action is run, and there is no HTML, neither shown nor hidden. Code stays as it is, where all hosts agree that it
 * is code: in fences that begin a line, and in spans on one line.
 */
export function neutralText(text: string, most: number): string {
  const lines = excerpt(visibleText(text), most).split('\n');
  const done: string[] = [];
  let fence: string | null = null;
  for (const line of lines) {
    if (fence === null) {
      fence = openedBy(line);
      done.push(fence === null ? neutralLine(line) : line);
      continue;
    }
    // GitLab looks for its actions with rules of its own about fences.
    done.push(line.startsWith('/') ? ` ${line}` : line);
    if (closes(line, fence)) fence = null;
  }
  // What follows in a comment is not part of it.
  return [...done, ...(fence === null ? [] : [fence])].join('\n').trim();
}

/** The same for a title or a commit’s message, which hosts do not read as Markdown: one line without names and numbers of others. */
export function neutralLineOfText(text: string, most: number): string {
  const line = visibleText(text)
    .replaceAll(/https?:\/\/\S+/gi, '')
    .replaceAll(/(?<![A-Za-z0-9])@+(?=\w)/g, '')
    .replaceAll(/(?:[#!]|\bGH-)+(?=\d)/gi, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}…`.toWellFormed() : line;
}

const openedBy = (line: string): string | null => /^(`{3,}|~{3,})[^`]*$/.exec(line)?.[1] ?? null;

const closes = (line: string, fence: string): boolean => {
  const [, marks] = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line) ?? [];
  return marks !== undefined && marks[0] === fence[0] && marks.length >= fence.length;
};

/** A name of a user or group, a number of an issue or pull request, or the address of one. */
const reference =
  /(?<![A-Za-z0-9])@\w[\w./-]*|[\w./-]{0,200}[#!]\d+|\bGH-\d+|https?:\/\/[^\s<>()[\]`]*\/(?:issues|pull|pulls|merge_requests|work_items)\/\d+[^\s<>()[\]`]*/giy;

function neutralLine(line: string): string {
  const out = new LineOutput();
  let at = 0;
  const indent = /^\s*/.exec(line)?.[0] ?? '';
  // Neither a fence elsewhere than at the begin of a line, nor an action, nor the hidden target of a link.
  if (/^(?:~{3}|\/[a-z]|\[[^\]]*\]:)/i.test(line.slice(indent.length))) {
    out.text(`${indent}\\`);
    at = indent.length;
  }
  while (at < line.length) {
    const rest = line.slice(at);
    const run = /^`+/.exec(rest)?.[0];
    if (run !== undefined) {
      const code = codeSpan(rest, run);
      if (code === null) out.text('\\`'.repeat(run.length));
      else out.code(code);
      at += (code ?? run).length;
      continue;
    }
    reference.lastIndex = at;
    const [found] = reference.exec(line) ?? [];
    if (found !== undefined && !(found.startsWith('@') && out.endsInWord)) {
      out.code(`\`${found}\``);
      at += found.length;
      continue;
    }
    const { text, length } = plainPart(rest);
    out.text(text);
    at += length;
  }
  return out.toString();
}

/** A span of code on one line; cells of tables end before code does, so there is none with their bounds. */
function codeSpan(rest: string, run: string): string | null {
  const end = new RegExp(`^\`{${run.length}}([^|]*?[^\`|])\`{${run.length}}(?!\`)`).exec(rest);
  return end?.[0] ?? null;
}

/** The next word or character, so that it stands for itself. */
function plainPart(rest: string): { text: string; length: number } {
  const [first = '', second = ''] = rest;
  if (first === '\\') {
    if (second === '\\') return { text: first + second, length: 2 };
    // An escaped sign that has a meaning here is read again, as it is neutral then.
    return { text: second !== '' && '@#!&<`'.includes(second) ? '' : first, length: 1 };
  }
  if (first === '<') return { text: '&lt;', length: 1 };
  if (first === '&') return { text: '&amp;', length: 1 };
  const word = /^[\p{L}\p{N}]+/u.exec(rest)?.[0] ?? String.fromCodePoint(rest.codePointAt(0) ?? 0);
  return { text: word, length: word.length };
}

/** Keeps spans of code apart, whose marks would else become one. */
class LineOutput {
  #done = '';
  #endsInCode = false;

  get endsInWord(): boolean {
    return /[A-Za-z0-9]$/.test(this.#done);
  }

  text(text: string): void {
    if (text === '') return;
    this.#done += text;
    this.#endsInCode = false;
  }

  code(span: string): void {
    const apart = this.#endsInCode || this.#done.endsWith('`') ? ' ' : '';
    this.#done += apart + span;
    this.#endsInCode = true;
  }

  toString(): string {
    return this.#done;
  }
}

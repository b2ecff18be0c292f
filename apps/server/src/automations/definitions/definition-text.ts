import {
  errorFrom,
  faultPath,
  type DefinitionFault,
  type DefinitionProblem,
} from '@belay/protocol';
import {
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type Document,
} from 'yaml';

const maxBytes = 65_536;

/** YAML or JSON text: its value, with the places of faults, or why it cannot be read. */
export class DefinitionText {
  /** Faults of the text itself; then there is no value. */
  readonly problems: readonly DefinitionProblem[];
  readonly value: unknown;
  readonly #lines = new LineCounter();
  readonly #document: Document | undefined;

  constructor(text: string) {
    try {
      if (Buffer.byteLength(text) > maxBytes) {
        this.problems = [wholeFile(`it is larger than ${maxBytes / 1024} KiB`)];
        return;
      }
      // The parser's own messages would show parts of the text.
      const options = { lineCounter: this.#lines, prettyErrors: false, logLevel: 'error' } as const;
      // A merge key is then a key like any other, which the schema refuses.
      const document = parseDocument(text, { ...options, uniqueKeys: true, merge: false });
      this.#document = document;
      this.problems = [...document.errors, ...document.warnings, ...aliasesOf(document)].map(
        ({ message, pos: [offset] }) => ({
          path: '',
          message: message.replace(/\s+/g, ' '),
          ...this.#placeOf(offset),
        }),
      );
      if (this.problems.length === 0) this.value = document.toJS({ maxAliasCount: 0 });
    } catch (error) {
      // Thousands of nested lists are deeper than the stack.
      this.problems = [
        wholeFile(
          error instanceof RangeError ? 'it is nested too deeply' : errorFrom(error).message,
        ),
      ];
    }
  }

  /** A fault with its place: that of the value, of the key, or of the deepest part that is there. */
  problemOf({ path, message, ofKey }: DefinitionFault): DefinitionProblem {
    return {
      path: faultPath(path),
      message,
      ...this.#placeOf(this.#offsetOf(path, ofKey === true)),
    };
  }

  #offsetOf(path: DefinitionFault['path'], ofKey: boolean): number | undefined {
    let offset: number | undefined;
    let node: unknown = this.#document?.contents;
    for (const [at, key] of path.entries()) {
      const isLast = at === path.length - 1;
      const found = childOf(node, key);
      if (!found) break;
      const begin = startOf(found.value);
      // A list or an object begins on the next line: its key is where people look.
      offset =
        isScalar(found.value) && !(isLast && ofKey)
          ? (begin ?? offset)
          : (startOf(found.key) ?? begin);
      node = found.value;
    }
    return offset ?? startOf(this.#document?.contents);
  }

  #placeOf(offset: number | undefined): { line: number | null; column: number | null } {
    if (offset === undefined) return { line: null, column: null };
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }
}

const wholeFile = (message: string): DefinitionProblem => ({
  path: '',
  message,
  line: null,
  column: null,
});

function aliasesOf(document: Document): { message: string; pos: [number] }[] {
  const found: { message: string; pos: [number] }[] = [];
  visit(document, {
    Alias: (_, { range }) =>
      void found.push({
        message: 'aliases are not supported: write it out',
        pos: [range?.[0] ?? 0],
      }),
  });
  return found;
}

function childOf(
  node: unknown,
  key: string | number,
): { key: unknown; value: unknown } | undefined {
  if (isMap(node)) {
    const pair = node.items.find((item) => isScalar(item.key) && item.key.value === key);
    return isPair(pair) ? { key: pair.key, value: pair.value } : undefined;
  }
  if (!isNode(node) || !('items' in node) || typeof key !== 'number') return undefined;
  const value: unknown = node.items[key];
  return value === undefined ? undefined : { key: value, value };
}

const startOf = (node: unknown): number | undefined =>
  isNode(node) ? (node.range?.[0] ?? undefined) : undefined;

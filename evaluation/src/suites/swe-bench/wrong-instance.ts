import { syntaxOf, type TestSyntax } from '../test-tokens.js';
import {
  sampledExpectations,
  withExpectations,
  wrongExpectations,
  type WrongExpectation,
} from '../wrong-expectations.js';
import { runnerNameOf } from './parsers.js';
import type { RunnableInstance } from './runnable-instance.js';

/**
 * The instance with some expectations made wrong in the lines that its test patch adds; null if
 * there are none, or if its script does not contain the patch.
 */
export function wrongInstance(instance: RunnableInstance): RunnableInstance | null {
  const { test_patch: patch, eval_script: script, log_parser: parser } = instance;
  // Of a file with one result, a single assertion decides.
  const isOneResult = parser === 'console_assert' || runnerNameOf(parser) === 'jestFiles';
  const sample = sampledExpectations(addedExpectations(patch), {
    source: patch,
    ...(isOneResult && { most: 1 }),
  });
  const [before, after] = [patch, withExpectations(patch, sample)].map((text) => text.trimEnd());
  if (sample.length === 0 || !before || !after || !script.includes(before)) return null;
  return { ...instance, test_patch: after, eval_script: script.replace(before, () => after) };
}

interface PatchLine {
  /** In the patch. */
  offset: number;
  text: string;
  isAdded: boolean;
}

/** The expectations in the added lines of a patch, by their positions in the patch. */
function addedExpectations(patch: string): WrongExpectation[] {
  const found: WrongExpectation[] = [];
  let syntax: TestSyntax | undefined;
  let hunk: PatchLine[] = [];
  let isHeader = true;
  let offset = 0;
  const endHunk = () => {
    if (syntax) found.push(...expectationsIn(hunk, syntax));
    hunk = [];
  };
  for (const line of patch.split('\n')) {
    const isFile = line.startsWith('diff --git ');
    if (isFile || line.startsWith('@@ ')) {
      endHunk();
      isHeader = isFile;
    }
    if (isHeader) syntax = syntaxOf(/^\+\+\+ b\/([^\t\r]+)/.exec(line)?.[1] ?? '') ?? syntax;
    else if (/^[+ ]/.test(line))
      hunk.push({ offset, text: line.slice(1), isAdded: line.startsWith('+') });
    if (isFile) syntax = undefined;
    offset += line.length + 1;
  }
  endHunk();
  return found;
}

function expectationsIn(hunk: PatchLine[], syntax: TestSyntax): WrongExpectation[] {
  const starts: number[] = [];
  let length = 0;
  for (const { text } of hunk) {
    starts.push(length);
    length += text.length + 1;
  }
  const source = hunk.map(({ text }) => text).join('\n');
  return wrongExpectations(source, syntax).flatMap((each) => {
    const at = starts.findLastIndex((start) => start <= each.from);
    const line = hunk[at];
    if (!line?.isAdded) return [];
    const shift = line.offset + 1 - (starts[at] ?? 0);
    return [{ ...each, from: each.from + shift, to: each.to + shift }];
  });
}

import { z } from 'zod';
import type { Verifier } from '../model.js';
import { assetTable } from '../asset-table.js';
import { assetText } from '../asset-text.js';
import { pythonVerifier } from './python-program.js';

/**
 * A line of EvalPlus's own files: inputs, for which the reference solution gives the expected
 * results.
 */
const inputs = z.object({
  task_id: z.union([z.string(), z.number()]),
  entry_point: z.string(),
  base_input: z.array(z.unknown()),
  /** Empty inputs are written as an object. */
  plus_input: z.unknown(),
});

/**
 * Rules for EvalPlus's problems that are only in its code (evalplus/data/mbpp.py and
 * evalplus/eval/_special_oracle.py, Apache-2.0), not in its files.
 */
const problems = assetTable(
  'evalplus.json',
  z.object({
    /**
     * The numbers of problems by the shapes of their arguments. JSON has no tuples: a shape is the
     * original type of each list in an argument, from outside in. `T` is a tuple, `L` a list, `S` a
     * set, `D` a dictionary. The last shape applies to all arguments that follow, and `=` changes
     * nothing.
     */
    shapes: z.record(z.string(), z.array(z.int())),
    /** Functions whose results are lists in any order. */
    sameSets: z.array(z.string()),
    /**
     * Functions that return matches of regular expressions: only whether there is a match counts.
     */
    notNone: z.array(z.string()),
  }),
);

/** The tests of a line with inputs; undefined for other lines. */
export function evalPlusTests(
  line: unknown,
  { text, reference }: Omit<EvalPlusTests, 'entry' | 'id'>,
): EvalPlusTests | undefined {
  const { data } = inputs.safeParse(line);
  return data && { entry: data.entry_point, id: String(data.task_id), text, reference };
}

export interface EvalPlusTests {
  entry: string;
  id: string;
  /** The line as written: 1.0 stays a float, and long integers keep all their digits. */
  text: string;
  /**
   * The reference solution, which has its own namespace, so that its recursive calls do not call
   * the answer.
   */
  reference: string;
}

/** Compares the answer with the reference solution on every input, as EvalPlus does. */
export function evalPlusVerifier({ entry, id, text, reference }: EvalPlusTests): Verifier {
  const number = /^(?:mbpp\/)?(\d+)$/i.exec(id)?.[1];
  const { shapes, sameSets, notNone } = problems();
  const own = Object.keys(shapes).find((key) => shapes[key]?.includes(Number(number)));
  const rules = {
    entry,
    shapes: (own ?? '=').split(' '),
    isMbpp: number !== undefined,
    sameSets,
    notNone,
  };
  return pythonVerifier({
    reference: '',
    tests: [
      `LINE = ${JSON.stringify(text)}`,
      `REFERENCE = ${JSON.stringify(reference)}`,
      `RULES = ${JSON.stringify(JSON.stringify(rules))}`,
      `candidate = ${entry}`,
      assetText('evalplus.py'),
    ].join('\n'),
    names: [entry],
  });
}

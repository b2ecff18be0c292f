import { z } from 'zod';
import type { Verifier } from '../model.js';
import { assetTable } from '../asset-table.js';
import { assetText } from '../asset-text.js';
import { pythonVerifier } from './python-program.js';

/** A line of EvalPlus's own files: inputs, for which the reference solution says what is expected. */
const inputs = z.object({
  task_id: z.union([z.string(), z.number()]),
  entry_point: z.string(),
  base_input: z.array(z.unknown()),
  /** Empty ones are written as an object. */
  plus_input: z.unknown(),
});

/**
 * What EvalPlus knows of its problems (evalplus/data/mbpp.py and evalplus/eval/_special_oracle.py, Apache-2.0) and its
 * files do not say.
 */
const problems = assetTable(
  'evalplus.json',
  z.object({
    /**
     * JSON has no tuples: a shape says what each list of an argument was, from outside in. `T` is a tuple, `L` a list,
     * `S` a set, `D` a dictionary; the last shape holds for all arguments that follow, `=` changes nothing.
     */
    shapes: z.record(z.string(), z.array(z.int())),
    /** Lists whose order is free. */
    sameSets: z.array(z.string()),
    /** Matches of regular expressions: only whether there is one counts. */
    notNone: z.array(z.string()),
  }),
);

/** The tests of a line with inputs; undefined when it has none. */
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
  /** The line as it was written: 1.0 stays a float, and no digit of a long integer is lost. */
  text: string;
  /** The reference solution. It has a namespace of its own, so that its calls of itself are not the answer's. */
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

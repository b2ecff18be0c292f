import { z } from 'zod';
import type { TaskEnvironment, Step, Verifier } from '../model.js';
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

export const hasInputs = (line: unknown): boolean => inputs.safeParse(line).success;

/** Thousands of inputs, of which each is a question to the process of the answer. */
export const evalPlusLimits: Step['limits'] = { build: 600, agent: 600, verify: 60 };

/** Tests in which EvalPlus’s data sets on the hub compare numbers. */
export const usesNumpy = (tests: string): boolean => /^\s*(import|from) numpy\b/m.test(tests);

export const numpyImage: Pick<TaskEnvironment, 'image'> = {
  image: { kind: 'toolchain', name: 'numpy' },
};

/** EvalPlus's own limit: a few right answers are lists of millions. */
export const evalPlusMemory = { memoryMb: 4096 };

/**
 * Compares the answer with the reference solution on every input, as EvalPlus does. `text` is the line as it was
 * written: 1.0 stays a float, and no digit of a long integer is lost. The reference has a namespace of its own, so that
 * its calls of itself are not the answer's.
 */
export function evalPlusVerifier({
  text,
  line,
  reference,
}: {
  text: string;
  line: unknown;
  reference: string;
}): Verifier {
  const { entry_point: entry, task_id: id } = inputs.parse(line);
  const number = /^(?:mbpp\/)?(\d+)$/i.exec(String(id))?.[1];
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

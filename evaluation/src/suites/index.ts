import { AppError } from '@belay/protocol';
import { harbor } from './harbor.js';
import { humanEval } from './human-eval.js';
import { mbpp } from './mbpp.js';
import { polyglot } from './polyglot.js';
import { sweBench } from './swe-bench.js';
import { withCheckedNames } from './checked-names.js';
import { terminalBench } from './terminal-bench.js';
import type { Suite } from './suite.js';

export const suites: readonly Suite[] = [
  humanEval,
  mbpp,
  polyglot,
  terminalBench,
  harbor,
  sweBench,
];

export function suiteNamed(name: string): Suite {
  const found = suites.find((suite) => suite.name === name);
  if (found) return { ...found, read: (path, note) => withCheckedNames(found.read(path, note)) };
  const names = suites.map((suite) => suite.name).join(', ');
  throw new AppError('invalid_input', `There is no suite ${name}. Choose one of: ${names}.`);
}

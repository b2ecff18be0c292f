import { aiderFiles } from './aider-files.js';
import { harborFiles } from './harbor-files.js';
import { humanEvalFiles } from './human-eval-files.js';
import { sweBenchFiles } from './swe-bench-files.js';
import { terminalBenchFiles } from './terminal-bench-files.js';
import type { NativeInput, Writer } from './writer.js';

/** Writes a suite's own result files below `native/`, for other tools of the format. */
export function writeNative(out: string, input: NativeInput): void {
  writers[input.run.suite]?.(out, input);
}

const writers: Record<string, Writer> = {
  'human-eval': humanEvalFiles,
  mbpp: humanEvalFiles,
  'swe-bench': sweBenchFiles,
  'terminal-bench': terminalBenchFiles,
  harbor: harborFiles,
  polyglot: aiderFiles,
};

import { aider } from './aider.js';
import { harbor } from './harbor.js';
import { samples } from './samples.js';
import { sweBench } from './swe-bench.js';
import { terminalBench } from './terminal-bench.js';
import type { NativeInput, Writer } from './record.js';

/** Writes a suite's own result files below `native/`; other tools of the format read them. */
export function writeNative(out: string, input: NativeInput): void {
  writers[input.run.suite]?.(out, input);
}

const writers: Record<string, Writer> = {
  'human-eval': samples,
  mbpp: samples,
  'swe-bench': sweBench,
  'terminal-bench': terminalBench,
  harbor,
  polyglot: aider,
};

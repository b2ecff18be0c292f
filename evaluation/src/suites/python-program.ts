import { fileEntry, type Entry } from '../entries.js';
import {
  fail,
  pass,
  proofFile,
  type VerifierOutput,
  type Verdict,
  type Verifier,
} from '../model.js';
import { assetText } from '../asset-text.js';

/** Linux limits one environment variable to 128 KiB. */
const mostInline = 100_000;

/** The parts of a problem, as Python code. */
export interface PythonProgram {
  /** Runs before the candidate, and before the tests. */
  before?: string;
  /** The reference solution, which provides the names that the tests use. */
  reference: string;
  tests: string;
  /** The tested names; by default those that the tests use and the reference solution defines. */
  names?: string[];
}

/**
 * Runs the tests in a separate process, which asks another one for the results of the candidate.
 */
export function pythonVerifier({
  before = '',
  reference,
  tests,
  names = [],
}: PythonProgram): Verifier {
  const parts = { before, reference, tests };
  return {
    files: Object.entries(parts).map(([name, text]) =>
      fileEntry(`/verify/${name}.py`, text, 0o400),
    ),
    folders: [],
    command: ['python3', '-I', '-c', judgeProgram()],
    env: {
      BELAY_PROOF: '{proof}',
      BELAY_NAMES: JSON.stringify(names),
      PYTHONDONTWRITEBYTECODE: '1',
    },
    user: 'root',
    collect: [],
    inline: (carried) => inline(carried, parts),
    judge,
  };
}

/** The judge's program, which contains the worker's; both begin with the codec. */
function judgeProgram(): string {
  if (program === undefined) {
    const codec = assetText('python-codec.py');
    const worker = encoded(codec + assetText('python-worker.py'));
    program = codec + assetText('python-judge.py').replace('{worker}', worker);
  }
  return program;
}
let program: string | undefined;

function inline(carried: Entry[], parts: Record<string, string>) {
  const solution = carried.find(({ path }) => path === '/app/solution.py');
  const texts = {
    ...Object.fromEntries(
      Object.entries(parts).map(([name, text]) => [`BELAY_${name.toUpperCase()}`, encoded(text)]),
    ),
    ...(solution && { BELAY_SOLUTION: solution.bytes.toString('base64') }),
  };
  return Object.values(texts).every((text) => text.length < mostInline) ? texts : null;
}

const encoded = (text: string) => Buffer.from(text).toString('base64');

function judge({ exitCode, output, files }: VerifierOutput): Verdict {
  const proof = files.get(proofFile)?.toString() ?? '';
  if (exitCode === 0 && proof && output.includes(`\n${proof}\n`)) return pass();
  if (exitCode === 0) return fail('The program ended before its tests did.', 'no_result');
  return fail(lastLine(output) || `The program exited with code ${exitCode}.`);
}

const lastLine = (output: string): string =>
  output.trim().split('\n').at(-1)?.trim().slice(0, 400) ?? '';

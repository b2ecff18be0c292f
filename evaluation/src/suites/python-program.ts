import { file } from '../entries.js';
import { failed, passed, proofFile, type Outcome, type Verdict, type Verifier } from '../model.js';

/**
 * Runs candidate and test as one program, as an unprivileged user, and writes a proof that only this file knows
 * once the last assertion has passed: leaving early with exit code 0 is no success.
 */
const driver = `import os, sys, types
def read(name):
    with open(name, encoding='utf-8') as source:
        return source.read()
def main(proof):
    try:
        candidate = read('/app/solution.py')
    except FileNotFoundError:
        sys.exit('there is no solution.py')
    program = read('/verify/before.py') + candidate + read('/verify/after.py')
    done = os.open('/verify/done', os.O_WRONLY | os.O_CREAT, 0o600)
    os.setgid(65534)
    os.setuid(65534)
    os.chdir('/tmp')
    sys.argv = ['program.py']
    module = types.ModuleType('__main__')
    sys.modules['__main__'] = module
    exec(compile(program, 'program.py', 'exec'), module.__dict__)
    os.write(done, proof.encode())
proof = os.environ.pop('BELAY_PROOF')
main(proof)
`;

/** `before` and `after` surround the candidate's text in the program. */
export function pythonVerifier({
  before = '',
  after,
}: {
  before?: string;
  after: string;
}): Verifier {
  return {
    files: [
      file('/verify/driver.py', driver, 0o400),
      file('/verify/before.py', before, 0o400),
      file('/verify/after.py', after, 0o400),
    ],
    folders: [],
    command: ['python3', '-I', '/verify/driver.py'],
    env: { BELAY_PROOF: '{proof}', PYTHONDONTWRITEBYTECODE: '1' },
    user: 'root',
    collect: ['/verify/done'],
    judge,
  };
}

function judge({ exitCode, output, files }: Outcome): Verdict {
  const done = files.get('/verify/done')?.toString();
  if (exitCode === 0 && done && done === files.get(proofFile)?.toString()) return passed();
  if (exitCode === 0) return failed('The program ended before its tests did.', 'no_result');
  return failed(lastLine(output) || `The program ended with code ${exitCode}.`);
}

export const lastLine = (output: string): string =>
  output.trim().split('\n').at(-1)?.trim().slice(0, 400) ?? '';

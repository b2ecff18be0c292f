import { file, type Entry } from '../entries.js';
import { failed, passed, proofFile, type Outcome, type Verdict, type Verifier } from '../model.js';

/**
 * Runs candidate and test as one program, as an unprivileged user, and writes a proof once the last assertion
 * has passed: leaving early with exit code 0 is no success. After setuid the kernel shows /proc/self/environ
 * to root alone.
 */
const driver = `import base64, os, sys, types
def part(name, path):
    text = os.environ.pop('BELAY_' + name, None)
    if text is not None:
        return base64.b64decode(text).decode()
    try:
        with open(path, encoding='utf-8') as source:
            return source.read()
    except FileNotFoundError:
        sys.exit('There is no ' + os.path.basename(path) + '.')
def main(proof, write):
    candidate = part('SOLUTION', '/app/solution.py')
    program = part('BEFORE', '/verify/before.py') + candidate + part('AFTER', '/verify/after.py')
    os.setgid(65534)
    os.setuid(65534)
    os.chdir('/tmp')
    sys.argv = ['program.py']
    module = types.ModuleType('__main__')
    sys.modules['__main__'] = module
    exec(compile(program, 'program.py', 'exec'), module.__dict__)
    sys.stdout.flush()
    write(1, ('\\n' + proof + '\\n').encode())
main(os.environ.pop('BELAY_PROOF'), os.write)
`;

/** Linux takes 128 KiB for one variable. */
const mostInline = 100_000;

/** `before` and `after` surround the candidate's text in the program. */
export function pythonVerifier({
  before = '',
  after,
}: {
  before?: string;
  after: string;
}): Verifier {
  return {
    files: [file('/verify/before.py', before, 0o400), file('/verify/after.py', after, 0o400)],
    folders: [],
    command: ['python3', '-I', '-c', driver],
    env: { BELAY_PROOF: '{proof}', PYTHONDONTWRITEBYTECODE: '1' },
    user: 'root',
    collect: [],
    inline: (carried) => inline(carried, { before, after }),
    judge,
  };
}

function inline(carried: Entry[], { before, after }: { before: string; after: string }) {
  const solution = carried.find(({ path }) => path === '/app/solution.py');
  const texts = {
    BELAY_BEFORE: encoded(before),
    BELAY_AFTER: encoded(after),
    ...(solution && { BELAY_SOLUTION: solution.bytes.toString('base64') }),
  };
  return Object.values(texts).every((text) => text.length < mostInline) ? texts : null;
}

const encoded = (text: string) => Buffer.from(text).toString('base64');

function judge({ exitCode, output, files }: Outcome): Verdict {
  const proof = files.get(proofFile)?.toString() ?? '';
  if (exitCode === 0 && proof && output.includes(`\n${proof}\n`)) return passed();
  if (exitCode === 0) return failed('The program ended before its tests did.', 'no_result');
  return failed(lastLine(output) || `The program ended with code ${exitCode}.`);
}

const lastLine = (output: string): string =>
  output.trim().split('\n').at(-1)?.trim().slice(0, 400) ?? '';

import { type BelayServer, run, script, start } from '@belay/testkit';

const commit =
  'git init -q r; cd r; git commit -q --allow-empty -m x; git log -1 --format=%ae; cd ..';
/** A local package that pip can install without a network. */
const wheel = `python3 -c "
import zipfile
with zipfile.ZipFile('answer-1.0-py3-none-any.whl', 'w') as z:
  about = 'answer-1.0.dist-info/'
  z.writestr('answer.py', 'print(\\'the answer is\\', 6 * 7)')
  z.writestr(about + 'METADATA', 'Metadata-Version: 2.1\\nName: answer\\nVersion: 1.0\\n')
  z.writestr(about + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
  z.writestr(about + 'RECORD', '')
"`;
/** An agent makes a commit and installs a package with pip, without further set-up. */
export async function commitAndInstall(
  server: BelayServer,
  sandbox: 'hardened' | 'root',
): Promise<void> {
  const install = `${wheel}; pip install -q --no-index ./*.whl && python3 -c 'import answer'`;
  const model = script(server.data, [
    { calls: [run(`${commit}; git init -q . && git status --short | wc -l`)] },
    { expect: 'agent@belay.invalid', calls: [run(install, { wait: 110 })] },
    { expect: 'the answer is 42', finish: 'It works.' },
  ]);
  const session = await start(server, { task: 'Try the tools', model, sandbox });
  await session.finished();
  expect(JSON.stringify(session.events)).not.toMatch(/externally-managed|dubious ownership/);
  session.close();
}

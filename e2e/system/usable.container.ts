import { isEvent, type Event } from '@belay/protocol';
import { describeSystem, run, script, start } from '@belay/testkit';

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
const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5SAAAAABJRU5ErkJggg==';

describeSystem('a sandbox out of the box', (server) => {
  it.each(['hardened', 'root'] as const)(
    'commits, and installs with pip, as %s',
    async (sandbox) => {
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
    },
  );

  it('shows its model a picture of the workspace', async () => {
    const input = { path: 'a.png', content: picture, encoding: 'base64' };
    const model = script(server.data, [
      { calls: [{ operation: 'files.write', input }] },
      { calls: [{ operation: 'files.read', input: { path: 'a.png' } }] },
      { expect: '3 × 2 pixels', finish: 'Seen.' },
    ]);
    const session = await start(server, { task: 'Look', model });
    await session.finished();
    const read = (event: Event) => isEvent(event, 'result') && event.args.images.length > 0;
    const result = await session.event(read);
    const [image = ''] = isEvent(result, 'result') ? result.args.images : [];
    const bytes = await server.client.sessions.blob(session.id, image);
    expect(Buffer.from(bytes).toString('base64')).toBe(picture);
    session.close();
  });
});

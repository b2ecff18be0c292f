import { isEvent, type Event } from '@belay/protocol';
import { describeSystem, script, start } from '@belay/testkit';
import { commitAndInstall } from './commit-and-install.js';

const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5SAAAAABJRU5ErkJggg==';

describeSystem('a sandbox out of the box', (server) => {
  it('commits, and installs with pip, as hardened', () => commitAndInstall(server, 'hardened'));

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

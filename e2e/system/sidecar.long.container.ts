import { type OperationName, type OperationRequest } from '@belay/protocol';
import { describeSystem, idle, prepared } from '@belay/testkit';
import { serveInside } from './serve-inside.js';

describeSystem('the browser of an image without Chromium', (server) => {
  it.each(['hardened', 'root'] as const)('saves downloads of a %s sandbox', async (sandbox) => {
    const session = await idle(server, { image: prepared('BELAY_TEST_DEBIAN'), sandbox });
    const call = <N extends OperationName>(operation: N, input: OperationRequest<N>) =>
      server.client.sessions.call(session.id, operation, input);
    await call('files.write', { path: 'page.html', content: 'kept' });
    const command = serveInside.replace('text/html', 'application/octet-stream');
    await call('terminal.run', { command, background: true });
    await session.until(() => session.terminal().includes('serving\r\n'), 'the page’s server');
    const { notes } = await call('browser.open', { url: 'http://localhost:8081/kept.bin' });
    expect(notes).toContain('Downloaded downloads/kept.bin (4 bytes).');
    expect(await call('files.read', { path: 'downloads/kept.bin' })).toMatchObject({
      content: 'kept',
    });
    await call('files.remove', { path: 'downloads', recursive: true });
    await server.client.sessions.remove(session.id);
    session.close();
  });
});

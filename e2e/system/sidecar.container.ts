import { isEvent, type OperationName, type OperationRequest } from '@belay/protocol';
import { eventually } from '@belay/testing';
import { describeSystem, docker, idle, prepared } from '@belay/testkit';
import { serveInside } from './serve-inside.js';

const page = `<title>Inside</title><h1>Served in the sandbox</h1>
<button onclick="document.body.append(' pressed')">Press</button>`;

describeSystem('the browser of an image without Chromium', (server) => {
  it('runs beside it, and its localhost is the sandbox', async () => {
    const session = await idle(server, { image: prepared('BELAY_TEST_DEBIAN') });
    const call = <N extends OperationName>(operation: N, input: OperationRequest<N>) =>
      server.client.sessions.call(session.id, operation, input);
    const found = await call('terminal.run', {
      command: 'command -v chromium chrome google-chrome; :',
    });
    expect(found.text).toBe('');
    await call('files.write', { path: 'page.html', content: page });
    await call('terminal.run', { command: serveInside, background: true });
    await session.until(() => session.terminal().includes('serving\r\n'), 'the page’s server');

    const opened = await call('browser.open', { url: 'http://localhost:8081/' });
    expect(opened).toMatchObject({ title: 'Inside' });
    expect(opened.text).toContain('Served in the sandbox');
    const button = /\[(e\d+)\]/.exec(opened.text)?.[1];
    const clicked = await call('browser.click', { element: button });
    expect(clicked.text).toContain('pressed');
    const browser = docker.getContainer(`belay-${session.id}-browser`);
    expect((await browser.inspect()).State.Running).toBe(true);
    const shot = await call('browser.screenshot', {});
    const picture = await server.client.sessions.blob(session.id, shot.image);
    expect(Buffer.from(picture.subarray(0, 2)).toString('hex')).toBe('ffd8');
    // It shares the network of the sandbox, so it has no network card either.
    await expect(call('browser.open', { url: `${server.url}/health` })).rejects.toThrow();
    await session.event((event) => isEvent(event, 'result') && !event.args.ok);

    await server.client.sessions.remove(session.id);
    const filters = { label: [`belay.data=${server.data}`] };
    await eventually(async () =>
      expect(await docker.listContainers({ all: true, filters })).toEqual([]),
    );
    session.close();
  });
});

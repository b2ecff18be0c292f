import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OperationName, OperationRequest } from '@belay/protocol';
import { eventually, until } from '@belay/testing';
import {
  describeSystem,
  docker,
  idle,
  prepared,
  removeSandboxes,
  run,
  script,
  start,
} from '@belay/testkit';
import { joinedFolderIn, invite, leftOf } from './joined-machine.js';
import { JoinProcess } from './join-process.js';

describeSystem('a machine with containers', (server) => {
  const home = mkdtempSync(join(tmpdir(), 'belay-box-'));
  const box = new JoinProcess(home);
  const image = prepared('BELAY_TEST_DEBIAN');
  beforeAll(async () => {
    const { token } = await invite(server, 'box');
    const images = ['--image', prepared('BELAY_TEST_IMAGE'), '--allow-image', `${image}*`];
    box.start(server.url, '--token', token, '--container', ...images);
    await box.says('Connected as box');
  });
  afterAll(async () => {
    await box.end('SIGTERM');
    await removeSandboxes(joinedFolderIn(home));
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });

  it('has a browser beside an image without one, and removes all of the session', async () => {
    const [{ capacity } = {}] = await server.client.machines.list();
    expect(capacity?.images).toEqual([prepared('BELAY_TEST_IMAGE'), `${image}*`]);
    const session = await idle(server, { image, labels: { place: 'machine' } });
    const call = <N extends OperationName>(operation: N, input: OperationRequest<N>) =>
      server.client.sessions.call(session.id, operation, input);
    const opened = await call('browser.open', { url: 'data:text/html,<title>There</title>' });
    expect(opened).toMatchObject({ title: 'There' });
    const browser = await docker.getContainer(`belay-${session.id}-browser`).inspect();
    expect(browser.Config.Labels['belay.data']).toBe(joinedFolderIn(home));
    await box.says(`Session ${session.id} is running here now.`);
    await server.client.sessions.remove(session.id);
    await eventually(async () => expect(await leftOf(home)).toEqual({ containers: 0, volumes: 0 }));
    session.close();
  });

  it('runs the check of a session, and no image that its user has not allowed', async () => {
    const model = script(server.data, [{ calls: [run('echo made > made.txt')] }, { finish: 'x' }]);
    const checked = await start(server, {
      task: 'Make it',
      model,
      machine: 'box',
      check: 'cat made.txt',
    });
    const check = await until('the check has ended', async () => {
      const { check: found } = await server.client.sessions.get(checked.id);
      return found?.state === 'ended' && found;
    });
    expect(check).toMatchObject({ exitCode: 0 });
    const other = await start(server, {
      task: 'Look',
      model,
      machine: 'box',
      image: prepared('BELAY_TEST_BUSYBOX'),
    });
    const { reason } = (await other.state('failed')).args;
    expect(reason).toContain('The machine does not allow the image');
    for (const session of [checked, other]) {
      session.close();
      await server.client.sessions.remove(session.id);
    }
  });
});
